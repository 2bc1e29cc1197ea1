import IndoorVocabulary

/// A combination of sources in order of instants: a radio with inertial sensors and a satellite receiver.
///
///     let source = CombinedSource(radio, with: [IIOSource(), GNSSReadings(GPSDSource())])
///     let localizer = Localizer(source: source, venues: packets)
///
/// The first source is the leading source: the stream ends when it ends, and throws its error. The others are
/// companions. When a companion ends, the others continue. When one fails, the stream reports the error
/// (``ReportingScanSource``), and starts the companion again after a pause that doubles from a second to a minute.
///
/// Give the radio its duty cycle before you combine it. Live sources must share one clock for their instants; on Linux,
/// the clocks of this package's sources count from boot. A reading waits for the other sources for at most `window`. A
/// reading that arrives later gets the instant of the previous reading, and ``lateReadings`` counts it. If the reader
/// is slow, the stream keeps the newest 65,536 readings and reports the number of lost readings with a ``RadioEvent``.
/// Recordings are merged exactly and play to the end of the longest one; a recorded companion that fails is not started
/// again.
public struct CombinedSource: Sendable {
    /// A counter that all streams of a source and its copies share.
    fileprivate final class Count: Sendable {
        private let value = Guarded(0)
        var total: Int { value.withLock { $0 } }
        func add(_ number: Int) { value.withLock { $0 += number } }
    }

    private var sources: [any ScanSource]
    private let window: Duration
    private let makeClock: @Sendable () -> SessionClock
    private let late = Count()

    /// The first pause before a failed companion is started again.
    private static let firstPause = Duration.seconds(1)

    /// Combines sources, without starting them.
    ///
    /// - Parameters:
    ///   - leading: the source that ends the stream when it ends.
    ///   - companions: the other sources, which may end and fail; their pace must be that of the leading source.
    ///   - window: the maximum time for which a live reading waits for older readings of the other sources, at least 0
    ///     s.
    ///   - clock: the clock of the window and of the pauses.
    public init(
        _ leading: some ScanSource, with companions: [any ScanSource], window: Duration = .milliseconds(100),
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        sources = [leading] + companions
        self.window = window
        makeClock = { SessionClock(clock) }
    }

    /// The number of readings in all streams so far that arrived too late and got a later instant.
    public var lateReadings: Int { late.total }
}

extension CombinedSource: WrappingScanSource, SteerableScanSource, RadioHoldingSource {
    /// The pace of the leading source.
    public var pace: ScanPace { sources[0].pace }

    /// The wall clock of the first source that has one, because all share one clock for their instants.
    public var wallClock: WallClock? { sources.lazy.compactMap(\.wallClock).first }

    /// The steering of the leading source, which is the radio.
    package var steering: ScanSteering? { (sources[0] as? any SteerableScanSource)?.steering }

    /// Starts all sources.
    ///
    /// The stream throws the error of the leading source, and a critical `LocalizationError` if a recording is combined with a
    /// live source.
    package func readings(
        timing: ScanTiming?, reporting report: @escaping @Sendable (LocalizationError) -> Void
    ) -> AsyncThrowingStream<SensorReading, any Error> {
        guard sources.allSatisfy({ $0.pace == pace }) else {
            let message = "a recording cannot be combined with a live source; combine sources of one pace"
            return AsyncThrowingStream { $0.finish(throwing: LocalizationError(code: .critical, message: message)) }
        }
        switch pace {
        case .live: return ReadingFeed.readings { try await follow(timing, report, into: $0) }
        case .recorded:
            let merge = RecordedMerge(sources.map { $0.beginReadings(reporting: report) }) { error, number in
                report(failure(error, of: number))
            }
            return AsyncThrowingStream { try await merge.next() }
        }
    }

    /// Returns a copy in which only the radio, the leading source, follows the control. The companions continue while
    /// the radio rests.
    package func following(
        _ steering: ScanSteering, clock: some Clock<Duration>
    ) throws(LocalizationError) -> (any ScanSource)? {
        guard let radio = try sources[0].withControl(steering, clock: clock) else { return nil }
        var copy = self
        copy.sources[0] = radio
        return copy
    }

    private func failure(_ error: any Error, of number: Int) -> LocalizationError {
        let message =
            "a companion of the leading source failed, \(type(of: sources[number])); the rest goes on without it"
        var reported = LocalizationError(reporting: error, code: .generic, message)
        if reported.endsSession { reported.code = .generic }
        return reported
    }
}

// Live sources.
extension CombinedSource {
    private func follow(
        _ timing: ScanTiming?, _ report: @escaping @Sendable (LocalizationError) -> Void, into feed: ReadingFeed
    ) async throws {
        let clock = makeClock()
        let merge = LiveMerge(of: sources.count, window: window, late: late, on: clock, into: feed)
        let companions = Task {
            await withDiscardingTaskGroup { group in
                for number in sources.indices.dropFirst() {
                    group.addTask { await follow(number, report, on: clock, into: merge) }
                }
            }
        }
        defer { companions.cancel() }
        do {
            for try await reading in sources[0].beginReadings(timing: timing, reporting: report) {
                await merge.add(reading, from: 0)
            }
            await merge.end()
        } catch {
            await merge.end()
            throw error
        }
    }

    /// Merges the readings of a companion, and starts it again when it has failed.
    private func follow(
        _ number: Int, _ report: @escaping @Sendable (LocalizationError) -> Void, on clock: SessionClock,
        into merge: LiveMerge
    ) async {
        var backoff = Backoff(first: Self.firstPause, seed: UInt64(number))
        while !Task.isCancelled {
            do {
                for try await reading in sources[number].beginReadings(reporting: report) {
                    backoff.reset()
                    await merge.add(reading, from: number)
                }
                return await merge.leave(number)
            } catch {
                guard !Task.isCancelled else { return }
                report(failure(error, of: number))
                await merge.leave(number)
                try? await clock.sleep(until: clock.elapsed() + backoff.next())
            }
        }
    }
}

/// The merger of live sources. Each source waits until its reading is merged, so no buffer is necessary before the
/// merger.
private actor LiveMerge {
    private var merger: ReadingMerger
    private let feed: ReadingFeed
    private let clock: SessionClock
    private let late: CombinedSource.Count
    private var alarm: Task<Void, Never>?
    private var hasEnded = false

    init(of count: Int, window: Duration, late: CombinedSource.Count, on clock: SessionClock, into feed: ReadingFeed) {
        merger = ReadingMerger(sources: count, window: window)
        self.late = late
        self.clock = clock
        self.feed = feed
    }

    func add(_ reading: SensorReading, from number: Int) {
        guard !hasEnded else { return }
        let lateBefore = merger.lateCount
        let readings = merger.add(reading, from: number, at: clock.elapsed())
        late.add(merger.lateCount - lateBefore)
        deliver(readings)
    }

    /// Continues without a companion that has ended or failed.
    func leave(_ number: Int) {
        guard !hasEnded else { return }
        merger.leave(number)
        deliver(merger.drain(at: clock.elapsed()))
    }

    /// Delivers all waiting readings, after the leading source has ended or failed.
    func end() {
        alarm?.cancel()
        deliver(merger.drainAll())
        hasEnded = true
    }

    private func deliver(_ readings: [SensorReading]) {
        for reading in readings { feed.yield(reading) }
        guard alarm == nil, let due = merger.nextDue else { return }
        alarm = Task { [weak self, clock] in
            guard (try? await clock.sleep(until: due)) != nil else { return }
            await self?.ring()
        }
    }

    private func ring() {
        alarm = nil
        guard !hasEnded else { return }
        deliver(merger.drain(at: clock.elapsed()))
    }
}

/// The merger of recordings. Among readings with the same instant, the reading of the first source comes first.
///
/// It fetches the next reading of a recording only when its reader requests one, so it doesn't read ahead.
private actor RecordedMerge {
    private let streams: [AsyncThrowingStream<SensorReading, any Error>]
    private let report: @Sendable (any Error, Int) -> Void
    private var heads: [SensorReading?]
    /// The sources whose next reading has not been fetched yet.
    private var unread: [Int]

    /// - Parameter report: is called with the error of a companion and its number.
    init(
        _ streams: [AsyncThrowingStream<SensorReading, any Error>],
        reporting report: @escaping @Sendable (any Error, Int) -> Void
    ) {
        self.streams = streams
        self.report = report
        heads = Array(repeating: nil, count: streams.count)
        unread = Array(streams.indices)
    }

    /// Returns the next reading; nil at the end of all recordings.
    ///
    /// - Throws: the error of the leading recording.
    func next() async throws -> SensorReading? {
        for number in unread {
            do {
                // A new iterator continues after the last element, because all iterators of a stream share its
                // elements.
                var iterator = streams[number].makeAsyncIterator()
                heads[number] = try await iterator.next()
            } catch {
                heads[number] = nil
                guard number > 0 else { throw error }
                report(error, number)
            }
        }
        var first: Int?
        for (number, head) in heads.enumerated() {
            guard let head else { continue }
            if let reading = first.flatMap({ heads[$0] }), reading.instant <= head.instant { continue }
            first = number
        }
        unread = first.map { [$0] } ?? []
        return first.flatMap { heads[$0] }
    }
}

/// A merger of several live sources, each ordered by instant, into one sequence ordered by instant.
///
/// A reading waits until every delivering source has reached its instant, so that no older one can follow, or until the
/// window has passed. A reading that arrives later is not lost: it gets the instant of the last delivered reading, and
/// the merger counts it. The caller passes the time.
package struct ReadingMerger: Sendable {
    private struct Waiting: Sendable {
        var reading: SensorReading
        /// The time by which the reading must be delivered.
        let due: Duration
    }

    /// The maximum number of waiting readings; if there are more, the oldest are delivered before they are due.
    package static let limit = 4096

    private let window: Duration
    /// The waiting readings, ordered by instant, then by arrival.
    private var waiting: [Waiting] = []
    /// The latest instant of each source; nil before its first reading, and after it has left.
    private var latest: [Instant?]
    private var isDelivering: [Bool]
    /// The instant of the last delivered reading.
    private var last: Instant?
    /// The number of readings that arrived too late and got a later instant.
    package private(set) var lateCount = 0

    /// - Parameters:
    ///   - sources: the number of sources.
    ///   - window: the maximum time that a reading waits.
    package init(sources: Int, window: Duration) {
        self.window = max(.zero, window)
        latest = Array(repeating: nil, count: sources)
        isDelivering = Array(repeating: true, count: sources)
    }

    /// When the next reading is due, on the clock of `elapsed`; nil while none waits.
    package var nextDue: Duration? { waiting.map(\.due).min() }

    /// Adds a reading; returns those that are due, in order.
    package mutating func add(_ reading: SensorReading, from source: Int, at elapsed: Duration) -> [SensorReading] {
        isDelivering[source] = true
        latest[source] = max(latest[source] ?? reading.instant, reading.instant)
        var reading = reading
        if let last, reading.instant < last {
            reading.instant = last
            lateCount += 1
        }
        let next = waiting.lastIndex { $0.reading.instant <= reading.instant }.map { $0 + 1 } ?? 0
        waiting.insert(Waiting(reading: reading, due: elapsed + window), at: next)
        return drain(at: elapsed)
    }

    /// Stops waiting for a source that has ended or failed, until it delivers again.
    package mutating func leave(_ source: Int) {
        isDelivering[source] = false
        latest[source] = nil
    }

    /// Removes and returns the readings that are due, in order.
    package mutating func drain(at elapsed: Duration) -> [SensorReading] {
        let reached = reached
        let isSafe: (Waiting) -> Bool = { waiting in
            waiting.due <= elapsed || reached.map { waiting.reading.instant <= $0 } ?? false
        }
        let count = waiting.lastIndex(where: isSafe).map { $0 + 1 } ?? 0
        return drainFirst(max(count, waiting.count - Self.limit))
    }

    /// Removes and returns all waiting readings, in order, for the end of the sources.
    package mutating func drainAll() -> [SensorReading] { drainFirst(waiting.count) }

    private mutating func drainFirst(_ count: Int) -> [SensorReading] {
        let drained = waiting.prefix(count).map(\.reading)
        waiting.removeFirst(drained.count)
        last = drained.last?.instant ?? last
        return drained
    }

    /// The instant that every delivering source has reached; nil if one of them has not begun.
    private var reached: Instant? {
        var least: Instant?
        for (source, instant) in latest.enumerated() where isDelivering[source] {
            guard let instant else { return nil }
            least = min(least ?? instant, instant)
        }
        return least
    }
}

/// The positions of a satellite receiver as readings, to be combined with other sources.
///
///     let source = CombinedSource(radio, with: [IIOSource(), GNSSReadings(GPSDSource())])
///
/// For a ``Localizer`` that continues without the radio, use its parameter `gnss` instead.
public struct GNSSReadings: ScanSource {
    private let receiver: any GNSSSource

    /// Creates a source from a receiver.
    public init(_ receiver: some GNSSSource) { self.receiver = receiver }

    public var pace: ScanPace { .live }

    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        receiver.fixes().transformed { [.gnss($0)] }
    }
}
