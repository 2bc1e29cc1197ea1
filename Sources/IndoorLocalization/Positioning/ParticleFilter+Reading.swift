import CMath

extension ParticleFilter {
    /// Weighs the particles level by level with the logarithms that `fill` writes. A level's share of all weight stays.
    ///
    /// - Returns: the logarithm of each level's likelihood; minus infinity for a level without particles.
    package mutating func weigh(
        field: SignalField,
        fill: (_ level: Int, _ cells: [Int32], _ sums: inout [Float]) -> Void
    ) -> [Double] {
        var evidence = [Double](repeating: -.infinity, count: field.levels.count)
        for (index, members) in particles.members(levels: field.levels.count).enumerated() where !members.isEmpty {
            let cells = cells(of: members, grid: field.levels[index].grid)
            var logarithms = [Float](repeating: 0, count: members.count)
            fill(index, cells, &logarithms)
            evidence[index] = weigh(members, logarithms)
        }
        return evidence
    }

    private mutating func weigh(_ members: [Int], _ logarithms: [Float]) -> Double {
        guard let best = logarithms.max(), best.isFinite else { return -.infinity }
        var before: Float = 0
        var after: Float = 0
        for (member, logarithm) in zip(members, logarithms) {
            before += particles.weight[member]
            // The floor keeps every guess alive for the case that the evidence is an outlier as a whole.
            particles.weight[member] *= cmath_expf(max(logarithm - best, -30)) + 1e-6
            after += particles.weight[member]
        }
        let scale = before / after
        for member in members {
            particles.weight[member] = scale.isFinite ? particles.weight[member] * scale : before / Float(members.count)
        }
        return before > 0 ? Double(best) + cmath_log(Double(after / before)) : -.infinity
    }

    /// Gives each level its share of all weight.
    package mutating func setLevelShares(_ probabilities: [Double]) {
        var sums = [Float](repeating: 0, count: probabilities.count)
        for index in 0..<particles.count { sums[Int(particles.level[index])] += particles.weight[index] }
        let scales = zip(probabilities, sums).map { $1 > 0 ? Float($0) / $1 : 0 }
        for index in 0..<particles.count { particles.weight[index] *= scales[Int(particles.level[index])] }
    }

    private func cells(of members: [Int], grid: MapGrid) -> [Int32] {
        let scale = 1 / Float(grid.cellSize)
        let (left, top) = (Float(grid.origin.x), Float(grid.origin.y))
        return members.map { member in
            let column = ((particles.x[member] - left) * scale).rounded(.down)
            let row = ((particles.y[member] - top) * scale).rounded(.down)
            // Compared before they are made whole: a wild fix or step brings particles anywhere.
            let isInside = column >= 0 && row >= 0 && column < Float(grid.columns) && row < Float(grid.rows)
            return isInside ? Int32(row) * Int32(grid.columns) + Int32(column) : -1
        }
    }

    /// Mean and variance of a beacon's expected RSSI if the device is on a level; nil if no signal is expected there.
    func expectation(field: SignalField, beacon: Int, level wanted: Int) -> (mean: Double, variance: Double)? {
        var weight: Float = 0
        var sum: Float = 0
        var squares: Float = 0
        var all: Float = 0
        let level = field.levels[wanted]
        guard let table = level.tables[beacon] else { return nil }
        for index in 0..<particles.count where particles.level[index] == Int32(wanted) {
            all += particles.weight[index]
            let point = MapPoint(x: Double(particles.x[index]), y: Double(particles.y[index]))
            guard let cell = level.grid.cell(at: point),
                let entry = table.index(column: cell % level.grid.columns, row: cell / level.grid.columns)
            else { continue }
            let share = particles.weight[index]
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
        for index in 0..<particles.count where particles.level[index] == Int32(level) {
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
