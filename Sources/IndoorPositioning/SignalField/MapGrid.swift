import IndoorVocabulary

/// A regular grid of square cells over a part of a map.
package struct MapGrid: Hashable, Sendable {
    /// The corner of the first cell with the smallest coordinates, in metres.
    package let origin: MapPoint
    /// Edge of a cell in metres.
    package let cellSize: Double
    /// Number of cells along x.
    package let columns: Int
    /// Number of cells along y.
    package let rows: Int

    /// Number of cells.
    package var count: Int { columns * rows }

    /// More cells than this, such as of a plan in millimetres, would cost gigabytes: they are made larger then.
    private static let limit = 250_000.0

    /// Creates the grid that covers the box between two corners, with cells of at least `cellSize` metres.
    package init(from low: MapPoint, to high: MapPoint, cellSize: Double) {
        let (width, height) = (max(0, high.x - low.x), max(0, high.y - low.y))
        origin = low
        self.cellSize = max(cellSize, (width * height / Self.limit).squareRoot(), max(width, height) / Self.limit)
        columns = max(1, Self.whole((width / self.cellSize).rounded(.up), upTo: Int(Self.limit)))
        rows = max(1, Self.whole((height / self.cellSize).rounded(.up), upTo: Int(Self.limit)))
    }

    /// The number within `0...limit`; 0 for what is no number.
    private static func whole(_ number: Double, upTo limit: Int) -> Int {
        number > 0 ? Int(min(number, Double(limit))) : 0
    }

    /// The middle of a cell.
    package func center(of cell: Int) -> MapPoint {
        MapPoint(
            x: origin.x + (Double(cell % columns) + 0.5) * cellSize,
            y: origin.y + (Double(cell / columns) + 0.5) * cellSize)
    }

    /// The cell that contains the point; nil outside the grid.
    package func cell(at point: MapPoint) -> Int? {
        let column = ((point.x - origin.x) / cellSize).rounded(.down)
        let row = ((point.y - origin.y) / cellSize).rounded(.down)
        guard column >= 0, row >= 0, column < Double(columns), row < Double(rows) else { return nil }
        return Int(row) * columns + Int(column)
    }

    /// The columns and rows whose cells' middles lie within `radius` metres of the point along both axes.
    package func block(around point: MapPoint, radius: Double) -> (columns: Range<Int>, rows: Range<Int>) {
        (
            Self.range(point.x - origin.x, radius, cellSize, columns),
            Self.range(point.y - origin.y, radius, cellSize, rows)
        )
    }

    private static func range(_ offset: Double, _ radius: Double, _ cell: Double, _ count: Int) -> Range<Int> {
        let low = ((offset - radius) / cell - 0.5).rounded(.up)
        let high = ((offset + radius) / cell - 0.5).rounded(.down)
        let first = whole(low, upTo: count)
        let end = whole(high + 1, upTo: count)
        return first..<max(first, end)
    }
}
