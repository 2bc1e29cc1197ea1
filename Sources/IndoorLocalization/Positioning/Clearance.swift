/// How far it is at least from each place to the next wall, so that most steps need no look at the walls.
struct Clearance: Sendable {
    /// Square of the distance in m² that is clear of walls around every point of a cell.
    private var squares: [Float]
    private let left: Float
    private let top: Float
    /// Cells a metre.
    private let scale: Float
    private let columns: Int
    private let rows: Int

    /// Distances beyond this, in metres, are no longer than any step.
    private static let reach: Float = 2
    /// Edge of a cell in metres, where the building is not too large for it.
    private static let edge = 0.25
    /// More cells than this don't fit into a processor's cache.
    private static let limit = 250_000.0

    /// Measures the distances to walls, each a point and the way to its end, within a box.
    init(
        _ walls: [(x: Float, y: Float, dx: Float, dy: Float)], from origin: MapPoint, width: Double, height: Double
    ) {
        let edge = max(
            Self.edge, (width * height / Self.limit).squareRoot(), max(width, height) / Self.limit)
        (left, top, scale) = (Float(origin.x), Float(origin.y), 1 / Float(edge))
        columns = Int(width / edge) + 1
        rows = Int(height / edge) + 1
        var distances = [Float](repeating: Self.reach, count: walls.isEmpty ? 0 : columns * rows)
        for wall in walls { Self.lower(&distances, to: wall, left, top, scale, columns, rows) }
        // Half a cell's diagonal, and more than rounding takes.
        let slack = 0.7072 / scale + 0.001 + 1e-6 * (abs(left) + abs(top) + Float(width + height))
        squares = distances.map { $0 > slack ? ($0 - slack) * ($0 - slack) : 0 }
    }

    private static func lower(
        _ distances: inout [Float], to wall: (x: Float, y: Float, dx: Float, dy: Float), _ left: Float, _ top: Float,
        _ scale: Float, _ columns: Int, _ rows: Int
    ) {
        func range(_ from: Float, _ way: Float, _ origin: Float, _ count: Int) -> Range<Int> {
            let low = (min(from, from + way) - reach - origin) * scale
            let high = (max(from, from + way) + reach - origin) * scale
            let first = Int(min(max(low, 0), Float(count)))
            return first..<max(first, Int(min(max(high, 0), Float(count - 1))) + 1)
        }
        let length = wall.dx * wall.dx + wall.dy * wall.dy
        for row in range(wall.y, wall.dy, top, rows) {
            for column in range(wall.x, wall.dx, left, columns) {
                let x = left + (Float(column) + 0.5) / scale - wall.x
                let y = top + (Float(row) + 0.5) / scale - wall.y
                let share = length > 0 ? min(max((x * wall.dx + y * wall.dy) / length, 0), 1) : 0
                let (dx, dy) = (x - share * wall.dx, y - share * wall.dy)
                let cell = row * columns + column
                distances[cell] = min(distances[cell], (dx * dx + dy * dy).squareRoot())
            }
        }
    }

    /// Whether a way meets no wall for sure; outside the box, nothing is sure.
    @inline(__always)
    func allows(_ x: Float, _ y: Float, _ dx: Float, _ dy: Float) -> Bool {
        let (column, row) = ((x - left) * scale, (y - top) * scale)
        guard column >= 0, row >= 0, column < Float(columns), row < Float(rows) else { return false }
        return dx * dx + dy * dy < squares[Int(row) &* columns &+ Int(column)]
    }
}
