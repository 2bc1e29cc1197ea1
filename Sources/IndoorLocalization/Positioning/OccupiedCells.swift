/// The cells of one level's grid that particles are in, each once.
///
/// Many particles share few cells, once they know where they are: what depends on the cell alone is found once.
struct OccupiedCells: Sendable {
    /// Indexes in the grid, in the order of the first particle in each; -1 is all that lies outside.
    private(set) var cells: [Int32] = []
    /// The place in `cells` of each particle's cell, in the particles' order.
    private(set) var slots: [Int32] = []
    /// Weight of the particles in each cell.
    var weights: [Float] = []

    /// Finds the cells of some particles.
    ///
    /// - Parameter lookup: room for the search, all -1 before and after.
    mutating func find(_ particles: ParticleFilter.Particles, _ range: Range<Int>, grid: MapGrid, lookup: inout [Int32])
    {
        cells.removeAll(keepingCapacity: true)
        slots.removeAll(keepingCapacity: true)
        if lookup.count < grid.count + 1 { lookup = Array(repeating: -1, count: grid.count + 1) }
        let scale = 1 / Float(grid.cellSize)
        let (left, top) = (Float(grid.origin.x), Float(grid.origin.y))
        let (columns, rows) = (Float(grid.columns), Float(grid.rows))
        let (x, y) = (particles.x.span, particles.y.span)
        var places = lookup.mutableSpan
        for index in range {
            let (column, row) = ((x[index] - left) * scale, (y[index] - top) * scale)
            // Compared before they are made whole: a wild fix or step brings particles anywhere.
            let isInside = column >= 0 && row >= 0 && column < columns && row < rows
            let cell = isInside ? Int32(row) &* Int32(truncatingIfNeeded: grid.columns) &+ Int32(column) : -1
            var slot = places[Int(cell &+ 1)]
            if slot < 0 {
                slot = Int32(truncatingIfNeeded: cells.count)
                places[Int(cell &+ 1)] = slot
                cells.append(cell)
            }
            slots.append(slot)
        }
        for cell in cells { places[Int(cell &+ 1)] = -1 }
    }

    /// Sets the weight of each cell to what its particles weigh.
    mutating func weigh(_ weight: [Float], _ range: Range<Int>) {
        weights.removeAll(keepingCapacity: true)
        weights.append(contentsOf: repeatElement(0, count: cells.count))
        Self.add(weight, range, slots, to: &weights)
    }

    private static func add(_ weight: [Float], _ range: Range<Int>, _ slots: [Int32], to sums: inout [Float]) {
        let (weight, slots) = (weight.span, slots.span)
        var sums = sums.mutableSpan
        for index in range { sums[Int(slots[index &- range.lowerBound])] += weight[index] }
    }
}
