import IndoorVocabulary
import VenueModel

extension WallCrossings {
    /// Returns the number of wall segments between a point and the center of each cell of a rectangle, row by row; at most 255.
    ///
    /// The counts are those of `count(from:to:)`, in a time that is linear in the number of cells, and in the number of
    /// segments times that of rows: behind a segment, the cells of a row that it hides are an interval.
    func counts(from point: MapPoint, to grid: MapGrid, columns: Range<Int>, rows: Range<Int>) -> [UInt8] {
        var counts = [UInt8](repeating: 0, count: columns.count * rows.count)
        for segment in segments {
            guard let shadow = WallShadow(of: segment, from: point) else { continue }
            for row in shadow.rows(of: grid).clamped(to: rows) {
                let first = (row - rows.lowerBound) * columns.count - columns.lowerBound
                for column in shadow.columns(in: row, of: grid).clamped(to: columns) where counts[first + column] < .max
                {
                    counts[first + column] += 1
                }
            }
        }
        return counts
    }
}

/// The number of walls between a beacon and the points of its map, as a table.
struct WallCounts: Sendable {
    private let grid: MapGrid
    private let counts: [UInt8]

    /// The edge of a cell in metres, and the number of cells above which the cells are larger.
    private static let edge = 0.5
    private static let mostCells = 40_000.0

    init(from beacon: MapPoint, on map: VenueMap, _ walls: WallCrossings) {
        let edge = max(Self.edge, (map.width * map.height / Self.mostCells).squareRoot())
        grid = MapGrid(from: MapPoint(x: 0, y: 0), to: MapPoint(x: map.width, y: map.height), cellSize: edge)
        counts = walls.counts(from: beacon, to: grid, columns: 0..<grid.columns, rows: 0..<grid.rows)
    }

    /// The number of cells.
    var cellCount: Int { counts.count }

    /// Returns the number of walls that attenuate the signal at a point.
    func count(to point: MapPoint) -> Double { Double(min(counts[grid.nearestCell(to: point)], SignalModel.mostWalls)) }
}

/// The points that a wall segment hides from a point: those beyond the segment, between the lines through its ends.
private struct WallShadow {
    private let segment: WallCrossings.Segment
    private let point: MapPoint
    /// The half-planes whose intersection is the shadow, as the coefficients of a·x + b·y + c ≥ 0.
    private let sides: [(a: Double, b: Double, c: Double)]

    /// Creates the shadow; nil if the point is on the segment's line, which hides nothing.
    init?(of segment: WallCrossings.Segment, from point: MapPoint) {
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
    func rows(of grid: MapGrid) -> Range<Int> {
        let (top, bottom) = (min(segment.start.y, segment.end.y), max(segment.start.y, segment.end.y))
        let first = top > point.y ? grid.row(at: top) : 0
        let end = bottom < point.y ? min(grid.rows, grid.row(at: bottom) + 1) : grid.rows
        return first..<max(first, end)
    }

    /// Returns the columns of a row that the shadow covers.
    func columns(in row: Int, of grid: MapGrid) -> Range<Int> {
        let y = grid.center(of: row * grid.columns).y
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
        var (first, end) = (grid.column(at: low), min(grid.columns, grid.column(at: high) + 1))
        while first > 0, isHidden(row * grid.columns + first - 1, grid) { first -= 1 }
        while first < end, !isHidden(row * grid.columns + first, grid) { first += 1 }
        while end < grid.columns, isHidden(row * grid.columns + end, grid) { end += 1 }
        while end > first, !isHidden(row * grid.columns + end - 1, grid) { end -= 1 }
        return first..<max(first, end)
    }

    private func isHidden(_ cell: Int, _ grid: MapGrid) -> Bool {
        segment.isCrossed(from: point, to: grid.center(of: cell))
    }
}
