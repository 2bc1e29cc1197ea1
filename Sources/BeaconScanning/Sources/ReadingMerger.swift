import IndoorVocabulary

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
