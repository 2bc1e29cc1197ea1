import IndoorVocabulary
import VenueModel

/// Where on the plans of a venue somebody can be at all: on the plan, and in its walkable areas where it has some.
///
/// The areas are looked at cell by cell, when a level is first asked for; a cell of which some part is walkable is.
struct FloorSpace: Sendable {
    /// One level's plan.
    private struct Sheet: Sendable {
        var map: VenueMap
        var areas: [Area]
        /// Whether somebody can be in a cell; empty before it is asked for, and without areas.
        var isOpen: [Bool] = []
    }

    private var sheets: [Sheet]

    /// Takes the plans of a venue, which are its levels in that order.
    init(venue: Venue) {
        sheets = venue.maps.map {
            Sheet(map: $0, areas: $0.walkable.map(Area.polygon))
        }
    }

    /// Whether a place from outside is near enough to a level's plan.
    func allows(_ fix: Fix, on level: Int) -> Bool { fix.problem(on: sheets[level].map) == nil }

    /// Looks at a level's areas, if that was not done before.
    ///
    /// - Parameter grid: the level's, always the same.
    mutating func survey(_ level: Int, by grid: MapGrid) {
        guard sheets[level].isOpen.isEmpty, !sheets[level].areas.isEmpty else { return }
        let areas = sheets[level].areas
        func isWalkable(_ point: MapPoint) -> Bool { areas.contains { $0.contains(point) } }
        let columns = grid.columns + 1
        let corners = (0..<columns * (grid.rows + 1)).map { corner in
            let (column, row) = (Double(corner % columns), Double(corner / columns))
            return isWalkable(grid.origin + MapPoint(x: column, y: row) * grid.cellSize)
        }
        sheets[level].isOpen = (0..<grid.count).map { cell in
            let first = cell / grid.columns * columns + cell % grid.columns
            let sides = [first, first + 1, first + columns, first + columns + 1]
            return sides.contains { corners[$0] } || isWalkable(grid.center(of: cell))
        }
    }

    /// Whether somebody can be at that place of a level.
    func contains(_ point: MapPoint, level: Int, by grid: MapGrid) -> Bool {
        let sheet = sheets[level]
        guard sheet.map.distanceOff(to: point) == 0 else { return false }
        guard !sheet.isOpen.isEmpty else { return true }
        return grid.cell(at: point).map { sheet.isOpen[$0] } ?? false
    }
}
