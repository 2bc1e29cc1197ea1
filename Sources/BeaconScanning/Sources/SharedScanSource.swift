import IndoorVocabulary

/// A source with one scan of a radio for several readers, such as several floor plan localizers, or a localizer and a
/// scanner.
///
///     let radio = SharedScanSource(BluetoothScanSource())
///     let ground = FloorPlanLocalizer(on: groundFloor, source: radio, venues: packets)
///     let first = FloorPlanLocalizer(on: firstFloor, source: radio, venues: packets)
///
/// The scan begins with the first reader and ends with the last one. A reader that joins later gets the readings from
/// then on. For a slow reader, the source keeps the newest 4096 readings and reports the number of lost readings with a
/// ``RadioEvent``. The scan ends or fails for all readers at once, and the next `readings()` begins another scan. Give
/// the radio its duty cycle before you share it, because readers cannot change it. A recording is not shared: each
/// reader plays it from its beginning.
///
/// The type is a class because all owners share one radio.
public final class SharedScanSource: ReportingScanSource, RadioHoldingSource {
    private struct Reader: Sendable {
        var feed: ReadingFeed
        /// A closure that is called with each error that does not end the scan.
        var report: @Sendable (LocalizationError) -> Void
    }

    private struct State: Sendable {
        var readers: [UInt64: Reader] = [:]
        var nextKey: UInt64 = 0
        /// The number of the scan; it differs from the numbers of earlier scans.
        var number = 0
        var isScanning = false
        /// The instant of the latest reading of this scan; nil before the first.
        var latest: Instant?
        /// A fix that was submitted before the first reading and waits for it.
        var waiting: Fix?
        var scan: Task<Void, Never>?
    }

    /// The number of readings that may wait for each reader.
    package static let capacity = 4096

    private let source: any ScanSource
    private let state = Guarded(State())
    /// A lock that is held while elements are chosen and yielded, so that a fix never overtakes an earlier one.
    ///
    /// It is another lock than that of the state: a reader that is cancelled leaves while it holds a lock that `yield`
    /// waits for.
    private let delivery = Guarded(())

    /// Creates a source that shares the scans of another one, without starting it.
    public init(_ source: some ScanSource) { self.source = source }

    public var pace: ScanPace { source.pace }

    /// The wall clock of the source.
    public var wallClock: WallClock? { source.wallClock }

    /// Returns nil if the radio has its own duty cycle, and otherwise throws an error: a reader can't let the radio
    /// rest, because the other readers need it.
    package func following(
        _ steering: ScanSteering, clock: some Clock<Duration>
    ) throws(LocalizationError) -> (any ScanSource)? {
        guard try source.withControl(steering, clock: clock) != nil else { return nil }
        throw LocalizationError(
            code: .generic,
            message:
                "the settings scanner.dutyCycle and scanner.timing have no effect on a shared radio; use dutyCycled(_:) "
                + "on the radio before SharedScanSource, or remove them")
    }

    /// Joins the scan, which begins with the first reader.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> { readings { _ in } }

    /// Joins the scan.
    ///
    /// - Parameter report: is called with each error that does not end the scan.
    public func readings(
        reporting report: @escaping @Sendable (LocalizationError) -> Void
    ) -> AsyncThrowingStream<SensorReading, any Error> {
        guard pace == .live else { return source.beginReadings(reporting: report) }
        let (stream, feed) = ReadingFeed.makeStream(capacity: Self.capacity)
        let (key, begun) = state.withLock { state -> (UInt64, Int?) in
            state.nextKey += 1
            state.readers[state.nextKey] = Reader(feed: feed, report: report)
            guard !state.isScanning else { return (state.nextKey, nil) }
            state.isScanning = true
            state.latest = nil
            state.waiting = nil
            state.number += 1
            return (state.nextKey, state.number)
        }
        feed.whenTerminated { [weak self] in self?.leave(key) }
        if let begun { begin(begun) }
        return stream
    }

    /// Submits a position to all readers: each session on that map handles it like ``Localizer/submit(_:)``.
    ///
    /// A floor plan localizer on another map ignores it. A localizer uses it as a position on the map with that number in its
    /// own venue. A session that was not started doesn't get it.
    /// - Parameter fix: the position, from `VenueMap.fix(at:radius:isSoft:instant:)` for metres, pixels or a
    ///   coordinate. The source sets its instant to that of the latest reading; before the first reading, the fix waits
    ///   for it.
    /// - Returns: the number of readers that get it.
    @discardableResult public func submit(_ fix: Fix) -> Int {
        delivery.withLock { _ in
            let (readers, latest) = state.withLock { state -> ([Reader], Instant?) in
                guard !state.readers.isEmpty else { return ([], nil) }
                if state.latest == nil { state.waiting = fix }
                return (Array(state.readers.values), state.latest)
            }
            guard let latest else { return readers.count }
            var dated = fix
            dated.instant = latest
            for reader in readers { reader.feed.yield(.fix(dated)) }
            return readers.count
        }
    }

    private func begin(_ number: Int) {
        let readings = source.beginReadings { [weak self] error in
            for reader in self?.readers(of: number) ?? [] { reader.report(error) }
        }
        let task = Task {
            do {
                for try await reading in readings { send(reading, of: number) }
                end(number, nil)
            } catch {
                end(number, error)
            }
        }
        // Check again, because all readers may have left in the meantime.
        let isWanted = state.withLock { state in
            guard state.number == number, state.isScanning else { return false }
            state.scan = task
            return true
        }
        if !isWanted { task.cancel() }
    }

    private func send(_ reading: SensorReading, of number: Int) {
        delivery.withLock { _ in
            let (readers, waiting) = state.withLock { state -> ([Reader], Fix?) in
                guard state.number == number else { return ([], nil) }
                state.latest = reading.instant
                return (Array(state.readers.values), state.waiting.take())
            }
            for reader in readers { reader.feed.yield(reading) }
            guard var fix = waiting else { return }
            fix.instant = reading.instant
            for reader in readers { reader.feed.yield(.fix(fix)) }
        }
    }

    private func readers(of number: Int) -> [Reader] {
        state.withLock { $0.number == number ? Array($0.readers.values) : [] }
    }

    private func end(_ number: Int, _ error: (any Error)?) {
        let readers = state.withLock { state -> [Reader] in
            guard state.number == number, state.isScanning else { return [] }
            state.isScanning = false
            state.scan = nil
            defer { state.readers = [:] }
            return Array(state.readers.values)
        }
        for reader in readers { reader.feed.finish(throwing: error) }
    }

    private func leave(_ key: UInt64) {
        let ended = state.withLock { state -> Task<Void, Never>? in
            guard state.readers.removeValue(forKey: key) != nil, state.readers.isEmpty else { return nil }
            state.isScanning = false
            state.number += 1
            return state.scan.take()
        }
        ended?.cancel()
    }
}
