import IndoorVocabulary
import VenueModel

/// The positions of the last half minute of a visit, for interpolation between them.
struct PositionHistory: Sendable {
    private var positions: [Position] = []

    /// The time before the latest position in which the history knows where the device was.
    private static let span = Duration.seconds(30)

    /// The latest position; nil before the first one.
    var latest: Position? { positions.last }

    /// Appends a position, which isn't earlier than those before.
    mutating func append(_ position: Position) {
        positions.append(position)
        let start = start(before: position)
        // The latest one from before the span is the neighbour of instants in the span.
        let old = positions.indices.bisection { positions[$0].instant > start } - 1
        // In large pieces, so that an append rarely moves the others.
        if old > positions.count / 2 { positions.removeFirst(old) }
    }

    private func start(before latest: Position) -> Instant { latest.instant.advanced(by: .zero - Self.span) }

    /// Moves the positions to a timeline with another origin.
    mutating func shift(by duration: Duration) {
        positions = positions.map { $0.moved(to: $0.instant.advanced(by: duration)) }
    }

    /// Returns the position at an instant in the last half minute up to the latest position; nil outside, and before the
    /// first position.
    ///
    /// On one map, the position lies on the line between its neighbours. Between two maps, it is the earlier neighbour.
    func position(at instant: Instant) -> Position? {
        guard let first = positions.first, first.instant <= instant, let latest, instant <= latest.instant,
            instant >= start(before: latest)
        else { return nil }
        let after = positions.indices.bisection { positions[$0].instant > instant }
        let before = positions[after - 1]
        guard after < positions.count, positions[after].mapID == before.mapID else {
            return before.moved(to: instant)
        }
        let next = positions[after]
        let share = before.instant.seconds(to: instant) / before.instant.seconds(to: next.instant)
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

/// The speed of the device, from the distance to the position of two seconds ago.
///
/// The filter's own velocity isn't that of the device: it is the velocity of the latest step, or a mean over particles
/// that move in different directions. Over two seconds, the errors of two positions amount to less than walking speed.
package struct Speedometer: Hashable, Sendable {
    private struct Place: Hashable, Sendable {
        var instant: Instant
        var point: MapPoint
    }

    /// The time between the two positions.
    private static let window = Duration.seconds(2)
    /// The shortest time for which a speed is returned.
    private static let least = Duration.seconds(1)

    private var map: MapID?
    private var places: [Place] = []

    /// Creates a speedometer without positions.
    package init() {}

    /// The bytes of the positions.
    package var byteCount: Int { MemoryLayout<Place>.stride * places.capacity }

    /// Moves the positions to a timeline with another origin.
    mutating func shift(by duration: Duration) {
        for index in places.indices { places[index].instant = places[index].instant.advanced(by: duration) }
    }

    /// Handles a position; returns the speed in metres per second, nil in the first second on a map.
    mutating func observe(_ point: MapPoint, on map: MapID, at now: Instant) -> Double? {
        if self.map != map { places.removeAll(keepingCapacity: true) }
        self.map = map
        places.append(Place(instant: now, point: point))
        // Keep the latest of the positions that are old enough, and all newer ones.
        let old = places.lastIndex { $0.instant.duration(to: now) >= Self.window } ?? 0
        places.removeFirst(old)
        guard let first = places.first, first.instant.duration(to: now) >= Self.least else { return nil }
        return first.point.distance(to: point) / first.instant.seconds(to: now)
    }
}
