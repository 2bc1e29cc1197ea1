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
    private var scratch = Likelihood.GridScratch()

    /// Creates an empty posterior.
    package init() {}

    /// Creates the posterior of the evidence.
    ///
    /// - Parameter isCoarse: whether neighbouring rows share the likelihood of the readings.
    package init(_ likelihood: Likelihood, isCoarse: Bool = false) { weigh(likelihood, isCoarse: isCoarse) }

    /// Recomputes the posterior for other evidence, in the memory that is already allocated.
    ///
    /// - Parameter isCoarse: whether rows within ``coarseHeight`` share the likelihood of the readings.
    package mutating func weigh(_ likelihood: Likelihood, isCoarse: Bool = false) {
        let field = likelihood.field
        ranges.removeAll(keepingCapacity: true)
        totals.removeAll(keepingCapacity: true)
        mapEvidence.removeAll(keepingCapacity: true)
        var first = 0
        for map in field.maps {
            ranges.append(first..<first + map.grid.count)
            first += map.grid.count
        }
        weights.resize(to: 0, with: 0)
        weights.resize(to: first, with: 0)
        for (index, map) in field.maps.enumerated() {
            guard likelihood.isInQuestion(mapIndex: index) else {
                totals.append(0)
                mapEvidence.append(-.infinity)
                continue
            }
            let first = ranges[index].lowerBound
            hear(likelihood, mapIndex: index, rowStep: isCoarse ? Self.rowStep(map.grid) : 1)
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
    private mutating func hear(_ likelihood: Likelihood, mapIndex index: Int, rowStep: Int) {
        let (range, grid) = (ranges[index], likelihood.field.maps[index].grid)
        likelihood.hear(grid: &weights, first: range.lowerBound, mapIndex: index, rowStep: rowStep, scratch: &scratch)
        guard rowStep > 1 else { return }
        let middle = rowStep / 2
        let last = (grid.rows - 1 - middle) / rowStep * rowStep + middle
        for row in 0..<grid.rows where row % rowStep != middle {
            let source = range.lowerBound + min(row / rowStep * rowStep + middle, last) * grid.columns
            let target = range.lowerBound + row * grid.columns
            for column in 0..<grid.columns { weights[target + column] = weights[source + column] }
        }
    }

    /// The height in metres of the rows that share a likelihood in a coarse posterior. The particles that are drawn from it
    /// are few, and later readings select among them.
    private static let coarseHeight = 3.0
    /// The minimum number of cells of a coarse grid: a smaller one costs little.
    private static let coarseCount = 1000

    /// Returns the number of rows that share a likelihood.
    private static func rowStep(_ grid: MapGrid) -> Int {
        let step = min(Int(coarseHeight / grid.cellSize), 3)
        return step > 1 && grid.rows >= 4 * step && grid.count >= coarseCount ? step : 1
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

    /// Returns the weight of each cell of a map, in proportion to its probability.
    func cellWeights(mapIndex index: Int) -> [Float] {
        ranges.indices.contains(index) ? Array(weights[ranges[index]]) : []
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
