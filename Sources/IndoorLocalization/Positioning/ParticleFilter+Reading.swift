import CMath

extension ParticleFilter {
    /// Weighs the particles level by level with the logarithms that `fill` writes. A level's share of all weight stays.
    ///
    /// - Parameter fill: adds to a sum for each cell that particles are in; -1 is all that lies outside the grid.
    /// - Returns: the logarithm of each level's likelihood; minus infinity for a level without particles.
    package mutating func weigh(
        field: SignalField,
        fill: (_ level: Int, _ cells: [Int32], _ sums: inout [Float]) -> Void
    ) -> [Double] {
        evidence.removeAll(keepingCapacity: true)
        while occupied.count < field.levels.count { occupied.append(OccupiedCells()) }
        for level in field.levels.indices {
            let members = particles.range(of: level)
            occupied[level].find(particles, members, grid: field.levels[level].grid, lookup: &lookup)
            sums.removeAll(keepingCapacity: true)
            sums.append(contentsOf: repeatElement(0, count: occupied[level].cells.count))
            if !members.isEmpty { fill(level, occupied[level].cells, &sums) }
            evidence.append(weigh(members, level: level))
        }
        return evidence
    }

    /// Weighs the particles of a level with the logarithms in `sums`.
    private mutating func weigh(_ members: Range<Int>, level: Int) -> Double {
        occupied[level].weigh(particles.weight, members)
        guard let best = sums.max(), best.isFinite else { return -.infinity }
        cmath_exp_below(&sums, best, sums.count)
        let before = occupied[level].weights.reduce(0, +)
        // The floor keeps every guess alive for the case that the evidence is an outlier as a whole.
        for slot in sums.indices { sums[slot] += 1e-6 }
        occupied[level].multiply(by: sums)
        let after = occupied[level].weights.reduce(0, +)
        // The level's sum stays.
        let scale = before / after
        guard scale.isFinite else {
            for index in members { particles.weight[index] = before / Float(members.count) }
            occupied[level].weigh(particles.weight, members)
            return -.infinity
        }
        cmath_multiply(0, sums.count, &sums, scale)
        occupied[level].multiply(by: scale)
        cmath_multiply_by_slot(
            members.lowerBound, members.count, &particles.weight, occupied[level].slots, sums)
        return Double(best) + cmath_log(Double(after / before))
    }

    /// Gives each level its share of all weight.
    package mutating func setLevelShares(_ probabilities: [Double]) {
        for (level, probability) in probabilities.enumerated() {
            let members = particles.range(of: level)
            let sum = particles.weight(of: members)
            let scale = sum > 0 ? Float(probability) / sum : 0
            cmath_multiply(members.lowerBound, members.count, &particles.weight, scale)
            if level < occupied.count { occupied[level].multiply(by: scale) }
        }
    }

    /// Mean and variance of a beacon's expected RSSI if the device is on a level, at the places where the particles were
    /// last weighed; nil if no signal is expected there.
    func expectation(field: SignalField, beacon: Int, level wanted: Int) -> (mean: Double, variance: Double)? {
        let level = field.levels[wanted]
        guard let table = level.tables[beacon], wanted < occupied.count else { return nil }
        var (weight, sum, squares, all): (Float, Float, Float, Float) = (0, 0, 0, 0)
        for (cell, share) in zip(occupied[wanted].cells, occupied[wanted].weights) {
            all += share
            guard cell >= 0 else { continue }
            let (row, column) = cell.quotientAndRemainder(dividingBy: Int32(truncatingIfNeeded: level.grid.columns))
            guard let entry = table.index(column: Int(column), row: Int(row)) else { continue }
            weight += share
            sum += share * table.mean[entry]
            squares += share * table.mean[entry] * table.mean[entry]
        }
        guard weight > 0.5 * all, weight > 0 else { return nil }
        let mean = sum / weight
        return (Double(mean), Double(max(0, squares / weight - mean * mean)))
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
