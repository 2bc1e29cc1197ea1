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
            var running = 0.0
            var levelSums: [Double] = []
            levelSums.reserveCapacity(logarithms.count)
            for (value, prior) in zip(logarithms, level.prior) {
                running += Double(prior * cmath_expf(value - best))
                levelSums.append(running)
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
        var mean = MapPoint(x: 0, y: 0)
        var square = 0.0
        var before = 0.0
        for (cell, sum) in sums[index].enumerated() {
            let share = (sum - before) / total
            before = sum
            guard share > 0 else { continue }
            let center = grid.center(of: cell)
            mean = mean + center * share
            square += share * (center.x * center.x + center.y * center.y)
        }
        return (mean, max(0, square - mean.x * mean.x - mean.y * mean.y))
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
