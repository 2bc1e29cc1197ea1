import CMath
import IndoorVocabulary

/// The posterior probability of each cell of each map, from the evidence and the prior alone.
package struct GridPosterior: Sendable {
    /// The cells' weights, map by map.
    private var weights: [Float] = []
    /// The range of each map's cells in `weights`.
    private var ranges: [Range<Int>] = []
    /// The sum of each map's weights.
    private var totals: [Double] = []
    /// Logarithm of the probability of each map, up to a common constant; minus infinity for a map on which none of the
    /// received beacons can be detected.
    package private(set) var mapEvidence: [Double] = []
    /// Scratch memory for the receiver states of a map's cells.
    private var states = ReceiverStates()

    /// Creates an empty posterior.
    package init() {}

    /// Creates the posterior of the evidence.
    package init(_ likelihood: Likelihood) { weigh(likelihood) }

    /// Recomputes the posterior for other evidence, in the memory that is already allocated.
    package mutating func weigh(_ likelihood: Likelihood) {
        let field = likelihood.field
        ranges.removeAll(keepingCapacity: true)
        totals.removeAll(keepingCapacity: true)
        mapEvidence.removeAll(keepingCapacity: true)
        var first = 0
        for map in field.maps {
            ranges.append(first..<first + map.grid.count)
            first += map.grid.count
        }
        weights.resize(to: first, with: 0)
        for index in weights.indices { weights[index] = 0 }
        for (index, map) in field.maps.enumerated() {
            guard likelihood.isInQuestion(mapIndex: index) else {
                totals.append(0)
                mapEvidence.append(-.infinity)
                continue
            }
            let first = ranges[index].lowerBound
            hear(likelihood, mapIndex: index)
            likelihood.addRates(toGrid: &weights, first: first, mapIndex: index)
            likelihood.ranges?.add(toGrid: &weights, first: first, grid: map.grid, mapIndex: index)
            var result = (best: 0.0, sum: 0.0)
            withUnsafeMutableBytes(of: &result) { result in
                guard let result = result.assumingMemoryBound(to: Double.self).baseAddress else { return }
                cmath_posterior(map.prior, first, map.grid.count, &weights, result)
            }
            totals.append(result.sum)
            mapEvidence.append(result.best + cmath_log(result.sum * map.grid.cellSize * map.grid.cellSize))
        }
    }

    /// Adds the likelihood of the readings in each cell of a map, given the receiver state of the cell.
    private mutating func hear(_ likelihood: Likelihood, mapIndex index: Int) {
        let range = ranges[index]
        states.resize(to: range.count)
        states.begin(0..<range.count, with: likelihood.receivers[index])
        likelihood.hear(grid: &states, first: range.lowerBound, sums: &weights, mapIndex: index)
    }

    /// Returns the mean position on a map and the sum of the variances along both axes in m²; nil if the map has no
    /// probability.
    package func moments(mapIndex index: Int, field: SignalField) -> (mean: MapPoint, variance: Double)? {
        guard ranges.indices.contains(index), totals[index] > 0 else { return nil }
        let grid = field.maps[index].grid
        var sums = (0.0, 0.0, 0.0, 0.0, 0.0)
        withUnsafeMutableBytes(of: &sums) { sums in
            guard let sums = sums.assumingMemoryBound(to: Double.self).baseAddress else { return }
            cmath_grid_moments(weights, ranges[index].lowerBound, grid.columns, grid.rows, sums)
        }
        let (total, x, y, xSquare, ySquare) = sums
        let (column, row) = (x / total, y / total)
        let variance = xSquare / total - column * column + ySquare / total - row * row
        let mean = grid.origin + MapPoint(x: column + 0.5, y: row + 0.5) * grid.cellSize
        return (mean, max(0, variance) * grid.cellSize * grid.cellSize)
    }

    /// The probability of each map, in the field's order; sums to 1.
    var mapProbabilities: [Double] {
        let best = mapEvidence.max() ?? 0
        let shares = mapEvidence.map { cmath_exp($0 - best) }
        let sum = shares.reduce(0, +)
        return shares.map { $0 / sum }
    }

    /// Multiplies the weight of each cell of a map by a factor above 0.
    mutating func multiply(mapIndex: Int, by factor: (_ cell: Int) -> Float) {
        let before = totals[mapIndex]
        var sum = 0.0
        for (cell, index) in ranges[mapIndex].enumerated() {
            weights[index] *= factor(cell)
            sum += Double(weights[index])
        }
        totals[mapIndex] = sum
        mapEvidence[mapIndex] = sum > 0 && before > 0 ? mapEvidence[mapIndex] + cmath_log(sum / before) : -.infinity
    }

    /// Draws cells of a map in proportion to their probability, by systematic sampling.
    func draw(_ count: Int, mapIndex: Int, using generator: inout SeededGenerator) -> [Int] {
        guard totals[mapIndex] > 0, count > 0 else { return [] }
        let step = totals[mapIndex] / Double(count)
        var next = generator.uniform() * step
        var cells: [Int] = []
        cells.reserveCapacity(count)
        let range = ranges[mapIndex]
        var (index, sum) = (range.lowerBound, Double(weights[range.lowerBound]))
        for _ in 0..<count {
            while index + 1 < range.upperBound, sum < next {
                index += 1
                sum += Double(weights[index])
            }
            cells.append(index - range.lowerBound)
            next += step
        }
        return cells
    }
}
