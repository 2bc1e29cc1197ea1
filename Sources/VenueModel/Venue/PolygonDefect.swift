import IndoorVocabulary

/// A defect that prevents a polygon from enclosing an unambiguous area.
///
/// A polygon without a defect is simple: its edges meet only at shared corners. Source: OGC 06-103r4, *Simple feature
/// access, part 1*, 2011, §6.1.11.
package enum PolygonDefect: Hashable, Sendable, CustomStringConvertible {
    /// Fewer than three distinct corners.
    case tooFewCorners
    /// All corners lie on one line.
    case noArea
    /// Two edges cross, touch or overlap. The index of an edge is that of its first corner.
    case edgesMeet(Int, Int)

    package var description: String {
        switch self {
        case .tooFewCorners: "the polygon has fewer than 3 distinct corners"
        case .noArea: "the corners of the polygon lie on one line"
        case .edgesMeet(let first, let second):
            "the polygon crosses or touches itself: the edges from corner \(first) and from corner \(second) meet"
        }
    }

    /// Creates the first defect found in a polygon with finite corners; nil if the polygon is simple.
    ///
    /// Consecutive equal corners count as one, so a ring can repeat its first corner at the end. Only edges with
    /// overlapping x ranges are compared. In the worst case, the time is quadratic in the number of corners; for
    /// typical plans, it is much less.
    package init?(in polygon: [MapPoint]) {
        let corners = Self.distinctNeighbours(in: polygon)
        guard Set(corners.map(\.point)).count >= 3 else {
            self = .tooFewCorners
            return
        }
        guard !Self.liesOnOneLine(corners) else {
            self = .noArea
            return
        }
        guard let defect = Self.meetingEdges(of: corners) else { return nil }
        self = defect
    }

    private typealias Corner = (index: Int, point: MapPoint)

    private static func distinctNeighbours(in polygon: [MapPoint]) -> [Corner] {
        var corners: [Corner] = []
        for (index, point) in polygon.enumerated() where point != corners.last?.point {
            corners.append((index, point))
        }
        while corners.count > 1, corners.first?.point == corners.last?.point { corners.removeLast() }
        return corners
    }

    /// Returns whether all corners are within one millimetre of a line, which is below the precision of any plan.
    private static func liesOnOneLine(_ corners: [Corner]) -> Bool {
        let first = corners[0].point
        guard let farthest = corners.map(\.point).max(by: { first.distance(to: $0) < first.distance(to: $1) }) else {
            return true
        }
        let tolerance = 0.001 * first.distance(to: farthest)
        return corners.allSatisfy { abs(LineSegment.side(of: $0.point, from: first, to: farthest)) <= tolerance }
    }

    /// Sweeps the edges by their left ends and compares those with overlapping x ranges.
    private static func meetingEdges(of corners: [Corner]) -> PolygonDefect? {
        let count = corners.count
        let edges = corners.indices.map { index in
            LineSegment(from: corners[index].point, to: corners[(index + 1) % count].point)
        }
        var open: [Int] = []
        for edge in edges.indices.sorted(by: { (edges[$0].minX, $0) < (edges[$1].minX, $1) }) {
            open.removeAll { edges[$0].maxX < edges[edge].minX }
            for other in open {
                let (first, second) = (min(edge, other), max(edge, other))
                let meet =
                    if second == first + 1 {
                        edges[first].foldsBack(into: edges[second])
                    } else if first == 0, second == count - 1 {
                        edges[second].foldsBack(into: edges[first])
                    } else {
                        edges[first].meets(edges[second])
                    }
                if meet { return .edgesMeet(corners[first].index, corners[second].index) }
            }
            open.append(edge)
        }
        return nil
    }
}

/// A line segment between two points of a map.
private struct LineSegment {
    var from: MapPoint
    var to: MapPoint

    var minX: Double { min(from.x, to.x) }
    var maxX: Double { max(from.x, to.x) }

    /// Returns a value above 0 for a point on one side of the line, below 0 on the other side, and 0 on the line.
    static func side(of point: MapPoint, from: MapPoint, to: MapPoint) -> Double {
        (to.x - from.x) * (point.y - from.y) - (to.y - from.y) * (point.x - from.x)
    }

    /// Returns whether two segments have a common point.
    func meets(_ other: LineSegment) -> Bool {
        let a = Self.side(of: other.from, from: from, to: to)
        let b = Self.side(of: other.to, from: from, to: to)
        let c = Self.side(of: from, from: other.from, to: other.to)
        let d = Self.side(of: to, from: other.from, to: other.to)
        if ((a > 0 && b < 0) || (a < 0 && b > 0)) && ((c > 0 && d < 0) || (c < 0 && d > 0)) { return true }
        return (a == 0 && boxContains(other.from)) || (b == 0 && boxContains(other.to))
            || (c == 0 && other.boxContains(from)) || (d == 0 && other.boxContains(to))
    }

    /// Returns whether `next`, which starts at the end of this segment, runs back along it.
    func foldsBack(into next: LineSegment) -> Bool {
        guard Self.side(of: next.to, from: from, to: to) == 0 else { return false }
        return (to.x - from.x) * (next.to.x - to.x) + (to.y - from.y) * (next.to.y - to.y) < 0
    }

    private func boxContains(_ point: MapPoint) -> Bool {
        point.x >= minX && point.x <= maxX && point.y >= min(from.y, to.y) && point.y <= max(from.y, to.y)
    }
}
