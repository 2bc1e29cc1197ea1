import CMath
import IndoorVocabulary
import VenueModel

/// The accessible area of each floor plan: the plan itself or, if the plan has walkable areas, these areas.
///
/// The areas are rasterized when a map is first used; a cell that is partly walkable is accessible.
struct FloorSpace: Sendable {
    /// The plan of one map.
    private struct Floor: Sendable {
        var map: VenueMap
        var areas: [Area]
        /// Whether each cell is accessible; empty before the first use, and for a plan without areas.
        var isOpen: [Bool] = []
    }

    private var floors: [Floor]

    /// Creates the space of a venue's plans, in the order of its maps.
    init(venue: Venue) {
        floors = venue.maps.map {
            Floor(map: $0, areas: $0.walkable.map(Area.polygon))
        }
    }

    /// Returns whether an external fix is near enough to a map's plan.
    func allows(_ fix: Fix, on mapIndex: Int) -> Bool { fix.problem(on: floors[mapIndex].map) == nil }

    /// Rasterizes a map's areas on the first call.
    ///
    /// - Parameter grid: the map's grid, the same in every call.
    mutating func survey(_ mapIndex: Int, by grid: MapGrid) {
        guard floors[mapIndex].isOpen.isEmpty, !floors[mapIndex].areas.isEmpty else { return }
        let areas = floors[mapIndex].areas
        func isWalkable(_ point: MapPoint) -> Bool { areas.contains { $0.contains(point) } }
        let columns = grid.columns + 1
        let corners = (0..<columns * (grid.rows + 1)).map { corner in
            let (column, row) = (Double(corner % columns), Double(corner / columns))
            return isWalkable(grid.origin + MapPoint(x: column, y: row) * grid.cellSize)
        }
        floors[mapIndex].isOpen = (0..<grid.count).map { cell in
            let first = cell / grid.columns * columns + cell % grid.columns
            let sides = [first, first + 1, first + columns, first + columns + 1]
            return sides.contains { corners[$0] } || isWalkable(grid.center(of: cell))
        }
    }

    /// Returns whether a point of a map is accessible.
    func contains(_ point: MapPoint, mapIndex: Int, by grid: MapGrid) -> Bool {
        let floor = floors[mapIndex]
        guard floor.map.distanceOff(to: point) == 0 else { return false }
        guard !floor.isOpen.isEmpty else { return true }
        return grid.cell(at: point).map { floor.isOpen[$0] } ?? false
    }
}

/// Transforms between floor-plan coordinate systems.
///
/// Each plan can have its own coordinate system. If both plans are georeferenced, the transform uses geographic
/// coordinates. Otherwise it aligns the plans at a stair or an elevator of the path graph. Without such a link it
/// assumes that the coordinates are the same.
package struct FloorLinks: Sendable {
    /// A stair, an escalator or an elevator in one direction.
    package struct Link: Hashable, Sendable {
        /// Indexes of the maps.
        var from: Int
        var to: Int
        /// Its ends on both plans.
        var start: MapPoint
        var end: MapPoint
    }

    /// All links, in both directions.
    package let links: [Link]
    private let transforms: [GeoTransform?]

    /// Creates the links of a venue; maps are identified by their index in the venue.
    package init(venue: Venue) {
        transforms = venue.maps.map { try? $0.geoTransform() }
        var indexes: [MapID: Int] = [:]
        for (mapIndex, map) in venue.maps.enumerated() where indexes[map.id] == nil { indexes[map.id] = mapIndex }
        var nodes: [Int: PathGraph.Node] = [:]
        for node in venue.paths?.nodes ?? [] { nodes[node.id] = node }
        var links: [Link] = []
        for edge in venue.paths?.edges ?? [] {
            guard let from = nodes[edge.from], let to = nodes[edge.to], from.mapID != to.mapID,
                let low = indexes[from.mapID], let high = indexes[to.mapID]
            else { continue }
            links.append(Link(from: low, to: high, start: from.point, end: to.point))
            links.append(Link(from: high, to: low, start: to.point, end: from.point))
        }
        self.links = links
    }

    /// Returns the links from one map to another.
    func links(from: Int, to: Int) -> [Link] { links.filter { $0.from == from && $0.to == to } }

    /// Returns the point on a map that lies above or below a point of another map.
    package func place(of point: MapPoint, from: Int, to: Int) -> MapPoint {
        if let there = transforms[from], let here = transforms[to] {
            return here.point(at: there.coordinate(at: point))
        }
        let nearest = links(from: from, to: to).min { $0.start.distance(to: point) < $1.start.distance(to: point) }
        return nearest.map { point + ($0.end - $0.start) } ?? point
    }
}

/// The distinct grid cells of one map that contain particles.
///
/// A converged filter has many particles in few cells, so that values that depend only on the cell are computed once.
struct OccupiedCells: Sendable {
    /// Cell indexes in the grid, in the order of the first particle in each; -1 stands for the area outside the grid.
    private(set) var cells: [Int32] = []
    /// The index in `cells` of each particle's cell, in the particles' order.
    private(set) var slots: [Int32] = []

    /// Finds the cells of the particles in a range.
    ///
    /// - Parameters:
    ///   - lookup: scratch memory for the search, all -1 before and after.
    ///   - all: receives the cell of each particle, numbered from 1; 0 is outside the grid.
    mutating func find(
        _ particles: ParticleFilter.Particles, _ range: Range<Int>, grid: MapGrid, lookup: inout [Int32],
        all: inout [Int32]
    ) {
        if lookup.count < grid.count + 1 { lookup = Array(repeating: -1, count: grid.count + 1) }
        slots.resize(to: range.count, with: 0)
        var place = grid.cells
        cmath_cells(&place, range.lowerBound, range.count, particles.x, particles.y, &slots)
        all.resize(to: range.count, with: 0)
        for index in 0..<range.count { all[index] = slots[index] }
        // The loop writes one element past the last cell.
        cells.resize(to: min(range.count, grid.count + 1) + 1, with: 0)
        let count = cmath_find_slots(range.count, &slots, &lookup, &cells)
        cells.resize(to: count, with: 0)
    }
}

extension MapGrid {
    /// The position and size of the grid, for a C loop.
    var cells: cmath_grid {
        cmath_grid(
            left: Float(origin.x), top: Float(origin.y), scale: 1 / Float(cellSize), columns: Int32(columns),
            rows: Int32(rows))
    }
}
