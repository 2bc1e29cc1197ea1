import CMath
import IndoorVocabulary

/// The cells of one map's grid that particles are in, each once.
///
/// Many particles share few cells, once they know where they are: what depends on the cell alone is found once.
struct OccupiedCells: Sendable {
    /// Indexes in the grid, in the order of the first particle in each; -1 is all that lies outside.
    private(set) var cells: [Int32] = []
    /// The place in `cells` of each particle's cell, in the particles' order.
    private(set) var slots: [Int32] = []

    /// Finds the cells of some particles.
    ///
    /// - Parameters:
    ///   - lookup: room for the search, all -1 before and after.
    ///   - all: takes the cell of each particle, counted from 1; 0 is outside.
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
        // One more than there are cells may be written to.
        cells.resize(to: min(range.count, grid.count + 1) + 1, with: 0)
        let count = cmath_find_slots(range.count, &slots, &lookup, &cells)
        cells.resize(to: count, with: 0)
    }
}

extension MapGrid {
    /// Where the grid lies, for a loop in C.
    var cells: cmath_grid {
        cmath_grid(
            left: Float(origin.x), top: Float(origin.y), scale: 1 / Float(cellSize), columns: Int32(columns),
            rows: Int32(rows))
    }
}
