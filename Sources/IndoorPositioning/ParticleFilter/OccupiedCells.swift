import CMath
import IndoorVocabulary

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
