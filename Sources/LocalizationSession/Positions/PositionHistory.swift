import IndoorVocabulary
import VenueModel

/// The latest positions of a visit, for interpolation between them.
struct PositionHistory: Sendable {
    private var positions: [Position] = []

    /// The number of positions to keep: half a minute at two positions per second.
    private static let limit = 64

    /// The latest position; nil before the first one.
    var latest: Position? { positions.last }

    /// Appends a position, which isn't earlier than those before.
    mutating func append(_ position: Position) {
        if positions.count == 2 * Self.limit { positions.removeFirst(Self.limit) }
        positions.append(position)
    }

    /// Returns the position at an instant between the first and the latest; nil outside.
    ///
    /// On one map, the position lies on the line between its neighbours. Between two maps, it is the earlier neighbour.
    func position(at instant: Instant) -> Position? {
        guard let first = positions.first, first.instant <= instant, let latest, instant <= latest.instant else {
            return nil
        }
        let after = positions.firstIndex { $0.instant > instant } ?? positions.count
        let before = positions[after - 1]
        guard after < positions.count, positions[after].mapID == before.mapID else {
            return before.moved(to: instant)
        }
        let next = positions[after]
        let share = before.instant.duration(to: instant).seconds / before.instant.duration(to: next.instant).seconds
        return (share < 0.5 ? before : next).moved(to: instant, from: before, to: next, share: share)
    }
}

extension Position {
    fileprivate func moved(to instant: Instant) -> Position {
        var moved = self
        moved.instant = instant
        return moved
    }

    /// Returns the position moved to the line between two others.
    fileprivate func moved(to instant: Instant, from first: Position, to last: Position, share: Double) -> Position {
        func between(_ one: Double, _ other: Double) -> Double { one + (other - one) * share }
        var moved = moved(to: instant)
        moved.point = first.point + (last.point - first.point) * share
        moved.radius = between(first.radius, last.radius)
        if let one = first.pixel, let other = last.pixel {
            moved.pixel = PixelPoint(x: between(one.x, other.x), y: between(one.y, other.y))
        }
        if let one = first.coordinate, let other = last.coordinate {
            moved.coordinate = Coordinate(
                latitude: between(one.latitude, other.latitude), longitude: between(one.longitude, other.longitude))
        }
        return moved
    }
}
