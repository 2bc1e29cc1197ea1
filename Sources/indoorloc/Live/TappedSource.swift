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
        if let warning = drainWarning() { StandardError.line(warning) }
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
/// The closure receives every reading at once. Readings for the session wait in a buffer; if it is full, the oldest one is
/// discarded and counted.
struct TappedSource<Source: ScanSource>: SteerableScanSource, ReportingScanSource {
    /// The most readings that wait for the session: as many as the radio sources buffer.
    static var standardLimit: Int { 65_536 }

    let source: Source
    /// Counts the readings that the session was too slow for.
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
        // A recording is read faster than a session replays it, and must not lose readings.
        .tapped(limit: pace == .live ? limit : nil, lost) { yield in
            for try await reading in source.beginReadings(reporting: report) {
                tap(reading)
                yield(reading)
            }
        }
    }
}

/// A satellite receiver that also passes each position to a closure; bounded as ``TappedSource`` is.
struct TappedGNSSSource: GNSSSource {
    /// The most positions that wait for the session: minutes of a receiver.
    private static let limit = 256

    let source: any GNSSSource
    /// Counts the positions that the session was too slow for.
    let lost: LostReadings
    let tap: @Sendable (SensorReading) -> Void

    func fixes() -> AsyncThrowingStream<GNSSFix, any Error> {
        .tapped(limit: Self.limit, lost) { yield in
            for try await fix in source.fixes() {
                tap(.gnss(fix))
                yield(fix)
            }
        }
    }
}

extension AsyncThrowingStream where Element: Sendable, Failure == any Error {
    /// A stream of the elements that `produce` yields in a task of its own; the newest `limit` elements wait for the reader.
    ///
    /// - Parameters:
    ///   - limit: the most elements that wait; nil for any number.
    ///   - lost: counts the discarded elements.
    fileprivate static func tapped(
        limit: Int?, _ lost: LostReadings,
        by produce: @escaping @Sendable (_ yield: (Element) -> Void) async throws -> Void
    ) -> AsyncThrowingStream<Element, any Error> {
        AsyncThrowingStream(bufferingPolicy: limit.map { .bufferingNewest($0) } ?? .unbounded) { continuation in
            let task = Task {
                do {
                    try await produce { if case .dropped = continuation.yield($0) { lost.add() } }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
