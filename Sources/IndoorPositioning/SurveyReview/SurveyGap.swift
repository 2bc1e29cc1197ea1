import IndoorVocabulary
import VenueModel

/// A connected part of a map's walkable area without a survey place nearby.
public struct SurveyGap: Hashable, Sendable {
    /// The map.
    public var mapID: MapID
    /// The area in m².
    public var area: Double
    /// The point of the gap that is farthest from all survey places of the map.
    public var point: MapPoint
    /// The distance in metres from that point to the nearest survey place; infinity if the map has none.
    public var distance: Double
    /// The edge of the cells in metres.
    public var cellSize: Double
    /// The centres of the cells.
    public var cells: [MapPoint]
}

extension Venue {
    /// Returns the parts of the walkable area that are farther than `distance` metres from all survey places, the
    /// largest first, without parts smaller than `leastArea` m².
    ///
    /// During a survey, the places are those visited so far. On a map without walkable areas, the rooms and what walls and
    /// rooms enclose are walkable; without these too, the whole map.
    public func surveyGaps(
        around places: [MapID: [MapPoint]], distance: Double = 5, leastArea: Double = 4
    ) -> [SurveyGap] {
        maps.flatMap { map in
            SurveyGapSearch(
                map: map, interior: MapInterior(of: map, in: self, usesSurvey: false), places: places[map.id] ?? [],
                distance: distance
            ).gaps()
        }.filter { $0.area >= leastArea }.sorted {
            ($1.area, $0.mapID.rawValue, $0.point.x, $0.point.y) < ($0.area, $1.mapID.rawValue, $1.point.x, $1.point.y)
        }
    }
}

extension RadioMap {
    /// Returns the gaps of the survey, as `Venue.surveyGaps(around:distance:leastArea:)` does.
    public func surveyGaps(in venue: Venue, distance: Double = 5, leastArea: Double = 4) -> [SurveyGap] {
        let places = Dictionary(grouping: fingerprints, by: \.mapID).mapValues { $0.map(\.point) }
        return venue.surveyGaps(around: places, distance: distance, leastArea: leastArea)
    }
}

/// The search for gaps on one map.
private struct SurveyGapSearch {
    let map: VenueMap
    let interior: MapInterior
    let places: [MapPoint]
    /// The maximum distance in metres between a covered cell and a survey place.
    let distance: Double

    /// The maximum number of cells of a map.
    private static let cellLimit = 10_000.0

    func gaps() -> [SurveyGap] {
        guard map.width > 0, map.height > 0 else { return [] }
        let grid = MapGrid(
            from: MapPoint(x: 0, y: 0), to: MapPoint(x: map.width, y: map.height),
            cellSize: max(1, (map.width * map.height / Self.cellLimit).squareRoot()))
        var far = [Double?](repeating: nil, count: grid.count)
        for cell in WalkableCells(of: map, interior, grid: grid).cells {
            let center = grid.center(of: cell)
            let nearest = places.reduce(Double.infinity) { min($0, $1.distance(to: center)) }
            if nearest > distance { far[cell] = nearest }
        }
        var gaps: [SurveyGap] = []
        for cell in far.indices where far[cell] != nil { gaps.append(takeGap(from: cell, grid, &far)) }
        return gaps
    }

    /// Removes the cells that are connected with a cell, and returns them as a gap.
    private func takeGap(from start: Int, _ grid: MapGrid, _ far: inout [Double?]) -> SurveyGap {
        var open = [(cell: start, nearest: far[start] ?? 0)]
        far[start] = nil
        var members: [(cell: Int, nearest: Double)] = []
        while let next = open.popLast() {
            members.append(next)
            let (row, column) = next.cell.quotientAndRemainder(dividingBy: grid.columns)
            for (x, y) in [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]
            where x >= 0 && y >= 0 && x < grid.columns && y < grid.rows {
                let cell = y * grid.columns + x
                guard let nearest = far[cell] else { continue }
                far[cell] = nil
                open.append((cell, nearest))
            }
        }
        let points = members.map { grid.center(of: $0.cell) }
        let farthest = members.max { $0.nearest < $1.nearest } ?? members[0]
        // Without any survey place, all cells are equally far; report the middle of the gap.
        let count = Double(points.count)
        let middle = MapPoint(
            x: points.reduce(0) { $0 + $1.x } / count, y: points.reduce(0) { $0 + $1.y } / count)
        let named =
            farthest.nearest < .infinity
            ? grid.center(of: farthest.cell)
            : points.min { $0.distance(to: middle) < $1.distance(to: middle) } ?? middle
        return SurveyGap(
            mapID: map.id, area: count * grid.cellSize * grid.cellSize, point: named, distance: farthest.nearest,
            cellSize: grid.cellSize, cells: points)
    }
}
