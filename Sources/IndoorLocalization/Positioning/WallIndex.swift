/// The walls of one map, found by place.
package struct WallIndex: Sendable {
    private struct Segment: Sendable {
        var x: Float
        var y: Float
        var dx: Float
        var dy: Float
    }

    /// The walls cell by cell, those that reach over several in each.
    private let segments: [Segment]
    /// Where each cell's walls begin in `segments`, and where the last cell's end.
    private let starts: [Int32]
    private let clearance: Clearance
    private let origin: MapPoint
    /// Cells a metre.
    private let scale: Float
    private let columns: Int
    private let rows: Int

    /// Smallest edge of a cell in metres: longer than a step, shorter than a room.
    private static let smallestCell = 2.0
    /// More cells than this, such as of a wall in millimetres, would cost gigabytes: they are made larger then.
    private static let cellLimit = 250_000.0

    /// Whether there is no wall at all.
    package var isEmpty: Bool { segments.isEmpty }

    /// Sorts the segments of polylines into cells; a segment with an end that is no place is no wall.
    package init(walls: [[MapPoint]]) {
        var found: [Segment] = []
        var low = MapPoint(x: .infinity, y: .infinity)
        var high = MapPoint(x: -.infinity, y: -.infinity)
        for wall in walls {
            for (from, to) in zip(wall, wall.dropFirst()) where from != to && Self.isPlace(from) && Self.isPlace(to) {
                found.append(
                    Segment(x: Float(from.x), y: Float(from.y), dx: Float(to.x - from.x), dy: Float(to.y - from.y)))
                low = MapPoint(x: min(low.x, from.x, to.x), y: min(low.y, from.y, to.y))
                high = MapPoint(x: max(high.x, from.x, to.x), y: max(high.y, from.y, to.y))
            }
        }
        origin = found.isEmpty ? MapPoint(x: 0, y: 0) : low
        let (width, height) = found.isEmpty ? (0, 0) : (high.x - low.x, high.y - low.y)
        let edge = max(
            Self.smallestCell, (width * height / Self.cellLimit).squareRoot(), max(width, height) / Self.cellLimit)
        scale = 1 / Float(edge)
        // One cell more than the box fills: rounded to `Float`, a wall on its far edge may lie beyond the last full one.
        columns = Int(width * Double(scale)) + 2
        rows = Int(height * Double(scale)) + 2
        var lists = [[Int32]](repeating: [], count: columns * rows)
        for (index, segment) in found.enumerated() {
            let range = Self.cells(segment, origin, scale, columns, rows)
            for row in range.rows { for column in range.columns { lists[row * columns + column].append(Int32(index)) } }
        }
        var starts: [Int32] = [0]
        for list in lists { starts.append((starts.last ?? 0) + Int32(list.count)) }
        self.starts = starts
        segments = lists.flatMap { $0.map { found[Int($0)] } }
        clearance = Clearance(found.map { ($0.x, $0.y, $0.dx, $0.dy) }, from: origin, width: width, height: height)
    }

    /// Whether a point may lie in a building: squares of its coordinates are numbers, too.
    private static func isPlace(_ point: MapPoint) -> Bool { abs(point.x) < 1e15 && abs(point.y) < 1e15 }

    /// Whether the straight way between two points crosses a wall.
    package func blocks(fromX x: Float, y: Float, toX: Float, y toY: Float) -> Bool {
        guard !segments.isEmpty else { return false }
        let way = Segment(x: x, y: y, dx: toX - x, dy: toY - y)
        guard !clearance.allows(x, y, way.dx, way.dy) else { return false }
        return isCrossed(way, segments.span, starts.span)
    }

    private func isCrossed(_ way: Segment, _ segments: Span<Segment>, _ starts: Span<Int32>) -> Bool {
        let range = Self.cells(way, origin, scale, columns, rows)
        for row in range.rows {
            for column in range.columns {
                let cell = row &* columns &+ column
                for member in Int(starts[cell])..<Int(starts[cell &+ 1]) where Self.cross(way, segments[member]) {
                    return true
                }
            }
        }
        return false
    }

    /// Moves points as far as no wall stops them.
    ///
    /// - Parameters:
    ///   - range: of the points in `x` and `y`.
    ///   - dx: how far each is to be moved, from `start` on; likewise `dy`.
    ///   - blocked: takes the indexes of the points that a wall stops, which stay where they are.
    /// - Returns: the number of these.
    func move(
        _ range: Range<Int>, _ x: inout [Float], _ y: inout [Float], by dx: [Float], _ dy: [Float], from start: Int,
        blocked: inout [Int32]
    ) -> Int {
        let (segments, starts, dx, dy) = (segments.span, starts.span, dx.span, dy.span)
        var x = x.mutableSpan
        var y = y.mutableSpan
        var blocked = blocked.mutableSpan
        var count = 0
        for index in range {
            let offset = index &- range.lowerBound &+ start
            let (toX, toY) = (x[index] + dx[offset], y[index] + dy[offset])
            let way = Segment(x: x[index], y: y[index], dx: toX - x[index], dy: toY - y[index])
            let isFree = segments.isEmpty || clearance.allows(way.x, way.y, way.dx, way.dy)
            if isFree || !isCrossed(way, segments, starts) {
                x[index] = toX
                y[index] = toY
            } else {
                blocked[count] = Int32(truncatingIfNeeded: index)
                count &+= 1
            }
        }
        return count
    }

    private static func cells(
        _ segment: Segment, _ origin: MapPoint, _ scale: Float, _ columns: Int, _ rows: Int
    ) -> (columns: Range<Int>, rows: Range<Int>) {
        func range(_ from: Float, _ delta: Float, _ origin: Double, _ count: Int) -> Range<Int> {
            let low = (min(from, from + delta) - Float(origin)) * scale
            let high = (max(from, from + delta) - Float(origin)) * scale
            guard high >= 0, low < Float(count) else { return 0..<0 }
            return Int(max(low, 0))..<Int(min(high + 1, Float(count)))
        }
        return (range(segment.x, segment.dx, origin.x, columns), range(segment.y, segment.dy, origin.y, rows))
    }

    /// Whether two segments cross: each one's ends lie on both sides of the other.
    private static func cross(_ a: Segment, _ b: Segment) -> Bool {
        let denominator = a.dx * b.dy - a.dy * b.dx
        let t = (b.x - a.x) * b.dy - (b.y - a.y) * b.dx
        let u = (b.x - a.x) * a.dy - (b.y - a.y) * a.dx
        // Both are shares of the denominator from 0 to 1, whichever its sign: a division costs more than all the rest.
        return denominator > 0
            ? t >= 0 && t <= denominator && u >= 0 && u <= denominator
            : denominator < 0 && t <= 0 && t >= denominator && u <= 0 && u >= denominator
    }
}
