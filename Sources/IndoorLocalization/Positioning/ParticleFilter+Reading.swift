import CMath

extension ParticleFilter {
    /// Weighs the particles level by level with the logarithms that `fill` writes.
    package mutating func weigh(
        field: SignalField,
        fill: (_ level: SignalField.Level, _ columns: [Int32], _ rows: [Int32], _ sums: inout [Float]) -> Void
    ) {
        var logarithms = [Float](repeating: 0, count: particles.count)
        for (index, level) in field.levels.enumerated() {
            let members = particles.level.indices.filter { particles.level[$0] == Int32(index) }
            guard !members.isEmpty else { continue }
            let (columns, rows) = cells(of: members, grid: level.grid)
            var sums = [Float](repeating: 0, count: members.count)
            fill(level, columns, rows, &sums)
            for (position, member) in members.enumerated() { logarithms[member] = sums[position] }
        }
        weigh(logarithms)
    }

    private func cells(of members: [Int], grid: MapGrid) -> (columns: [Int32], rows: [Int32]) {
        let scale = 1 / Float(grid.cellSize)
        let (left, top) = (Float(grid.origin.x), Float(grid.origin.y))
        return (
            members.map { Int32(((particles.x[$0] - left) * scale).rounded(.down)) },
            members.map { Int32(((particles.y[$0] - top) * scale).rounded(.down)) }
        )
    }

    /// Mean and variance of a beacon's expected RSSI under the belief; nil if most of it expects no signal.
    func expectation(field: SignalField, beacon: Int) -> (mean: Double, variance: Double)? {
        var weight: Float = 0
        var sum: Float = 0
        var squares: Float = 0
        for index in 0..<particles.count {
            let level = field.levels[Int(particles.level[index])]
            let point = MapPoint(x: Double(particles.x[index]), y: Double(particles.y[index]))
            guard let table = level.tables[beacon], let cell = level.grid.cell(at: point),
                let entry = table.index(column: cell % level.grid.columns, row: cell / level.grid.columns)
            else { continue }
            let share = particles.weight[index]
            weight += share
            sum += share * table.mean[entry]
            squares += share * table.mean[entry] * table.mean[entry]
        }
        guard weight > 0.5 else { return nil }
        let mean = sum / weight
        return (Double(mean), Double(max(0, squares / weight - mean * mean)))
    }

    /// The share of the belief on each level.
    package func levelShares(count: Int) -> [Double] {
        var shares = [Double](repeating: 0, count: count)
        for index in 0..<particles.count { shares[Int(particles.level[index])] += Double(particles.weight[index]) }
        let total = shares.reduce(0, +)
        return total > 0 ? shares.map { $0 / total } : shares
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
        guard weight > 1e-9 else { return nil }
        let mean = MapPoint(x: x / weight, y: y / weight)
        let variance = max(0, square / weight - mean.x * mean.x - mean.y * mean.y)
        return (mean, variance, MapPoint(x: vx / weight, y: vy / weight))
    }
}
