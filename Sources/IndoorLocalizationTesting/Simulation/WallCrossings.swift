import IndoorLocalization

/// How many walls of a map a straight line goes through.
package struct WallCrossings: Hashable, Sendable {
    private struct Segment: Hashable, Sendable {
        var start: MapPoint
        var end: MapPoint
    }

    private let segments: [Segment]

    /// Takes in the segments of a map's walls.
    package init(of map: VenueMap) {
        segments = map.walls.flatMap { line in zip(line, line.dropFirst()).map { Segment(start: $0, end: $1) } }
    }

    /// The number of wall segments between two points; linear in the number of segments.
    ///
    /// A line through the joint of two segments of one polyline counts once.
    package func count(from: MapPoint, to: MapPoint) -> Int {
        segments.reduce(0) { count, wall in
            let starts = Self.side(of: wall.start, from, to) >= 0
            let ends = Self.side(of: wall.end, from, to) >= 0
            guard starts != ends else { return count }
            let near = Self.side(of: from, wall.start, wall.end)
            let far = Self.side(of: to, wall.start, wall.end)
            return near * far < 0 ? count + 1 : count
        }
    }

    /// Above 0 on the one side of the line from `start` to `end`, below on the other.
    private static func side(of point: MapPoint, _ start: MapPoint, _ end: MapPoint) -> Double {
        (end.x - start.x) * (point.y - start.y) - (end.y - start.y) * (point.x - start.x)
    }
}
