import IndoorVocabulary

/// Several sources as one, in order of instants: a radio with inertial sensors and a satellite receiver.
///
///     let source = CombinedSource(radio, with: [IIOSource(), GNSSReadings(GPSDSource())])
///     let localizer = Localizer(source: source, venues: packets)
///
/// The first source leads: the stream ends when it ends, and throws its error. The others are companions. When a companion
/// ends, the rest goes on. When one fails, the stream reports the error (``ReportingScanSource``), and starts the companion
/// again after a pause that doubles from a second to a minute.
///
/// A radio that is to rest is made to before it is combined. Live sources must count their instants on one clock; on Linux,
/// those of this package count from boot. A reading waits for those of the other sources for as long as `window`, then it is
/// handed on. One that comes later still gets the instant of the one before it, and ``lateReadings`` counts it: none is lost.
/// Recordings are merged exactly, and play to the end of the longest; a companion that fails there is not begun anew.
public struct CombinedSource: Sendable {
    private typealias Continuation = AsyncThrowingStream<SensorReading, any Error>.Continuation

    /// What the sources do, in order of arrival.
    private enum Input: Sendable {
        case reading(SensorReading, Int)
        case failed(any Error, Int)
        case ended(Int)
        /// A reading has waited long enough.
        case due
    }

    /// Counts for all streams of a source and its copies.
    private final class Count: Sendable {
        private let value = Guarded(0)
        var total: Int { value.withLock { $0 } }
        func add(_ number: Int) { value.withLock { $0 += number } }
    }

    private let sources: [any ScanSource]
    private let window: Duration
    private let makeClock: @Sendable () -> SessionClock
    private let late = Count()

    /// The first pause before a companion that has failed is begun anew.
    private static let firstPause = Duration.seconds(1)

    /// Combines sources; nothing is scanned yet.
    ///
    /// - Parameters:
    ///   - leading: without which there is nothing to combine.
    ///   - companions: those that come and go; of the same pace as the first.
    ///   - window: how long a live reading waits for older ones of the other sources, from 0 s on.
    ///   - clock: measures the window, and the pauses.
    public init(
        _ leading: some ScanSource, with companions: [any ScanSource], window: Duration = .milliseconds(100),
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        sources = [leading] + companions
        self.window = window
        makeClock = { SessionClock(clock) }
    }

    /// Readings so far, in all streams, that came too late for their place and got a later instant.
    public var lateReadings: Int { late.total }
}

extension CombinedSource: WrappingScanSource, SteerableScanSource {
    /// That of the source that leads.
    public var pace: ScanPace { sources[0].pace }

    /// That of the first source that has one: all count their instants on one clock.
    public var wallClock: WallClock? { sources.lazy.compactMap(\.wallClock).first }

    /// That of the source that leads: it is the radio that is to rest.
    public var steering: ScanSteering? { (sources[0] as? any SteerableScanSource)?.steering }

    /// Begins all sources.
    ///
    /// The stream throws what the leading one throws, and a critical `LocalizationError` if a recording is combined with a
    /// live source.
    package func readings(
        timing: ScanTiming?, reporting report: @escaping @Sendable (LocalizationError) -> Void
    ) -> AsyncThrowingStream<SensorReading, any Error> {
        AsyncThrowingStream { continuation in
            guard sources.allSatisfy({ $0.pace == pace }) else {
                let message = "a recording cannot be combined with a live source; combine sources of one pace"
                return continuation.finish(throwing: LocalizationError(code: .critical, message: message))
            }
            let task = Task {
                switch pace {
                case .live: await follow(timing, report, into: continuation)
                case .recorded: await merge(report, into: continuation)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func failure(_ error: any Error, of number: Int) -> LocalizationError {
        let message =
            "a companion of the leading source failed, \(type(of: sources[number])); the rest goes on without it"
        var told = LocalizationError(reporting: error, code: .generic, message)
        if told.endsSession { told.code = .generic }
        return told
    }
}

// Live sources.
extension CombinedSource {
    private func follow(
        _ timing: ScanTiming?, _ report: @escaping @Sendable (LocalizationError) -> Void,
        into continuation: Continuation
    ) async {
        let clock = makeClock()
        let (inputs, feed) = AsyncStream.makeStream(of: Input.self)
        var merger = ReadingMerger(sources: sources.count, window: window)
        let tasks = sources.indices.map { begin($0, timing, on: clock, report, into: feed) }
        var alarm: Task<Void, Never>?
        defer {
            for task in tasks { task.cancel() }
            alarm?.cancel()
        }
        for await input in inputs {
            let lateBefore = merger.lateCount
            var readings: [SensorReading] = []
            switch input {
            case .reading(let reading, let number):
                readings = merger.add(reading, from: number, at: clock.elapsed())
            case .failed(let error, 0):
                for reading in merger.takeAll() { continuation.yield(reading) }
                return continuation.finish(throwing: error)
            case .ended(0):
                for reading in merger.takeAll() { continuation.yield(reading) }
                return continuation.finish()
            case .failed(let error, let number):
                report(failure(error, of: number))
                merger.leave(number)
                readings = merger.take(at: clock.elapsed())
            case .ended(let number):
                merger.leave(number)
                readings = merger.take(at: clock.elapsed())
            case .due:
                alarm = nil
                readings = merger.take(at: clock.elapsed())
            }
            late.add(merger.lateCount - lateBefore)
            for reading in readings { continuation.yield(reading) }
            guard alarm == nil, let due = merger.nextDue else { continue }
            alarm = Task {
                guard (try? await clock.sleep(until: due)) != nil else { return }
                feed.yield(.due)
            }
        }
    }

    /// Hands on what one source delivers; a companion is begun anew when it has failed.
    private func begin(
        _ number: Int, _ timing: ScanTiming?, on clock: SessionClock,
        _ report: @escaping @Sendable (LocalizationError) -> Void, into feed: AsyncStream<Input>.Continuation
    ) -> Task<Void, Never> {
        let source = sources[number]
        return Task {
            var backoff = Backoff(first: Self.firstPause, seed: UInt64(number))
            while !Task.isCancelled {
                do {
                    let radioTiming = number == 0 ? timing : nil
                    for try await reading in source.beginReadings(timing: radioTiming, reporting: report) {
                        backoff.reset()
                        feed.yield(.reading(reading, number))
                    }
                    if !Task.isCancelled { feed.yield(.ended(number)) }
                    return
                } catch {
                    guard !Task.isCancelled else { return }
                    feed.yield(.failed(error, number))
                    guard number > 0 else { return }
                    try? await clock.sleep(until: clock.elapsed() + backoff.next())
                }
            }
        }
    }
}

// Recordings.
extension CombinedSource {
    /// Merges sources that are each in order; of readings of the same instant, that of the earlier source comes first.
    private func merge(
        _ report: @escaping @Sendable (LocalizationError) -> Void, into continuation: Continuation
    ) async {
        var iterators = sources.map { $0.beginReadings(reporting: report).makeAsyncIterator() }
        var heads = [SensorReading?](repeating: nil, count: sources.count)
        var next = Array(sources.indices)
        while !Task.isCancelled {
            for number in next {
                do {
                    heads[number] = try await iterators[number].next()
                } catch {
                    heads[number] = nil
                    guard number > 0 else { return continuation.finish(throwing: error) }
                    report(failure(error, of: number))
                }
            }
            var first: Int?
            for (number, head) in heads.enumerated() {
                guard let head else { continue }
                if let reading = first.flatMap({ heads[$0] }), reading.instant <= head.instant { continue }
                first = number
            }
            guard let first, let reading = heads[first] else { return continuation.finish() }
            continuation.yield(reading)
            next = [first]
        }
    }
}
