import IndoorVocabulary

/// Puts readings of several live sources, each in order by itself, into one order of instants.
///
/// A reading waits until every source that delivers has come as far, so that nothing older can follow, or until it has waited for
/// the window. One that comes later than that is not lost: it gets the instant of the last reading that was handed on, and is
/// counted. A value: time is an argument.
package struct ReadingMerger: Sendable {
    private struct Waiting: Sendable {
        var reading: SensorReading
        /// When it is handed on, whatever else comes.
        let due: Duration
    }

    /// As many wait at most, in a flood; the oldest are handed on before their time.
    package static let limit = 4096

    private let window: Duration
    /// In order of their instants, and those of the same instant in order of arrival.
    private var waiting: [Waiting] = []
    /// How far each source has come; nil for one that has delivered nothing, or delivers no more.
    private var latest: [Instant?]
    private var isDelivering: [Bool]
    /// The instant of the last reading that was handed on.
    private var last: Instant?
    /// Readings that came too late for their place.
    package private(set) var lateCount = 0

    /// - Parameters:
    ///   - sources: how many there are.
    ///   - window: how long a reading waits at most.
    package init(sources: Int, window: Duration) {
        self.window = max(.zero, window)
        latest = Array(repeating: nil, count: sources)
        isDelivering = Array(repeating: true, count: sources)
    }

    /// When a reading has waited long enough, on the clock of `elapsed`; nil while none waits.
    package var nextDue: Duration? { waiting.map(\.due).min() }

    /// Takes in a reading; returns those that are to be handed on now, in order.
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
        return take(at: elapsed)
    }

    /// A source has ended or failed: nobody waits for it, until it delivers again.
    package mutating func leave(_ source: Int) {
        isDelivering[source] = false
        latest[source] = nil
    }

    /// The readings that are to be handed on now, in order.
    package mutating func take(at elapsed: Duration) -> [SensorReading] {
        let reached = reached
        let isSafe: (Waiting) -> Bool = { waiting in
            waiting.due <= elapsed || reached.map { waiting.reading.instant <= $0 } ?? false
        }
        let count = waiting.lastIndex(where: isSafe).map { $0 + 1 } ?? 0
        return takeFirst(max(count, waiting.count - Self.limit))
    }

    /// All that wait, in order: nothing more comes.
    package mutating func takeAll() -> [SensorReading] { takeFirst(waiting.count) }

    private mutating func takeFirst(_ count: Int) -> [SensorReading] {
        let taken = waiting.prefix(count).map(\.reading)
        waiting.removeFirst(taken.count)
        last = taken.last?.instant ?? last
        return taken
    }

    /// The instant up to which every source that delivers has come; nil if one of them has not begun.
    private var reached: Instant? {
        var least: Instant?
        for (source, instant) in latest.enumerated() where isDelivering[source] {
            guard let instant else { return nil }
            least = min(least ?? instant, instant)
        }
        return least
    }
}
