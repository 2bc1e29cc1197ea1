import IndoorVocabulary

extension ParticleFilter {
    /// Resamples particles of `spare` in proportion to their weights, by the configured scheme.
    ///
    /// - Parameter next: the index of the first new particle; the index after the last one on return.
    mutating func resample(_ members: Range<Int>, count: Int, at next: inout Int, mapIndex: Int, weight: Float) {
        guard count > 0, !members.isEmpty else { return }
        switch resampling.scheme {
        case .systematic: spare.pick(count, of: members, start: Float(generator.uniform()), into: &picks)
        case .stratified: spare.pick(count, of: members, using: &generator, into: &picks)
        }
        particles.replace(from: next, with: spare, picks, mapIndex: mapIndex, weight: weight)
        next += count
    }

    /// Resamples the particles of each map whose effective sample size is too small.
    package mutating func resampleIfNeeded(mapCount: Int) {
        guard (0..<mapCount).contains(where: { isUneven(particles.evenness(particles.range(of: $0))) }) else { return }
        swap(&particles, &spare)
        particles.resize(to: spare.count)
        for mapIndex in 0..<mapCount {
            let members = spare.range(of: mapIndex)
            let sums = spare.evenness(members)
            if isUneven(sums) {
                var next = members.lowerBound
                let even = sums.sum / Float(members.count)
                resample(members, count: members.count, at: &next, mapIndex: mapIndex, weight: even)
            } else {
                particles.replace(members, with: spare)
            }
        }
    }

    /// Returns whether the effective sample size is below the threshold.
    private func isUneven(_ sums: (sum: Float, squares: Float, count: Int)) -> Bool {
        sums.sum * sums.sum < sums.squares * Float(sums.count) * Float(resampling.effectiveShare)
    }
}

extension ParticleFilter.Particles {
    /// Picks particles of a range in proportion to their weights, one at random within each of `count` equal shares of
    /// the total weight; uniformly if all weights are zero.
    func pick(_ count: Int, of range: Range<Int>, using generator: inout SeededGenerator, into picks: inout [Int32]) {
        guard count > 0, !range.isEmpty else { return picks.resize(to: 0, with: 0) }
        let total = range.reduce(0.0) { $0 + Double(weight[$1]) }
        guard total > 0, total.isFinite else { return pick(count, of: range, start: 0, into: &picks) }
        picks.resize(to: count, with: 0)
        let share = total / Double(count)
        var index = range.lowerBound
        var sum = Double(weight[index])
        for draw in 0..<count {
            let next = (Double(draw) + generator.uniform()) * share
            // Rounding must not pick a particle of weight zero, nor go beyond the last one.
            while sum <= next, index + 1 < range.upperBound {
                index += 1
                sum += Double(weight[index])
            }
            picks[draw] = Int32(index)
        }
    }
}
