import IndoorVocabulary
import VenueModel

/// A regular grid of square cells over part of a map.
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

    /// The maximum number of cells. A plan with its size in millimetres, for example, would need gigabytes; the grid
    /// enlarges its cells instead.
    private static let limit = 250_000.0

    /// Creates the grid that covers the box between two corners, with cells of at least `cellSize` metres.
    package init(from low: MapPoint, to high: MapPoint, cellSize: Double) {
        let (width, height) = (max(0, high.x - low.x), max(0, high.y - low.y))
        origin = low
        self.cellSize = max(cellSize, (width * height / Self.limit).squareRoot(), max(width, height) / Self.limit)
        columns = max(1, Self.whole((width / self.cellSize).rounded(.up), upTo: Int(Self.limit)))
        rows = max(1, Self.whole((height / self.cellSize).rounded(.up), upTo: Int(Self.limit)))
    }

    /// Returns the number clamped to `0...limit`; 0 for NaN.
    private static func whole(_ number: Double, upTo limit: Int) -> Int {
        number > 0 ? Int(min(number, Double(limit))) : 0
    }

    /// Returns the center of a cell.
    package func center(of cell: Int) -> MapPoint {
        MapPoint(
            x: origin.x + (Double(cell % columns) + 0.5) * cellSize,
            y: origin.y + (Double(cell / columns) + 0.5) * cellSize)
    }

    /// Returns the cell that contains the point; nil outside the grid.
    package func cell(at point: MapPoint) -> Int? {
        let column = ((point.x - origin.x) / cellSize).rounded(.down)
        let row = ((point.y - origin.y) / cellSize).rounded(.down)
        guard column >= 0, row >= 0, column < Double(columns), row < Double(rows) else { return nil }
        return Int(row) * columns + Int(column)
    }

    /// Returns the column or the row at a coordinate in metres, or the nearest one.
    func column(at x: Double) -> Int { Self.step((x - origin.x) / cellSize, columns) }
    func row(at y: Double) -> Int { Self.step((y - origin.y) / cellSize, rows) }

    /// Returns the cell that contains the point, or the nearest one outside the grid.
    func nearestCell(to point: MapPoint) -> Int { row(at: point.y) * columns + column(at: point.x) }

    private static func step(_ steps: Double, _ count: Int) -> Int { min(whole(steps, upTo: count), count - 1) }

    /// Returns the columns and rows whose cell centers lie within `radius` metres of the point along both axes.
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

extension MapGrid {
    /// The target number of cells on a map, which gives cells of up to 1 m in a house; the cell edge is between 0.5 and
    /// 1.5 m.
    private static let cellTarget = 6000.0
    /// The maximum distance in metres at which a beacon can be detected.
    static let longestRange = 100.0

    /// Creates a grid that covers the plan and all surveyed places and beacons outside it, except for beacons that are
    /// too far away to be detected.
    ///
    /// - Parameter cellScale: the factor on the edge of the cells, at least 1.
    init(of map: VenueMap, in venue: Venue, cellScale: Double = 1) {
        var low = MapPoint(x: 0, y: 0)
        var high = MapPoint(x: map.width, y: map.height)
        let beacons = venue.beacons.filter { $0.mapID == map.id }.map(\.point).filter { point in
            let beyond = max(-point.x, -point.y, point.x - map.width, point.y - map.height)
            return beyond <= Self.longestRange
        }
        let places = venue.radioMap?.fingerprints.filter { $0.mapID == map.id } ?? []
        for point in places.map(\.point) + beacons {
            low = MapPoint(x: min(low.x, point.x), y: min(low.y, point.y))
            high = MapPoint(x: max(high.x, point.x), y: max(high.y, point.y))
        }
        let area = max(1, (high.x - low.x) * (high.y - low.y))
        let usual = min(max((area / Self.cellTarget).squareRoot(), 0.5), 1.5)
        let cell = max(usual * max(cellScale, 1), ModelSize.leastCellSize(of: venue))
        self.init(from: low, to: high, cellSize: cell)
    }
}

extension MapGrid {
    /// Returns the mean squared distance in m² between a point and the points of the grid: the expected squared error
    /// of the point if the position is unknown.
    func meanSquare(from point: MapPoint) -> Double {
        let (width, height) = (Double(columns) * cellSize, Double(rows) * cellSize)
        let away = (origin + MapPoint(x: width, y: height) * 0.5).distance(to: point)
        return (width * width + height * height) / 12 + away * away
    }
}
