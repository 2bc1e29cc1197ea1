import IndoorVocabulary

/// A counter of the walls of a map that a straight line crosses.
package struct WallCrossings: Hashable, Sendable {
    private struct Segment: Hashable, Sendable {
        var start: MapPoint
        var end: MapPoint

        /// Returns whether the straight line between two points crosses the segment. The line through the joint of two segments
        /// crosses one of them.
        func isCrossed(from: MapPoint, to: MapPoint) -> Bool {
            guard (WallCrossings.side(of: start, from, to) >= 0) != (WallCrossings.side(of: end, from, to) >= 0) else {
                return false
            }
            return WallCrossings.side(of: from, start, end) * WallCrossings.side(of: to, start, end) < 0
        }
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
    fileprivate static func side(of point: MapPoint, _ start: MapPoint, _ end: MapPoint) -> Double {
        (end.x - start.x) * (point.y - start.y) - (end.y - start.y) * (point.x - start.x)
    }

    /// Returns the number of wall segments between a point and each point of a lattice, row by row; at most 255.
    ///
    /// The counts are those of `count(from:to:)`, in a time that is linear in the number of lattice points, and in the
    /// number of segments times that of rows: behind a segment, the points of a row that it hides are an interval.
    package func counts(from point: MapPoint, to lattice: Lattice) -> [UInt8] {
        guard lattice.columns > 0, lattice.rows > 0 else { return [] }
        var counts = [UInt8](repeating: 0, count: lattice.columns * lattice.rows)
        for segment in segments {
            guard let shadow = Shadow(of: segment, from: point) else { continue }
            for row in shadow.rows(of: lattice) {
                for column in shadow.columns(in: row, of: lattice) {
                    let place = row * lattice.columns + column
                    if counts[place] < .max { counts[place] += 1 }
                }
            }
        }
        return counts
    }

    /// A square lattice of points.
    package struct Lattice: Hashable, Sendable {
        /// The first point of the first row.
        package var origin: MapPoint
        /// The distance in metres between two points of a row, and between two rows.
        package var spacing: Double
        /// The number of points of a row.
        package var columns: Int
        /// The number of rows.
        package var rows: Int

        /// Creates a lattice.
        package init(origin: MapPoint, spacing: Double, columns: Int, rows: Int) {
            (self.origin, self.spacing, self.columns, self.rows) = (origin, spacing, columns, rows)
        }

        /// Creates a lattice over a map with a spacing in metres, or with a larger one that needs at most `limit` points.
        package init(over map: VenueMap, spacing: Double, atMost limit: Int) {
            func count(_ length: Double, _ spacing: Double) -> Int {
                let steps = (length / spacing).rounded(.up)
                return steps > 1 && steps.isFinite ? Int(min(steps, Double(limit))) : 1
            }
            var spacing = spacing
            var (columns, rows) = (count(map.width, spacing), count(map.height, spacing))
            while columns * rows > limit {
                spacing *= 1.1
                (columns, rows) = (count(map.width, spacing), count(map.height, spacing))
            }
            self.init(
                origin: MapPoint(x: spacing / 2, y: spacing / 2), spacing: spacing, columns: columns, rows: rows)
        }

        /// Returns the point of a column and a row.
        package func point(_ column: Int, _ row: Int) -> MapPoint {
            MapPoint(x: origin.x + Double(column) * spacing, y: origin.y + Double(row) * spacing)
        }

        /// Returns the position of the point nearest to another one in an array of the rows.
        package func nearest(to point: MapPoint) -> Int {
            min(index(of: point.y - origin.y, rows), rows - 1) * columns
                + min(index(of: point.x - origin.x, columns), columns - 1)
        }

        /// Returns the nearest step to a distance from the origin, from 0 to `count`.
        fileprivate func index(of distance: Double, _ count: Int) -> Int {
            let step = (distance / spacing).rounded()
            return step >= Double(count) ? count : step > 0 ? Int(step) : 0
        }
    }

    /// The points that a wall segment hides from a point: those beyond the segment, between the lines through its ends.
    private struct Shadow {
        private let segment: Segment
        private let point: MapPoint
        /// The half-planes whose intersection is the shadow, as the coefficients of a·x + b·y + c ≥ 0.
        private let sides: [(a: Double, b: Double, c: Double)]

        /// Creates the shadow; nil if the point is on the segment's line, which hides nothing.
        init?(of segment: Segment, from point: MapPoint) {
            self.segment = segment
            self.point = point
            let turn = WallCrossings.side(of: segment.end, point, segment.start)
            guard turn != 0 else { return nil }
            let sign = turn > 0 ? 1.0 : -1
            /// The points to the left of a line, or to its right.
            func half(_ from: MapPoint, _ to: MapPoint, _ sign: Double) -> (a: Double, b: Double, c: Double) {
                let (x, y) = (sign * (to.x - from.x), sign * (to.y - from.y))
                return (-y, x, y * from.x - x * from.y)
            }
            sides = [
                half(point, segment.start, sign), half(point, segment.end, -sign),
                half(segment.start, segment.end, -sign),
            ]
        }

        /// Returns the rows that the shadow can cover: behind a segment above or below the point, not those on its other side.
        func rows(of lattice: Lattice) -> Range<Int> {
            let (top, bottom) = (min(segment.start.y, segment.end.y), max(segment.start.y, segment.end.y))
            let first = top > point.y ? max(0, lattice.index(of: top - lattice.origin.y, lattice.rows) - 1) : 0
            let end =
                bottom < point.y
                ? min(lattice.rows, lattice.index(of: bottom - lattice.origin.y, lattice.rows) + 2) : lattice.rows
            return first..<max(first, end)
        }

        /// Returns the columns of a row that the shadow covers.
        func columns(in row: Int, of lattice: Lattice) -> Range<Int> {
            let y = lattice.origin.y + Double(row) * lattice.spacing
            var (low, high) = (-Double.infinity, Double.infinity)
            for side in sides {
                let rest = side.b * y + side.c
                if side.a > 0 {
                    low = max(low, -rest / side.a)
                } else if side.a < 0 {
                    high = min(high, -rest / side.a)
                } else if rest < 0 {
                    return 0..<0
                }
            }
            guard low <= high else { return 0..<0 }
            // Rounding decides at the edges, as it does for a single point.
            var first = lattice.index(of: low - lattice.origin.x, lattice.columns)
            var end = lattice.index(of: high - lattice.origin.x, lattice.columns)
            while first > 0, isHidden(first - 1, row, lattice) { first -= 1 }
            while first < end, !isHidden(first, row, lattice) { first += 1 }
            while end < lattice.columns, isHidden(end, row, lattice) { end += 1 }
            while end > first, !isHidden(end - 1, row, lattice) { end -= 1 }
            return first..<max(first, end)
        }

        private func isHidden(_ column: Int, _ row: Int, _ lattice: Lattice) -> Bool {
            segment.isCrossed(from: point, to: lattice.point(column, row))
        }
    }
}
