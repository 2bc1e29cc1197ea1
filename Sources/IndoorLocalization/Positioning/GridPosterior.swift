import CMath

/// How probable each cell of each map is, from evidence and expectation alone.
package struct GridPosterior: Sendable {
    /// Running sums of the cells' weights, by level.
    private let sums: [[Double]]
    /// Logarithm of the probability of each level, up to a common constant.
    package let levelEvidence: [Double]

    /// Weighs the evidence on every cell.
    package init(field: SignalField, evidence: Evidence, offsets: [ReceiverOffset]) {
        let likelihood = Likelihood(field: field, evidence: evidence, offsets: offsets)
        var sums: [[Double]] = []
        var levelEvidence: [Double] = []
        for (index, level) in field.levels.enumerated() {
            var logarithms = [Float](repeating: 0, count: level.grid.count)
            likelihood.add(toGrid: &logarithms, level: index)
            let best = logarithms.max() ?? 0
            cmath_exp_below(&logarithms, best, logarithms.count)
            var running = 0.0
            let levelSums = [Double](unsafeUninitializedCapacity: logarithms.count) { buffer, count in
                for cell in logarithms.indices {
                    running += Double(level.prior[cell] * logarithms[cell])
                    buffer.initializeElement(at: cell, to: running)
                }
                count = logarithms.count
            }
            sums.append(levelSums)
            levelEvidence.append(Double(best) + cmath_log(running * level.grid.cellSize * level.grid.cellSize))
        }
        self.sums = sums
        self.levelEvidence = levelEvidence
    }

    /// Mean place on a level, and the sum of the variances along both axes in m²; nil if nothing is probable there.
    package func moments(level index: Int, field: SignalField) -> (mean: MapPoint, variance: Double)? {
        guard let total = sums[index].last, total > 0 else { return nil }
        let grid = field.levels[index].grid
        var (x, y, square, before) = (0.0, 0.0, 0.0, 0.0)
        var cell = 0
        for row in 0..<grid.rows {
            let centerY = grid.origin.y + (Double(row) + 0.5) * grid.cellSize
            var (rowShare, rowX, rowSquare) = (0.0, 0.0, 0.0)
            for column in 0..<grid.columns {
                let share = sums[index][cell] - before
                before = sums[index][cell]
                cell += 1
                let centerX = grid.origin.x + (Double(column) + 0.5) * grid.cellSize
                rowShare += share
                rowX += share * centerX
                rowSquare += share * centerX * centerX
            }
            x += rowX
            y += rowShare * centerY
            square += rowSquare + rowShare * centerY * centerY
        }
        let mean = MapPoint(x: x / total, y: y / total)
        return (mean, max(0, square / total - mean.x * mean.x - mean.y * mean.y))
    }

    /// How probable each level is, in the field's order; sums to 1.
    var levelProbabilities: [Double] {
        let best = levelEvidence.max() ?? 0
        let shares = levelEvidence.map { cmath_exp($0 - best) }
        let sum = shares.reduce(0, +)
        return shares.map { $0 / sum }
    }

    /// Draws cells of a level in proportion to their probability, evenly spread over it.
    func draw(_ count: Int, level: Int, using generator: inout SeededGenerator) -> [Int] {
        guard let total = sums[level].last, total > 0, count > 0 else { return [] }
        let step = total / Double(count)
        var next = generator.uniform() * step
        var cells: [Int] = []
        cells.reserveCapacity(count)
        var index = 0
        for _ in 0..<count {
            while index + 1 < sums[level].count, sums[level][index] < next { index += 1 }
            cells.append(index)
            next += step
        }
        return cells
    }
}
