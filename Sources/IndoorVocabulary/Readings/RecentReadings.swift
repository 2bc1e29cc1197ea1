/// Something that happened at an instant.
package protocol Timed {
    /// When it happened.
    var instant: Instant { get }
}

extension SensorReading: Timed {}

/// The readings of the last seconds, kept for a belief that begins later than they were made.
package typealias RecentReadings = RecentElements<SensorReading>

/// The elements of the last seconds; adding one takes constant time on average, also in a flood.
package struct RecentElements<Element: Timed & Hashable & Sendable>: Hashable, Sendable {
    /// Older elements say little of where the device is now.
    package static var span: Duration { .seconds(10) }
    /// A bound for sources that deliver in a flood.
    package static var limit: Int { 5000 }

    /// Up to twice as many as the limit: each clean-up looks at all of them, and must be paid for by as many additions.
    private var stored: [Element] = []
    private var latest: Instant?

    /// Creates an empty list.
    package init() {}

    /// The elements that are neither too old nor too many, in the order of their arrival.
    package var readings: [Element] {
        guard stored.count > Self.limit else { return stored }
        return Array(fresh.suffix(Self.limit))
    }

    /// Adds an element and forgets those that are too old or too many.
    package mutating func add(_ element: Element) {
        stored.append(element)
        let now = element.instant
        latest = now
        if stored.count >= 2 * Self.limit {
            stored = Array(fresh.suffix(Self.limit))
        } else if isStale(now) {
            stored = fresh
        }
    }

    /// Those that are not too old beside the latest one.
    private var fresh: [Element] {
        guard let oldest = latest?.advanced(by: .zero - Self.span) else { return stored }
        return stored.filter { $0.instant >= oldest }
    }

    /// Whether enough has grown old for a clean-up to be worth its while.
    private func isStale(_ now: Instant) -> Bool {
        stored.first.map { $0.instant.duration(to: now) > Self.span + Self.span } ?? false
    }

    /// Forgets everything.
    package mutating func clear() {
        stored = []
        latest = nil
    }
}
