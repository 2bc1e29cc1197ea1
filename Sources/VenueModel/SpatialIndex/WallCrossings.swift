import IndoorVocabulary

/// A counter of the walls of a map that a straight line crosses.
package struct WallCrossings: Hashable, Sendable {
    /// A straight part of a wall.
    package struct Segment: Hashable, Sendable {
        package let start: MapPoint
        package let end: MapPoint

        /// Returns whether the straight line between two points crosses the segment. The line through the joint of two segments
        /// crosses one of them.
        package func isCrossed(from: MapPoint, to: MapPoint) -> Bool {
            guard (WallCrossings.side(of: start, from, to) >= 0) != (WallCrossings.side(of: end, from, to) >= 0) else {
                return false
            }
            return WallCrossings.side(of: from, start, end) * WallCrossings.side(of: to, start, end) < 0
        }
    }

    /// The parts of all walls.
    package let segments: [Segment]

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
        var count = 0
        for wall in segments {
            guard max(wall.start.x, wall.end.x) >= left, min(wall.start.x, wall.end.x) <= right,
                max(wall.start.y, wall.end.y) >= top, min(wall.start.y, wall.end.y) <= bottom
            else { continue }
            if wall.isCrossed(from: from, to: to) { count += 1 }
        }
        return count
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
    package static func side(of point: MapPoint, _ start: MapPoint, _ end: MapPoint) -> Double {
        (end.x - start.x) * (point.y - start.y) - (end.y - start.y) * (point.x - start.x)
    }
}
