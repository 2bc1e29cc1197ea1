import CMath

/// The cells of one level's grid that particles are in, each once.
///
/// Many particles share few cells, once they know where they are: what depends on the cell alone is found once.
struct OccupiedCells: Sendable {
    /// Indexes in the grid, in the order of the first particle in each; -1 is all that lies outside.
    private(set) var cells: [Int32] = []
    /// The place in `cells` of each particle's cell, in the particles' order.
    private(set) var slots: [Int32] = []
    /// Weight of the particles in each cell.
    private(set) var weights: [Float] = []
    /// Room for the sums of weights: four for each cell.
    private var sums: [Float] = []

    /// Finds the cells of some particles.
    ///
    /// - Parameter lookup: room for the search, all -1 before and after.
    mutating func find(_ particles: ParticleFilter.Particles, _ range: Range<Int>, grid: MapGrid, lookup: inout [Int32])
    {
        if lookup.count < grid.count + 1 { lookup = Array(repeating: -1, count: grid.count + 1) }
        slots.resize(to: range.count, with: 0)
        var place = cmath_grid(
            left: Float(grid.origin.x), top: Float(grid.origin.y), scale: 1 / Float(grid.cellSize),
            columns: Int32(grid.columns), rows: Int32(grid.rows))
        cmath_cells(&place, range.lowerBound, range.count, particles.x, particles.y, &slots)
        // One more than there are cells may be written to.
        cells.resize(to: min(range.count, grid.count + 1) + 1, with: 0)
        let count = cmath_find_slots(range.count, &slots, &lookup, &cells)
        cells.resize(to: count, with: 0)
    }

    /// Sets the weight of each cell to what its particles weigh.
    mutating func weigh(_ weight: [Float], _ range: Range<Int>) {
        sums.resize(to: 4 * cells.count, with: 0)
        cmath_add_by_slot(range.lowerBound, range.count, weight, slots, cells.count, &sums)
        weights.removeAll(keepingCapacity: true)
        weights.append(contentsOf: sums.prefix(cells.count))
    }

    /// Multiplies what each cell weighs with its own factor.
    mutating func multiply(by factors: [Float]) {
        for slot in weights.indices { weights[slot] *= factors[slot] }
    }

    /// Multiplies what the cells weigh with one factor.
    mutating func multiply(by factor: Float) { cmath_multiply(0, weights.count, &weights, factor) }
}

extension Array {
    /// Removes elements from the end, or appends more, but keeps the memory.
    mutating func resize(to count: Int, with element: Element) {
        if count < self.count {
            removeLast(self.count - count)
        } else {
            append(contentsOf: repeatElement(element, count: count - self.count))
        }
    }
}
