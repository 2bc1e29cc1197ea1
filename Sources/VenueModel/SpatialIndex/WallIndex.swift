import CMath
import IndoorVocabulary

/// A spatial index of the walls of one map.
///
/// The index is a grid in which each cell lists the walls around it, the nearest first. A query tests the walls within
/// reach of a movement four at a time; most movements are shorter than the distance to any wall. The walls are sorted
/// at the first query, once for all copies.
package struct WallIndex: Sendable {
    private let sorted: Once<WallTable>

    /// Whether the map has no walls.
    package let isEmpty: Bool

    /// The walls, sorted into the cells of the grid.
    package var table: WallTable { sorted.value }

    /// The distance in metres within which a cell lists walls, longer than most movements.
    private static let reach = 2.0
    /// The edge length of a cell in metres, unless the building is too large for it.
    private static let edge = 0.5
    /// The maximum number of cells. A larger grid, for example for walls given in millimetres, would need gigabytes;
    /// the index enlarges the cells instead.
    private static let cellLimit = 100_000.0

    /// Creates an index of the segments of polylines. Ignores segments with invalid ends.
    package init(walls: [[MapPoint]]) {
        isEmpty = !walls.contains { wall in zip(wall, wall.dropFirst()).contains { Self.isWall($0, $1) } }
        sorted = Once {
            let segments = Self.segments(of: walls)
            guard !segments.isEmpty else { return .empty }
            let grid = Self.grid(over: segments)
            return WallTable(segments: segments, grid: grid, slack: Self.slack(of: grid))
        }
    }

    /// Returns the number of cells around walls, summed over all walls. The memory and time of an index grow with this
    /// number.
    package static func cellCount(around walls: [[MapPoint]]) -> Int {
        let segments = segments(of: walls)
        guard !segments.isEmpty else { return 0 }
        let grid = grid(over: segments)
        let reach = grid.reach + slack(of: grid)
        return segments.reduce(0) { $0 + WallTable.cells(around: $1, grid, reach).count }
    }

    private static func segments(of walls: [[MapPoint]]) -> [WallTable.Segment] {
        var segments: [WallTable.Segment] = []
        for wall in walls {
            for (from, to) in zip(wall, wall.dropFirst()) where isWall(from, to) {
                segments.append(
                    WallTable.Segment(
                        x: Float(from.x), y: Float(from.y), dx: Float(to.x - from.x), dy: Float(to.y - from.y)))
            }
        }
        return segments
    }

    private static func isWall(_ from: MapPoint, _ to: MapPoint) -> Bool {
        from != to && isPlace(from) && isPlace(to)
    }

    /// Returns whether a point is valid: the squares of its coordinates must be finite.
    private static func isPlace(_ point: MapPoint) -> Bool { abs(point.x) < 1e15 && abs(point.y) < 1e15 }

    /// Returns the grid over all segments and the area within reach of them.
    private static func grid(over segments: [WallTable.Segment]) -> cmath_walls {
        func range(_ from: (WallTable.Segment) -> Float, _ way: (WallTable.Segment) -> Float) -> (
            low: Double, size: Double
        ) {
            var (low, high) = (Double.infinity, -Double.infinity)
            for segment in segments {
                let (start, end) = (Double(from(segment)), Double(from(segment) + way(segment)))
                (low, high) = (min(low, start, end), max(high, start, end))
            }
            return (low, high - low)
        }
        let (x, y) = (range(\.x, \.dx), range(\.y, \.dy))
        // The grid is larger than the bounding box of the walls: it also covers the reach around it.
        let edge = max(
            edge, ((x.size + 2 * reach) * (y.size + 2 * reach) / cellLimit).squareRoot(),
            max(x.size, y.size) / cellLimit)
        let reach = max(reach, 2 * edge)
        return cmath_walls(
            left: Float(x.low - reach), top: Float(y.low - reach), scale: Float(1 / edge),
            columns: Int32((x.size + 2 * reach) / edge) + 1, rows: Int32((y.size + 2 * reach) / edge) + 1,
            reach: Float(reach))
    }

    /// Returns half the diagonal of a cell plus a margin for rounding errors.
    private static func slack(of grid: cmath_walls) -> Float {
        let extent = abs(grid.left) + abs(grid.top) + Float(grid.columns + grid.rows) / grid.scale
        return 0.7072 / grid.scale + 0.001 + 2e-6 * extent
    }

    /// Returns whether the straight line between two points crosses a wall.
    package func blocks(fromX x: Float, y: Float, toX: Float, y toY: Float) -> Bool {
        guard !isEmpty else { return false }
        let table = table
        return withUnsafePointer(to: table.grid) {
            cmath_is_crossed($0, table.cells, table.lines, x, y, toX - x, toY - y)
        }
    }
}
