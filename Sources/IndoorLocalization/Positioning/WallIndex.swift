import CMath

/// The walls of one map, found by place.
///
/// A grid whose cells each know the walls around them, the nearest first. What is so near that a way from the cell may
/// meet it is tested four walls at a time; most ways are shorter than the distance to any wall.
package struct WallIndex: Sendable {
    let grid: cmath_walls
    /// Cell by cell, row by row; the last one stands for all that lies outside.
    let cells: [cmath_wall_cell]
    /// The walls, four in each line of sixteen numbers.
    let lines: [Float]

    /// Whether there is no wall at all.
    package var isEmpty: Bool { grid.columns == 0 }

    /// Metres from a cell within which its walls lie: longer than most ways.
    private static let reach = 2.0
    /// Edge of a cell in metres, where the building is not too large for it.
    private static let edge = 0.5
    /// More cells than this, such as of a wall in millimetres, would cost gigabytes: they are made larger then.
    private static let cellLimit = 100_000.0

    /// Sorts the segments of polylines into cells; a segment with an end that is no place is no wall.
    package init(walls: [[MapPoint]]) {
        let segments = Self.segments(of: walls)
        guard !segments.isEmpty else {
            grid = cmath_walls(left: 0, top: 0, scale: 1, columns: 0, rows: 0, reach: 1)
            (cells, lines) = ([], [])
            return
        }
        let grid = Self.grid(over: segments)
        let slack = Self.slack(of: grid)
        var distances = Distances(segments: segments, grid: grid, reach: grid.reach + slack)
        var table = LineTable(segments: segments, grid: grid, slack: slack)
        for cell in 0..<Int(grid.columns) * Int(grid.rows) { table.append(distances.takeWalls(of: cell)) }
        table.append([])
        self.grid = grid
        (cells, lines) = (table.cells, table.lines)
    }

    /// The cells around walls, added up over all of them: memory and time of an index grow with them.
    package static func cellCount(around walls: [[MapPoint]]) -> Int {
        let segments = segments(of: walls)
        guard !segments.isEmpty else { return 0 }
        let grid = grid(over: segments)
        let reach = grid.reach + slack(of: grid)
        return segments.reduce(0) { $0 + Distances.cells(around: $1, grid, reach).count }
    }

    private static func segments(of walls: [[MapPoint]]) -> [Segment] {
        var segments: [Segment] = []
        for wall in walls {
            for (from, to) in zip(wall, wall.dropFirst()) where from != to && isPlace(from) && isPlace(to) {
                segments.append(
                    Segment(x: Float(from.x), y: Float(from.y), dx: Float(to.x - from.x), dy: Float(to.y - from.y)))
            }
        }
        return segments
    }

    /// Whether a point may lie in a building: squares of its coordinates are numbers, too.
    private static func isPlace(_ point: MapPoint) -> Bool { abs(point.x) < 1e15 && abs(point.y) < 1e15 }

    /// The grid over all segments and what lies within reach of them.
    private static func grid(over segments: [Segment]) -> cmath_walls {
        func range(_ from: (Segment) -> Float, _ way: (Segment) -> Float) -> (low: Double, size: Double) {
            var (low, high) = (Double.infinity, -Double.infinity)
            for segment in segments {
                let (start, end) = (Double(from(segment)), Double(from(segment) + way(segment)))
                (low, high) = (min(low, start, end), max(high, start, end))
            }
            return (low, high - low)
        }
        let (x, y) = (range(\.x, \.dx), range(\.y, \.dy))
        // With a margin of the reach around it, the grid has more cells than the walls' own box.
        let edge = max(
            edge, ((x.size + 2 * reach) * (y.size + 2 * reach) / cellLimit).squareRoot(),
            max(x.size, y.size) / cellLimit)
        let reach = max(reach, 2 * edge)
        return cmath_walls(
            left: Float(x.low - reach), top: Float(y.low - reach), scale: Float(1 / edge),
            columns: Int32((x.size + 2 * reach) / edge) + 1, rows: Int32((y.size + 2 * reach) / edge) + 1,
            reach: Float(reach))
    }

    /// Half a cell's diagonal, and more than rounding takes.
    private static func slack(of grid: cmath_walls) -> Float {
        let extent = abs(grid.left) + abs(grid.top) + Float(grid.columns + grid.rows) / grid.scale
        return 0.7072 / grid.scale + 0.001 + 2e-6 * extent
    }

    /// Whether the straight way between two points crosses a wall.
    package func blocks(fromX x: Float, y: Float, toX: Float, y toY: Float) -> Bool {
        guard !isEmpty else { return false }
        return withUnsafePointer(to: grid) { cmath_is_crossed($0, cells, lines, x, y, toX - x, toY - y) }
    }
}

extension WallIndex {
    /// A straight piece of a wall, in metres.
    fileprivate struct Segment {
        var x: Float
        var y: Float
        var dx: Float
        var dy: Float

        /// Metres to a point.
        func distance(toX pointX: Float, y pointY: Float) -> Float {
            let (x, y) = (pointX - x, pointY - y)
            let length = dx * dx + dy * dy
            let share = length > 0 ? min(max((x * dx + y * dy) / length, 0), 1) : 0
            let (apartX, apartY) = (x - share * dx, y - share * dy)
            return (apartX * apartX + apartY * apartY).squareRoot()
        }
    }

    /// A wall near a cell, and its distance from the cell's middle in metres.
    fileprivate typealias Near = (wall: Int, distance: Float)

    /// Which walls are near each cell.
    fileprivate struct Distances {
        private var near: [[Near]]

        init(segments: [Segment], grid: cmath_walls, reach: Float) {
            near = Array(repeating: [], count: Int(grid.columns) * Int(grid.rows))
            for (wall, segment) in segments.enumerated() {
                let block = Self.cells(around: segment, grid, reach)
                for row in block.rows {
                    for column in block.columns {
                        let x = grid.left + (Float(column) + 0.5) / grid.scale
                        let y = grid.top + (Float(row) + 0.5) / grid.scale
                        let distance = segment.distance(toX: x, y: y)
                        guard distance < reach else { continue }
                        near[row * Int(grid.columns) + column].append((wall, distance))
                    }
                }
            }
        }

        /// The columns and rows that may lie within reach of a wall.
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

        /// The walls near a cell, the nearest first; they are forgotten here.
        mutating func takeWalls(of cell: Int) -> [Near] {
            let walls = near[cell]
            near[cell] = []
            return walls.sorted { ($0.distance, $0.wall) < ($1.distance, $1.wall) }
        }
    }

    /// The cells and their lines of walls, in the making.
    fileprivate struct LineTable {
        private let segments: [Segment]
        private let columns: Int
        private let reach: Float
        private let slack: Float
        private(set) var cells: [cmath_wall_cell] = []
        private(set) var lines: [Float] = []
        /// The walls of the last row's cells, to find lines that are there already.
        private var recent: [[Int]] = []

        init(segments: [Segment], grid: cmath_walls, slack: Float) {
            (self.segments, columns, reach, self.slack) = (segments, Int(grid.columns), grid.reach, slack)
        }

        mutating func append(_ near: [Near]) {
            let walls = Self.canonical(near.map(\.wall))
            var cell = cmath_wall_cell(
                first: 0, end: 0, clear: square(near.first?.distance),
                clear_but_first: square(near.count > 4 ? near[4].distance : nil))
            if !walls.isEmpty {
                (cell.first, cell.end) = place(of: walls)
            }
            cells.append(cell)
            recent.append(walls)
        }

        /// The nearest four walls in any order are the same line.
        private static func canonical(_ walls: [Int]) -> [Int] {
            walls.prefix(4).sorted() + walls.dropFirst(4).sorted()
        }

        /// The square of what is clear of walls all over a cell.
        private func square(_ distance: Float?) -> Float {
            guard let distance else { return reach * reach }
            let clear = min(max(distance - slack, 0), reach)
            return clear * clear
        }

        /// Where lines of these walls are, as of the neighbouring cells, or new ones.
        private mutating func place(of walls: [Int]) -> (first: Int32, end: Int32) {
            for neighbour in [cells.count - 1, cells.count - columns] where neighbour >= 0 {
                if recent[neighbour] == walls { return (cells[neighbour].first, cells[neighbour].end) }
            }
            let first = Int32(lines.count / 16)
            for start in stride(from: 0, to: walls.count, by: 4) {
                let four = walls[start..<min(start + 4, walls.count)].map { segments[$0] }
                for part in [\Segment.x, \.y, \.dx, \.dy] {
                    lines += four.map { $0[keyPath: part] }
                    lines += repeatElement(0, count: 4 - four.count)
                }
            }
            return (first, Int32(lines.count / 16))
        }
    }
}
