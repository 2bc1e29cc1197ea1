import IndoorVocabulary

/// One scan for several readers: positioners side by side, a localizer and a scanner, on one radio.
///
///     let radio = SharedScanSource(BluetoothScanSource())
///     let ground = FloorPlanLocalizer(on: groundFloor, source: radio, venues: packets)
///     let first = FloorPlanLocalizer(on: firstFloor, source: radio, venues: packets)
///
/// The scan begins with the first reader and ends with the last one. Who joins in between gets what is heard from then on;
/// of readings that somebody does not take, the newest 4096 are kept for him. When the scan ends or fails, it does so for
/// all of its readers, and the next `readings()` begins another one. A radio that is to rest is made to before it is shared:
/// readers cannot tell it to. A recording is not shared: each reader plays it from its beginning.
///
/// A class, as it is one radio for all who hold it.
public final class SharedScanSource: ReportingScanSource {
    private typealias Continuation = AsyncThrowingStream<SensorReading, any Error>.Continuation

    private struct Reader: Sendable {
        var continuation: Continuation
        /// Is told of errors that the scan survives.
        var report: @Sendable (LocalizationError) -> Void
    }

    private struct State: Sendable {
        var readers: [UInt64: Reader] = [:]
        var nextKey: UInt64 = 0
        /// Counts scans, so that what belongs to an earlier one is recognised.
        var number = 0
        var isScanning = false
        /// The instant of the latest reading of this scan; nil before the first.
        var latest: Instant?
        /// A place that was given before the first reading.
        var waiting: Fix?
        var scan: Task<Void, Never>?
    }

    private static let buffer = 4096

    private let source: any ScanSource
    private let state = Guarded(State())

    /// Creates a source that shares the scans of another one; nothing is scanned yet.
    public init(_ source: some ScanSource) { self.source = source }

    public var pace: ScanPace { source.pace }

    /// That of the source.
    public var wallClock: WallClock? { source.wallClock }

    /// Takes part in the scan, which begins if nobody else takes part.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> { readings { _ in } }

    /// Takes part in the scan, and is told of the errors that it survives.
    public func readings(
        reporting report: @escaping @Sendable (LocalizationError) -> Void
    ) -> AsyncThrowingStream<SensorReading, any Error> {
        guard pace == .live else { return source.beginReadings(reporting: report) }
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: SensorReading.self, throwing: (any Error).self, bufferingPolicy: .bufferingNewest(Self.buffer))
        let (key, begun) = state.withLock { state -> (UInt64, Int?) in
            state.nextKey += 1
            state.readers[state.nextKey] = Reader(continuation: continuation, report: report)
            guard !state.isScanning else { return (state.nextKey, nil) }
            state.isScanning = true
            state.latest = nil
            state.waiting = nil
            state.number += 1
            return (state.nextKey, state.number)
        }
        continuation.onTermination = { [weak self] _ in self?.leave(key) }
        if let begun { begin(begun) }
        return stream
    }

    /// Tells all readers where the device is: each session on that map takes it as it takes ``Localizer/submit(_:)``.
    ///
    /// A positioner on another floor plan ignores it. A localizer takes it for a place on the map with that number in its own
    /// venue. A session that was not started doesn't get it.
    /// - Parameter fix: as `VenueMap.fix(at:radius:isSoft:instant:)` makes it of metres, pixels or a coordinate. It gets the
    ///   instant of the latest reading; before the first one, it waits for that.
    /// - Returns: how many readers get it.
    @discardableResult public func submit(_ fix: Fix) -> Int {
        let (readers, latest) = state.withLock { state -> ([Reader], Instant?) in
            guard !state.readers.isEmpty else { return ([], nil) }
            if state.latest == nil { state.waiting = fix }
            return (Array(state.readers.values), state.latest)
        }
        guard let latest else { return readers.count }
        var fix = fix
        fix.instant = latest
        for reader in readers { reader.continuation.yield(.fix(fix)) }
        return readers.count
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
        // All readers may have left in the meantime.
        let isWanted = state.withLock { state in
            guard state.number == number, state.isScanning else { return false }
            state.scan = task
            return true
        }
        if !isWanted { task.cancel() }
    }

    private func send(_ reading: SensorReading, of number: Int) {
        let (readers, waiting) = state.withLock { state -> ([Reader], Fix?) in
            guard state.number == number else { return ([], nil) }
            state.latest = reading.instant
            return (Array(state.readers.values), state.waiting.take())
        }
        for reader in readers { reader.continuation.yield(reading) }
        guard var fix = waiting else { return }
        fix.instant = reading.instant
        for reader in readers { reader.continuation.yield(.fix(fix)) }
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
        for reader in readers { reader.continuation.finish(throwing: error) }
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
