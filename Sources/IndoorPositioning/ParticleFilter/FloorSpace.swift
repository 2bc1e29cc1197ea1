import IndoorVocabulary
import VenueModel

/// The accessible area of each floor plan: the plan itself or, if the plan has walkable areas, these areas.
///
/// The areas are rasterized when a map is first used; a cell that is partly walkable is accessible.
struct FloorSpace: Sendable {
    /// The plan of one map.
    private struct Sheet: Sendable {
        var map: VenueMap
        var areas: [Area]
        /// Whether each cell is accessible; empty before the first use, and for a plan without areas.
        var isOpen: [Bool] = []
    }

    private var sheets: [Sheet]

    /// Creates the space of a venue's plans, in the order of its maps.
    init(venue: Venue) {
        sheets = venue.maps.map {
            Sheet(map: $0, areas: $0.walkable.map(Area.polygon))
        }
    }

    /// Returns whether an external fix is near enough to a map's plan.
    func allows(_ fix: Fix, on mapIndex: Int) -> Bool { fix.problem(on: sheets[mapIndex].map) == nil }

    /// Rasterizes a map's areas on the first call.
    ///
    /// - Parameter grid: the map's grid, the same in every call.
    mutating func survey(_ mapIndex: Int, by grid: MapGrid) {
        guard sheets[mapIndex].isOpen.isEmpty, !sheets[mapIndex].areas.isEmpty else { return }
        let areas = sheets[mapIndex].areas
        func isWalkable(_ point: MapPoint) -> Bool { areas.contains { $0.contains(point) } }
        let columns = grid.columns + 1
        let corners = (0..<columns * (grid.rows + 1)).map { corner in
            let (column, row) = (Double(corner % columns), Double(corner / columns))
            return isWalkable(grid.origin + MapPoint(x: column, y: row) * grid.cellSize)
        }
        sheets[mapIndex].isOpen = (0..<grid.count).map { cell in
            let first = cell / grid.columns * columns + cell % grid.columns
            let sides = [first, first + 1, first + columns, first + columns + 1]
            return sides.contains { corners[$0] } || isWalkable(grid.center(of: cell))
        }
    }

    /// Returns whether a point of a map is accessible.
    func contains(_ point: MapPoint, mapIndex: Int, by grid: MapGrid) -> Bool {
        let sheet = sheets[mapIndex]
        guard sheet.map.distanceOff(to: point) == 0 else { return false }
        guard !sheet.isOpen.isEmpty else { return true }
        return grid.cell(at: point).map { sheet.isOpen[$0] } ?? false
    }
}
