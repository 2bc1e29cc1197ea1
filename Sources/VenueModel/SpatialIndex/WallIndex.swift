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

    /// Returns whether the straight line between two points crosses a wall. For many lines, `table` answers faster.
    package func blocks(fromX x: Float, y: Float, toX: Float, y toY: Float) -> Bool {
        isEmpty ? false : table.blocks(fromX: x, y: y, toX: toX, y: toY)
    }
}

/// The walls of one map, sorted into the cells of a grid.
package struct WallTable: Sendable {
    /// A straight segment of a wall, in metres.
    struct Segment: Sendable {
        var x: Float
        var y: Float
        var dx: Float
        var dy: Float

        /// Returns the distance to a point in metres.
        func distance(toX pointX: Float, y pointY: Float) -> Float {
            let (x, y) = (pointX - x, pointY - y)
            let length = dx * dx + dy * dy
            let share = length > 0 ? min(max((x * dx + y * dy) / length, 0), 1) : 0
            let (apartX, apartY) = (x - share * dx, y - share * dy)
            return (apartX * apartX + apartY * apartY).squareRoot()
        }
    }

    package let grid: cmath_walls
    /// The cells in row order, followed by one cell for everything outside the grid.
    package private(set) var cells: [cmath_wall_cell] = []
    /// The walls, with four walls in each line of sixteen numbers.
    package private(set) var lines: [Float] = []

    /// The table without walls.
    static let empty = WallTable(
        grid: cmath_walls(left: 0, top: 0, scale: 1, columns: 0, rows: 0, reach: 1))

    private init(grid: cmath_walls) { self.grid = grid }

    /// Returns whether the straight line between two points crosses a wall.
    package func blocks(fromX x: Float, y: Float, toX: Float, y toY: Float) -> Bool {
        guard !cells.isEmpty else { return false }
        return withUnsafePointer(to: grid) { cmath_is_crossed($0, cells, lines, x, y, toX - x, toY - y) }
    }

    /// Creates a table by sorting segments into the cells of a grid.
    ///
    /// - Parameter slack: The distance in metres from the centre of a cell to its corners, plus a margin for rounding
    ///   errors.
    init(segments: [Segment], grid: cmath_walls, slack: Float) {
        self.init(grid: grid)
        var near = NearWalls(segments: segments, grid: grid, reach: grid.reach + slack)
        let (count, columns) = (Int(grid.columns) * Int(grid.rows), Int(grid.columns))
        cells.reserveCapacity(count + 1)
        for cell in 0..<count {
            let range = near.sort(cell)
            var made = cmath_wall_cell(
                first: 0, end: 0, clear: square(near.distance(0, in: range), slack),
                clear_but_first: square(near.distance(4, in: range), slack))
            near.arrange(range)
            if !range.isEmpty {
                // Adjacent cells often have the same walls; they then share their lines.
                let same = [cell - 1, cell - columns].first { $0 >= 0 && near.areSame($0, range) }
                (made.first, made.end) =
                    same.map { (cells[$0].first, cells[$0].end) } ?? append(near.walls[range], of: segments)
            }
            cells.append(made)
        }
        cells.append(
            cmath_wall_cell(first: 0, end: 0, clear: square(nil, slack), clear_but_first: square(nil, slack)))
    }

    /// Returns the squared distance from every point of a cell within which there is no wall.
    private func square(_ distance: Float?, _ slack: Float) -> Float {
        guard let distance else { return grid.reach * grid.reach }
        let clear = min(max(distance - slack, 0), grid.reach)
        return clear * clear
    }

    /// Adds the lines of some walls, and returns their range.
    private mutating func append(_ walls: ArraySlice<Int32>, of segments: [Segment]) -> (first: Int32, end: Int32) {
        let first = Int32(lines.count / 16)
        for start in stride(from: walls.startIndex, to: walls.endIndex, by: 4) {
            let four = start..<min(start + 4, walls.endIndex)
            for part in [\Segment.x, \.y, \.dx, \.dy] {
                for wall in four { lines.append(segments[Int(walls[wall])][keyPath: part]) }
                for _ in four.count..<4 { lines.append(0) }
            }
        }
        return (first, Int32(lines.count / 16))
    }

    /// Returns the columns and rows whose cells can be within reach of a wall.
    static func cells(
        around segment: Segment, _ grid: cmath_walls, _ reach: Float
    ) -> (columns: Range<Int>, rows: Range<Int>, count: Int) {
        let columns = range(segment.x, segment.dx, grid.left, grid.scale, reach, grid.columns)
        let rows = range(segment.y, segment.dy, grid.top, grid.scale, reach, grid.rows)
        return (columns, rows, columns.count * rows.count)
    }

    private static func range(
        _ from: Float, _ way: Float, _ origin: Float, _ scale: Float, _ reach: Float, _ count: Int32
    ) -> Range<Int> {
        let low = (min(from, from + way) - reach - origin) * scale - 1
        let high = (max(from, from + way) + reach - origin) * scale + 1
        let first = Int(min(max(low, 0), Float(count)))
        return first..<max(first, Int(min(max(high, 0), Float(count))))
    }
}

/// The walls near each cell of a grid.
private struct NearWalls {
    /// The start offset of each cell's walls, followed by the total number.
    private var starts: [Int32]
    /// The indexes of the walls, cell by cell.
    private(set) var walls: [Int32]
    /// The distance in metres from the centre of the cell to each wall.
    private var distances: [Float]

    /// The maximum number of walls for an insertion sort, which allocates no memory.
    private static let fewWalls = 24

    init(segments: [WallTable.Segment], grid: cmath_walls, reach: Float) {
        var starts = [Int32](repeating: 0, count: Int(grid.columns) * Int(grid.rows) + 1)
        // Search twice, because this needs less memory than storing the results.
        Self.forEach(segments, grid, reach) { cell, _, _ in starts[cell + 1] += 1 }
        for cell in 1..<starts.count { starts[cell] += starts[cell - 1] }
        var next = starts
        var walls = [Int32](repeating: 0, count: Int(starts[starts.count - 1]))
        var distances = [Float](repeating: 0, count: walls.count)
        Self.forEach(segments, grid, reach) { cell, wall, distance in
            let place = Int(next[cell])
            (walls[place], distances[place]) = (Int32(wall), distance)
            next[cell] += 1
        }
        (self.starts, self.walls, self.distances) = (starts, walls, distances)
    }

    /// Calls `body` for each wall and each cell whose centre is within reach of the wall.
    private static func forEach(
        _ segments: [WallTable.Segment], _ grid: cmath_walls, _ reach: Float,
        _ body: (_ cell: Int, _ wall: Int, _ distance: Float) -> Void
    ) {
        let columns = Int(grid.columns)
        for (wall, segment) in segments.enumerated() {
            let block = WallTable.cells(around: segment, grid, reach)
            for row in block.rows {
                let y = grid.top + (Float(row) + 0.5) / grid.scale
                for column in block.columns {
                    let x = grid.left + (Float(column) + 0.5) / grid.scale
                    let distance = segment.distance(toX: x, y: y)
                    if distance < reach { body(row * columns + column, wall, distance) }
                }
            }
        }
    }

    private func range(of cell: Int) -> Range<Int> { Int(starts[cell])..<Int(starts[cell + 1]) }

    /// Sorts the walls of a cell, the nearest first, and returns their range.
    mutating func sort(_ cell: Int) -> Range<Int> {
        let range = range(of: cell)
        if range.count <= Self.fewWalls {
            // The walls are in index order, and the sort is stable for equal distances.
            for end in range {
                var place = end
                while place > range.lowerBound, distances[place] < distances[place - 1] {
                    distances.swapAt(place, place - 1)
                    walls.swapAt(place, place - 1)
                    place -= 1
                }
            }
            return range
        }
        let sorted = range.map { (distances[$0], walls[$0]) }.sorted { $0 < $1 }
        for (place, entry) in zip(range, sorted) { (distances[place], walls[place]) = entry }
        return range
    }

    /// Returns the distance in metres to the n-th wall of a cell; nil if it has fewer.
    func distance(_ index: Int, in range: Range<Int>) -> Float? {
        index < range.count ? distances[range.lowerBound + index] : nil
    }

    /// Sorts the nearest four walls of a cell, and all others, by their indexes, so that equal sets of walls produce
    /// equal lines.
    mutating func arrange(_ range: Range<Int>) {
        let middle = min(range.lowerBound + 4, range.upperBound)
        order(range.lowerBound..<middle)
        order(middle..<range.upperBound)
    }

    private mutating func order(_ range: Range<Int>) {
        guard range.count <= Self.fewWalls else { return walls[range].sort() }
        for end in range {
            var place = end
            while place > range.lowerBound, walls[place] < walls[place - 1] {
                walls.swapAt(place, place - 1)
                place -= 1
            }
        }
    }

    /// Returns whether a cell has the same walls as a range.
    func areSame(_ cell: Int, _ range: Range<Int>) -> Bool {
        let other = self.range(of: cell)
        guard other.count == range.count else { return false }
        for offset in 0..<range.count where walls[other.lowerBound + offset] != walls[range.lowerBound + offset] {
            return false
        }
        return true
    }
}
