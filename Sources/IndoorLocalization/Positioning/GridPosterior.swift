import CMath

/// How probable each cell of each map is, from evidence and expectation alone.
package struct GridPosterior: Sendable {
    /// Weights of the cells, running sums over all levels; the last is the total.
    private let sums: [Double]
    /// The first index of each level in `sums`, and the end.
    private let starts: [Int]

    /// Weighs the evidence on every cell.
    package init(field: SignalField, evidence: Evidence, offset: Float, offsetVariance: Float) {
        let likelihood = Likelihood(field: field, evidence: evidence, offset: offset, offsetVariance: offsetVariance)
        var logarithms: [[Float]] = []
        for level in field.levels {
            let grid = level.grid
            var sums = level.prior.map { cmath_logf($0) }
            let columns = (0..<grid.count).map { Int32($0 % grid.columns) }
            let rows = (0..<grid.count).map { Int32($0 / grid.columns) }
            likelihood.add(to: &sums, level: level, columns: columns, rows: rows)
            let area = cmath_logf(Float(grid.cellSize * grid.cellSize))
            logarithms.append(sums.map { $0 + area })
        }
        let best = logarithms.joined().max() ?? 0
        var running = 0.0
        var sums: [Double] = []
        var starts = [0]
        for level in logarithms {
            for value in level {
                running += Double(cmath_expf(value - best))
                sums.append(running)
            }
            starts.append(sums.count)
        }
        self.sums = sums
        self.starts = starts
    }

    /// Draws cells in proportion to their probability, evenly spread over it.
    func draw(_ count: Int, using generator: inout SeededGenerator) -> [(level: Int, cell: Int)] {
        guard let total = sums.last, total > 0, count > 0 else { return [] }
        let step = total / Double(count)
        var next = generator.uniform() * step
        var cells: [(level: Int, cell: Int)] = []
        cells.reserveCapacity(count)
        var index = 0
        var level = 0
        for _ in 0..<count {
            while index + 1 < sums.count, sums[index] < next { index += 1 }
            while index >= starts[level + 1] { level += 1 }
            cells.append((level, index - starts[level]))
            next += step
        }
        return cells
    }

    /// The probability of each level, in the field's order.
    package var levelShares: [Double] {
        guard let total = sums.last, total > 0 else { return starts.dropLast().map { _ in 0 } }
        return zip(starts, starts.dropFirst()).map { start, end in
            guard end > start else { return 0 }
            return (sums[end - 1] - (start > 0 ? sums[start - 1] : 0)) / total
        }
    }
}
