import IndoorVocabulary
import TagTracking
import VenueModel

/// The recent positions of all tags, in one ring of bounded size.
///
/// A tag has a point per second at most, and fewer if the ring is too small for all tags: the interval grows with the
/// number of tags, so that each trail reaches back over the whole span. A point takes 40 bytes: the default of 2,000,000
/// points is 80 MB, which holds ten minutes of 3,333 tags at a point per second, or of 100,000 tags at one per 30 s.
package struct TagTrails: Sendable {
    /// A point of a trail.
    package struct Point: Hashable, Sendable {
        /// The time, counted from the Unix epoch.
        package var instant: Instant
        package var mapID: MapID
        package var x: Float
        package var y: Float
        /// The 68 % error radius in metres.
        package var radius: Float
    }

    private struct Entry {
        var point: Point
        /// The number of the tag's point before this one; -1 for none.
        var previous: Int
    }

    private struct Head {
        var last: Int
        var instant: Instant
    }

    /// The maximum age of a point.
    package static let span = Duration.seconds(600)
    /// The shortest time between two points of a tag.
    static let shortestInterval = Duration.seconds(1)

    /// The maximum number of points.
    package let capacity: Int
    private var entries: [Entry] = []
    /// The number of points so far; the point with number n is at n modulo the capacity.
    private var count = 0
    private var heads: [TagKey: Head] = [:]

    /// Creates trails without points.
    package init(capacity: Int = 2_000_000) { self.capacity = max(1, capacity) }

    /// The time between two points of a tag.
    package var interval: Duration {
        max(Self.shortestInterval, Self.span * (Double(heads.count) / Double(capacity)))
    }

    /// Adds a position, unless the tag has a point within the interval before it.
    package mutating func add(_ position: Position, of tag: TagKey, at instant: Instant) {
        let head = heads[tag]
        // A millisecond less, because the time between two outputs varies.
        if let head, head.instant.duration(to: instant) < interval - .milliseconds(1) { return }
        let entry = Entry(
            point: Point(
                instant: instant, mapID: position.mapID, x: Float(position.x), y: Float(position.y),
                radius: Float(position.radius)), previous: head?.last ?? -1)
        if entries.count < capacity { entries.append(entry) } else { entries[count % capacity] = entry }
        heads[tag] = Head(last: count, instant: instant)
        count += 1
    }

    /// Returns the points of a tag since an instant, the oldest first.
    package func points(of tag: TagKey, since start: Instant) -> [Point] {
        var points: [Point] = []
        var number = heads[tag]?.last ?? -1
        // Older points have been overwritten.
        while number >= 0, number >= count - capacity {
            let entry = entries[number % capacity]
            guard entry.point.instant >= start else { break }
            points.append(entry.point)
            number = entry.previous
        }
        return points.reversed()
    }

    /// Removes the trails of all tags but those that the closure keeps.
    package mutating func keep(_ isKept: (TagKey) -> Bool) { heads = heads.filter { isKept($0.key) } }
}
