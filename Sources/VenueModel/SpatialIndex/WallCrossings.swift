import IndoorVocabulary

/// A counter of the walls of a map that a straight line crosses.
package struct WallCrossings: Hashable, Sendable {
    private struct Segment: Hashable, Sendable {
        var start: MapPoint
        var end: MapPoint
    }

    private let segments: [Segment]

    /// Creates a counter for the wall segments of a map.
    package init(of map: VenueMap) {
        segments = map.walls.flatMap { line in zip(line, line.dropFirst()).map { Segment(start: $0, end: $1) } }
    }

    /// Returns the number of wall segments between two points, in a time that is linear in the number of segments.
    ///
    /// A line through the joint of two segments of one polyline is counted once.
    package func count(from: MapPoint, to: MapPoint) -> Int {
        let (left, right) = (min(from.x, to.x), max(from.x, to.x))
        let (top, bottom) = (min(from.y, to.y), max(from.y, to.y))
        return segments.reduce(0) { count, wall in
            guard max(wall.start.x, wall.end.x) >= left, min(wall.start.x, wall.end.x) <= right,
                max(wall.start.y, wall.end.y) >= top, min(wall.start.y, wall.end.y) <= bottom
            else { return count }
            let starts = Self.side(of: wall.start, from, to) >= 0
            let ends = Self.side(of: wall.end, from, to) >= 0
            guard starts != ends else { return count }
            let near = Self.side(of: from, wall.start, wall.end)
            let far = Self.side(of: to, wall.start, wall.end)
            return near * far < 0 ? count + 1 : count
        }
    }

    /// Returns the distance in metres from a point to the nearest wall; infinity without walls.
    package func distance(to point: MapPoint) -> Double {
        segments.reduce(.infinity) { nearest, wall in
            let (way, offset) = (wall.end - wall.start, point - wall.start)
            let length = way.x * way.x + way.y * way.y
            let share = length > 0 ? min(max((offset.x * way.x + offset.y * way.y) / length, 0), 1) : 0
            return min(nearest, point.distance(to: wall.start + way * share))
        }
    }

    /// Returns a value above 0 on one side of the line from `start` to `end`, and below 0 on the other.
    private static func side(of point: MapPoint, _ start: MapPoint, _ end: MapPoint) -> Double {
        (end.x - start.x) * (point.y - start.y) - (end.y - start.y) * (point.x - start.x)
    }
}
