import CMath
import IndoorVocabulary

extension ParticleFilter {
    /// Weighs the particles level by level with what is heard, and lets their receivers learn of it. A level's share of all
    /// weight stays.
    ///
    /// - Parameter fill: adds to a sum for each cell that particles are in; -1 is all that lies outside the grid.
    /// - Returns: the logarithm of each level's likelihood; minus infinity for a level without particles.
    package mutating func weigh(
        _ likelihood: Likelihood, fill: (_ level: Int, _ cells: [Int32], _ sums: inout [Float]) -> Void
    ) -> [Double] {
        evidence.removeAll(keepingCapacity: true)
        while occupied.count < likelihood.field.levels.count { occupied.append(OccupiedCells()) }
        for level in likelihood.field.levels.indices {
            let members = particles.range(of: level)
            guard !members.isEmpty else {
                evidence.append(-.infinity)
                continue
            }
            occupied[level].find(
                particles, members, grid: likelihood.field.levels[level].grid, lookup: &lookup, all: &heardCells)
            cellSums.resize(to: 0, with: 0)
            cellSums.resize(to: occupied[level].cells.count, with: 0)
            fill(level, occupied[level].cells, &cellSums)
            likelihood.addRates(to: &cellSums, level: level, cells: occupied[level].cells)
            sums.resize(to: members.count, with: 0)
            for (index, slot) in occupied[level].slots.enumerated() { sums[index] = cellSums[Int(slot)] }
            likelihood.hear(&particles, members, level: level, cells: heardCells, sums: &sums)
            evidence.append(weigh(members))
        }
        return evidence
    }

    /// Weighs the particles of a level with the logarithms in `sums`.
    private mutating func weigh(_ members: Range<Int>) -> Double {
        guard let best = sums.max(), best.isFinite else { return -.infinity }
        cmath_exp_below(&sums, best, sums.count)
        let before = particles.weight(of: members)
        // The floor keeps every guess alive for the case that the evidence is an outlier as a whole.
        for index in sums.indices { particles.weight[members.lowerBound + index] *= sums[index] + 1e-6 }
        let after = particles.weight(of: members)
        // The level's sum stays.
        let scale = before / after
        guard scale.isFinite else {
            for index in members { particles.weight[index] = before / Float(members.count) }
            return -.infinity
        }
        cmath_multiply(members.lowerBound, members.count, &particles.weight, scale)
        return Double(best) + cmath_log(Double(after / before))
    }

    /// Lets the receivers of some particles learn of evidence that the particles were drawn from.
    mutating func teach(_ members: Range<Int>, level: Int, _ likelihood: Likelihood) {
        guard !members.isEmpty else { return }
        var place = likelihood.field.levels[level].grid.cells
        heardCells.resize(to: members.count, with: 0)
        cmath_cells(&place, members.lowerBound, members.count, particles.x, particles.y, &heardCells)
        sums.resize(to: members.count, with: 0)
        likelihood.hear(&particles, members, level: level, cells: heardCells, sums: &sums)
    }

    /// What the particles of a level know of the receiver's offset, in dB and dB²; nil without particles.
    package func receiverOffset(level: Int) -> (mean: Double, variance: Double)? {
        particles.receivers.offset(of: particles.range(of: level), weights: particles.weight)
    }

    /// Gives each level its share of all weight.
    package mutating func setLevelShares(_ probabilities: [Double]) {
        for (level, probability) in probabilities.enumerated() {
            let members = particles.range(of: level)
            let sum = particles.weight(of: members)
            let scale = sum > 0 ? Float(probability) / sum : 0
            cmath_multiply(members.lowerBound, members.count, &particles.weight, scale)
        }
    }

    /// Mean place, sum of the variances along both axes in m², and mean velocity on a level; nil without particles.
    package func moments(level: Int) -> (mean: MapPoint, variance: Double, velocity: MapPoint)? {
        let range = particles.range(of: level)
        var sums = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        withUnsafeMutableBytes(of: &sums) { sums in
            guard let sums = sums.assumingMemoryBound(to: Double.self).baseAddress else { return }
            cmath_moments(
                range.lowerBound, range.count, particles.x, particles.y, particles.velocityX, particles.velocityY,
                particles.isWalking, particles.weight, sums)
        }
        let (weight, x, y, square, vx, vy) = sums
        guard weight > 1e-6 else { return nil }
        let mean = MapPoint(x: x / weight, y: y / weight)
        let variance = max(0, square / weight - mean.x * mean.x - mean.y * mean.y)
        return (mean, variance, MapPoint(x: vx / weight, y: vy / weight))
    }
}
