/// A value with an instant.
package protocol Timed {
    /// The time of the value.
    var instant: Instant { get }
}

extension SensorReading: Timed {}

/// The readings of the last seconds, stored for a position filter that begins later.
package typealias RecentReadings = RecentElements<SensorReading>

/// The elements of the last seconds. Adding an element takes constant time on average, regardless of the rate of
/// elements.
package struct RecentElements<Element: Timed & Hashable & Sendable>: Hashable, Sendable {
    /// The time span; older elements are discarded, because the device may have moved since then.
    @inlinable package static var span: Duration { .seconds(10) }
    /// The maximum number of elements, for sources with a high rate.
    @inlinable package static var limit: Int { 5000 }

    /// The stored elements, up to twice the limit. A clean-up visits all elements, so it runs only after many
    /// additions.
    @usableFromInline var stored: [Element] = []
    @usableFromInline var latest: Instant?

    /// Creates an empty list.
    @inlinable package init() {}

    /// The elements within the time span and the limit, in the order of their arrival.
    @inlinable package var readings: [Element] {
        guard stored.count > Self.limit else { return stored }
        return Array(fresh.suffix(Self.limit))
    }

    /// Adds an element and discards those beyond the time span or the limit.
    @inlinable package mutating func add(_ element: Element) {
        stored.append(element)
        let now = element.instant
        latest = now
        if stored.count >= 2 * Self.limit {
            stored = Array(fresh.suffix(Self.limit))
        } else if isStale(now) {
            stored = fresh
        }
    }

    /// The elements within the time span before the latest one.
    @inlinable var fresh: [Element] {
        guard let oldest = latest?.advanced(by: .zero - Self.span) else { return stored }
        return stored.filter { $0.instant >= oldest }
    }

    /// Returns whether so many elements are too old that a clean-up is worthwhile.
    @inlinable func isStale(_ now: Instant) -> Bool {
        stored.first.map { $0.instant.duration(to: now) > Self.span + Self.span } ?? false
    }

    /// Discards all elements.
    @inlinable package mutating func clear() {
        stored = []
        latest = nil
    }
}
