import IndoorVocabulary
import VenueModel

/// Where on the plans of a venue somebody can be at all: on the plan, and in its walkable areas where it has some.
///
/// The areas are looked at cell by cell, when a map is first asked for; a cell of which some part is walkable is.
struct FloorSpace: Sendable {
    /// One map's plan.
    private struct Sheet: Sendable {
        var map: VenueMap
        var areas: [Area]
        /// Whether somebody can be in a cell; empty before it is asked for, and without areas.
        var isOpen: [Bool] = []
    }

    private var sheets: [Sheet]

    /// Takes the plans of a venue, in the order of its maps.
    init(venue: Venue) {
        sheets = venue.maps.map {
            Sheet(map: $0, areas: $0.walkable.map(Area.polygon))
        }
    }

    /// Whether a place from outside is near enough to a map's plan.
    func allows(_ fix: Fix, on mapIndex: Int) -> Bool { fix.problem(on: sheets[mapIndex].map) == nil }

    /// Looks at a map's areas, if that was not done before.
    ///
    /// - Parameter grid: the map's, always the same.
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

    /// Whether somebody can be at that place of a map.
    func contains(_ point: MapPoint, mapIndex: Int, by grid: MapGrid) -> Bool {
        let sheet = sheets[mapIndex]
        guard sheet.map.distanceOff(to: point) == 0 else { return false }
        guard !sheet.isOpen.isEmpty else { return true }
        return grid.cell(at: point).map { sheet.isOpen[$0] } ?? false
    }
}
