import IndoorVocabulary

/// How far along a route a position is.
public struct RouteProgress: Hashable, Sendable {
    /// The point of the route next to the position.
    public let place: RoutePoint
    /// Metres walked from the start to that point.
    public let distanceDone: Double
    /// Metres to walk from that point to the goal.
    public let distanceRemaining: Double
    /// Metres from the position to that point.
    public let distanceOff: Double
    /// The leg that the point lies on, among the route's; nil if the route has none.
    public let legIndex: Int?
    /// Metres to the end of that leg.
    public let distanceToLegEnd: Double
}

extension Route {
    /// The point after so many metres to walk; the start and the goal beyond its ends.
    ///
    /// Between two maps it is on the first one for half the way. At a ride in an elevator, where nothing is walked, it
    /// is where the ride ends.
    public func point(at distance: Double) -> RoutePoint {
        guard distance > 0, vertices.count > 1 else { return vertices[0] }
        // The last vertex that has been passed.
        var (low, high) = (0, vertices.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if distances[middle] <= distance { low = middle } else { high = middle }
        }
        guard low + 1 < vertices.count else { return vertices[low] }
        let (begin, end) = (vertices[low], vertices[low + 1])
        let share = (distance - distances[low]) / (distances[low + 1] - distances[low])
        guard begin.mapID == end.mapID else { return share < 0.5 ? begin : end }
        return RoutePoint(mapID: begin.mapID, point: begin.point + (end.point - begin.point) * share)
    }

    /// How far along the route a place is; nil if the route does not touch its map.
    ///
    /// Where the route comes by more than once, the nearest passage counts; of those that are no more than `tolerance`
    /// metres farther off than that, the one next to the distance `after`.
    public func progress(of place: RoutePoint, after: Double = 0, tolerance: Double = 0) -> RouteProgress? {
        guard place.isPlace else { return nil }
        var least = Double.infinity
        var passages: [(offset: Double, distance: Double, point: MapPoint)] = []
        for index in vertices.indices where vertices[index].mapID == place.mapID {
            let begin = vertices[index].point
            var (share, length) = (0.0, 0.0)
            var point = begin
            if index + 1 < vertices.count, vertices[index + 1].mapID == place.mapID {
                let way = WaySegment(from: begin, to: vertices[index + 1].point)
                share = way.share(nearestTo: place.point)
                point = way.point(at: share)
                length = distances[index + 1] - distances[index]
            }
            let offset = point.distance(to: place.point)
            guard offset <= least + tolerance else { continue }
            least = min(least, offset)
            passages.append((offset, distances[index] + share * length, point))
        }
        let near = passages.filter { $0.offset <= least + tolerance }
        guard let best = near.min(by: { abs($0.distance - after) < abs($1.distance - after) }) else { return nil }
        let leg = legs.firstIndex { distances[$0.vertices.upperBound] > best.distance } ?? legs.indices.last
        return RouteProgress(
            place: RoutePoint(mapID: place.mapID, point: best.point), distanceDone: best.distance,
            distanceRemaining: max(0, length - best.distance), distanceOff: best.offset, legIndex: leg,
            distanceToLegEnd: leg.map { max(0, distances[legs[$0].vertices.upperBound] - best.distance) } ?? 0)
    }
}
