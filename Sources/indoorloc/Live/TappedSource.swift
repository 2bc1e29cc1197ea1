import IndoorLocalization

/// Readings that a session was too slow to receive.
///
/// A class, as the sources that count and the command that reports share it.
final class LostReadings: Sendable {
    private let counts = Guarded((total: 0, reported: 0))

    /// The readings lost so far.
    var total: Int { counts.withLock { $0.total } }

    /// Counts one lost reading.
    func add() { counts.withLock { $0.total += 1 } }

    /// Writes a warning to standard error if readings were lost since the last warning.
    func report() {
        if let warning = drainWarning() { StandardError.line(warning, .warning) }
    }

    /// Returns a warning about the readings lost since the last warning; nil if none was lost.
    func drainWarning() -> String? {
        let count = counts.withLock { counts in
            defer { counts.reported = counts.total }
            return counts.total - counts.reported
        }
        guard count > 0 else { return nil }
        return "\(count.counting("reading")) lost before the session, which is slower than the source"
    }
}

/// A source that also passes each reading to a closure.
///
/// On a live source, the closure receives every reading immediately. Readings for the session wait in a buffer; if it
/// is full, the oldest one is discarded and counted.
struct TappedSource<Source: ScanSource>: SteerableScanSource, ReportingScanSource {
    /// The maximum number of readings that wait for the session: the size of the radio sources' buffers.
    static var standardLimit: Int { 65_536 }

    let source: Source
    /// Counts the readings that were discarded because the session was too slow.
    let lost: LostReadings
    var limit = Self.standardLimit
    let tap: @Sendable (SensorReading) -> Void

    var pace: ScanPace { source.pace }
    var wallClock: WallClock? { source.wallClock }
    var steering: ScanSteering? { (source as? any SteerableScanSource)?.steering }

    func readings() -> AsyncThrowingStream<SensorReading, any Error> { readings { _ in } }

    func readings(
        reporting report: @escaping @Sendable (LocalizationError) -> Void
    ) -> AsyncThrowingStream<SensorReading, any Error> {
        guard pace == .live else {
            // A recording waits for the session, so it needs no buffer.
            return source.beginReadings(reporting: report).transformed { reading in
                tap(reading)
                return [reading]
            }
        }
        return ReadingFeed.readings(capacity: limit, onLoss: lost.add) { feed in
            for try await reading in source.beginReadings(reporting: report) {
                tap(reading)
                feed.yield(reading)
            }
        }
    }
}

/// A satellite receiver that also passes each position to a closure; its buffer is bounded like that of
/// ``TappedSource``.
struct TappedGNSSSource: GNSSSource {
    /// The maximum number of positions that wait for the session: several minutes of a receiver's output.
    private static let limit = 256

    let source: any GNSSSource
    /// Counts the positions that were discarded because the session was too slow.
    let lost: LostReadings
    let tap: @Sendable (SensorReading) -> Void

    func fixes() -> AsyncThrowingStream<GNSSFix, any Error> {
        .produced(bufferingPolicy: .bufferingNewest(Self.limit)) { continuation in
            for try await fix in source.fixes() {
                tap(.gnss(fix))
                if case .dropped = continuation.yield(fix) { lost.add() }
            }
        }
    }
}
