import IndoorVocabulary
import VenueModel

/// The cells of a map's grid whose centres people can reach.
struct WalkableCells: Sendable {
    let cells: [Int]

    /// Selects the cells within the walkable areas; all cells of the plan for a map without walkable areas.
    init(of map: VenueMap, grid: MapGrid) {
        let areas = map.walkable.map(Area.polygon)
        cells = (0..<grid.count).filter { cell in
            let point = grid.center(of: cell)
            guard point.x <= map.width, point.y <= map.height else { return false }
            return areas.isEmpty || areas.contains { $0.contains(point) }
        }
    }
}
