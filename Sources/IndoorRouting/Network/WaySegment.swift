import IndoorVocabulary

/// A line segment between two points of one map.
struct WaySegment: Hashable, Sendable {
    var from: MapPoint
    var to: MapPoint

    /// Returns the position of the nearest point to `point`, as a share of the segment's length from 0 to 1.
    func share(nearestTo point: MapPoint) -> Double {
        let (way, offset) = (to - from, point - from)
        let square = way.x * way.x + way.y * way.y
        guard square > 0 else { return 0 }
        return min(1, max(0, (way.x * offset.x + way.y * offset.y) / square))
    }

    /// Returns the point at a share of the segment's length.
    func point(at share: Double) -> MapPoint { share == 1 ? to : from + (to - from) * share }
}
