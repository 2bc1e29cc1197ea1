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
            occupied[level].weigh(particles.weight, members)
        }
        return evidence
    }

    /// Weighs the particles of a level with the logarithms in `sums`.
    private mutating func weigh(_ members: Range<Int>, level: Int) -> Double {
        guard let best = sums.max(), best.isFinite else { return -.infinity }
        cmath_exp_below(&sums, best, sums.count)
        let (before, after) = Self.multiply(&particles.weight, members, sums, occupied[level].slots)
        return before > 0 ? Double(best) + cmath_log(Double(after / before)) : -.infinity
    }

    /// Multiplies the weights with their cells' factors; the sum stays.
    ///
    /// - Returns: the sum, and what it would have become.
    private static func multiply(
        _ weight: inout [Float], _ members: Range<Int>, _ factors: [Float], _ slots: [Int32]
    ) -> (before: Float, after: Float) {
        let (factors, slots) = (factors.span, slots.span)
        var weight = weight.mutableSpan
        var (before, after): (Float, Float) = (0, 0)
        for index in members {
            before += weight[index]
            // The floor keeps every guess alive for the case that the evidence is an outlier as a whole.
            weight[index] *= factors[Int(slots[index &- members.lowerBound])] + 1e-6
            after += weight[index]
        }
        let scale = before / after
        if scale.isFinite {
            for index in members { weight[index] *= scale }
        } else {
            for index in members { weight[index] = before / Float(members.count) }
        }
        return (before, after)
    }

    /// Gives each level its share of all weight.
    package mutating func setLevelShares(_ probabilities: [Double]) {
        for (level, probability) in probabilities.enumerated() {
            let members = particles.range(of: level)
            let sum = particles.weight(of: members)
            let scale = sum > 0 ? Float(probability) / sum : 0
            var weight = particles.weight.mutableSpan
            for index in members { weight[index] *= scale }
            guard level < occupied.count else { continue }
            for slot in occupied[level].weights.indices { occupied[level].weights[slot] *= scale }
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
        var (weight, x, y, square, vx, vy) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for index in particles.range(of: level) {
            let share = Double(particles.weight[index])
            let (px, py) = (Double(particles.x[index]), Double(particles.y[index]))
            weight += share
            x += share * px
            y += share * py
            square += share * (px * px + py * py)
            guard particles.isWalking[index] else { continue }
            vx += share * Double(particles.velocityX[index])
            vy += share * Double(particles.velocityY[index])
        }
        guard weight > 1e-6 else { return nil }
        let mean = MapPoint(x: x / weight, y: y / weight)
        let variance = max(0, square / weight - mean.x * mean.x - mean.y * mean.y)
        return (mean, variance, MapPoint(x: vx / weight, y: vy / weight))
    }
}
