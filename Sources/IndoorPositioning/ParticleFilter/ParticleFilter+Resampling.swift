import IndoorVocabulary

extension ParticleFilter {
    /// Draws from the particles set aside in proportion to their weights, spread over them as the scheme says.
    ///
    /// - Parameter next: where the first one is put; becomes the place after the last.
    mutating func resample(_ members: Range<Int>, count: Int, at next: inout Int, mapIndex: Int, weight: Float) {
        guard count > 0, !members.isEmpty else { return }
        switch resampling.scheme {
        case .systematic: spare.pick(count, of: members, start: Float(generator.uniform()), into: &picks)
        case .stratified: spare.pick(count, of: members, using: &generator, into: &picks)
        }
        particles.replace(from: next, with: spare, picks, mapIndex: mapIndex, weight: weight)
        next += count
    }

    /// Draws the particles of a map anew in proportion to their weights, where these have become too uneven.
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

    /// Whether so few of the particles count that they are to be drawn anew.
    private func isUneven(_ sums: (sum: Float, squares: Float, count: Int)) -> Bool {
        sums.sum * sums.sum < sums.squares * Float(sums.count) * Float(resampling.effectiveShare)
    }
}

extension ParticleFilter.Particles {
    /// Chooses among some particles in proportion to their weights, one at random within each of `count` equal shares of
    /// all weight; evenly among all where none of them weighs anything.
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
            // Rounding must not choose one that weighs nothing, nor go beyond the last.
            while sum <= next, index + 1 < range.upperBound {
                index += 1
                sum += Double(weight[index])
            }
            picks[draw] = Int32(index)
        }
    }
}
