import CMath
import IndoorVocabulary

extension ParticleFilter {
    /// The states of all particles, with one array per quantity, grouped by map in the maps' order.
    package struct Particles: Sendable {
        var x: [Float] = []
        var y: [Float] = []
        var velocityX: [Float] = []
        var velocityY: [Float] = []
        /// Direction of walking relative to the device's heading, in radians.
        var bias: [Float] = []
        /// Ratio of the step length to the detector's estimate.
        var scale: [Float] = []
        var isWalking: [Bool] = []
        /// Index of the map in the field; non-decreasing.
        var mapIndex: [Int32] = []
        var weight: [Float] = []
        /// The receiver state of each particle.
        var receivers = ReceiverStates()
        /// The lasting errors of each particle's readings.
        var errors = LastingErrors()

        var count: Int { x.count }

        /// Creates an empty set of particles.
        package init() {}

        /// Replaces the particles by ones at the given points, with equal map and weight and with the prior receiver
        /// state.
        package mutating func place(_ points: [MapPoint], _ receiver: ReceiverOffset) {
            resize(to: points.count)
            for (index, point) in points.enumerated() { (x[index], y[index]) = (Float(point.x), Float(point.y)) }
            forget(receiver)
        }

        /// Resets the receiver state of all particles to the prior.
        package mutating func forget(_ receiver: ReceiverOffset) { receivers.begin(0..<count, with: receiver) }

        /// Passes positions, receiver states and lasting errors to a C loop.
        @inline(__always)
        mutating func hear(
            _ body: (_ x: [Float], _ y: [Float], _ receivers: cmath_receivers, _ errors: inout LastingErrors) -> Void
        ) {
            receivers.withPointers { body(x, y, $0, &errors) }
        }

        /// Returns the range of the particles on a map.
        func range(of wanted: Int) -> Range<Int> { firstIndex(from: wanted)..<firstIndex(from: wanted + 1) }

        /// Returns the indexes of the particles on each map, in order.
        func members(mapCount: Int) -> [[Int]] { (0..<mapCount).map { Array(range(of: $0)) } }

        /// Returns the index of the first particle on the map or a later map.
        private func firstIndex(from wanted: Int) -> Int {
            (0..<mapIndex.count).bisection { mapIndex[$0] >= wanted }
        }

        /// Returns the sum of the weights in a range.
        func weight(of range: Range<Int>) -> Float { evenness(range).sum }

        /// Returns the sum of the weights in a range, the sum of their squares, and the number of particles.
        func evenness(_ range: Range<Int>) -> (sum: Float, squares: Float, count: Int) {
            var sums: (sum: Float, squares: Float) = (0, 0)
            withUnsafeMutableBytes(of: &sums) { sums in
                guard let sums = sums.assumingMemoryBound(to: Float.self).baseAddress else { return }
                cmath_sum_squares(range.lowerBound, range.count, weight, sums)
            }
            return (sums.sum, sums.squares, range.count)
        }

        /// Resizes the arrays to `count` particles; larger memory is kept.
        mutating func resize(to count: Int) {
            if count > x.capacity { reserve(count) }
            x.resize(to: count, with: 0)
            y.resize(to: count, with: 0)
            velocityX.resize(to: count, with: 0)
            velocityY.resize(to: count, with: 0)
            bias.resize(to: count, with: 0)
            scale.resize(to: count, with: 1)
            isWalking.resize(to: count, with: false)
            mapIndex.resize(to: count, with: 0)
            weight.resize(to: count, with: 0)
            receivers.resize(to: count)
        }

        /// Allocates memory for exactly `count` particles; arrays that grow by appending double their memory.
        private mutating func reserve(_ count: Int) {
            x.reserveCapacity(count)
            y.reserveCapacity(count)
            velocityX.reserveCapacity(count)
            velocityY.reserveCapacity(count)
            bias.reserveCapacity(count)
            scale.reserveCapacity(count)
            isWalking.reserveCapacity(count)
            mapIndex.reserveCapacity(count)
            weight.reserveCapacity(count)
        }

        /// The bytes of the arrays.
        package var byteCount: Int {
            let floats =
                x.capacity + y.capacity + velocityX.capacity + velocityY.capacity + bias.capacity + scale.capacity
                + weight.capacity + mapIndex.capacity
            return 4 * floats + isWalking.capacity + receivers.byteCount + errors.byteCount
        }

        /// Overwrites the particles from `start` on with copies of others, all with the same map and weight.
        mutating func replace(
            from start: Int, with other: Particles, _ picks: [Int32], mapIndex: Int, weight even: Float
        ) {
            precondition(start + picks.count <= count, "no room for \(picks.count) particles from \(start) on")
            cmath_gather(other.x, picks, picks.count, &x, start)
            cmath_gather(other.y, picks, picks.count, &y, start)
            cmath_gather(other.velocityX, picks, picks.count, &velocityX, start)
            cmath_gather(other.velocityY, picks, picks.count, &velocityY, start)
            cmath_gather(other.bias, picks, picks.count, &bias, start)
            cmath_gather(other.scale, picks, picks.count, &scale, start)
            cmath_gather_flags(other.isWalking, picks, picks.count, &isWalking, start)
            receivers.replace(from: start, with: other.receivers, picks)
            for index in start..<start + picks.count {
                self.mapIndex[index] = Int32(truncatingIfNeeded: mapIndex)
                weight[index] = even
            }
        }

        /// Overwrites the particles in a range with the same particles of another set.
        mutating func replace(_ range: Range<Int>, with other: Particles) {
            for index in range {
                x[index] = other.x[index]
                y[index] = other.y[index]
                velocityX[index] = other.velocityX[index]
                velocityY[index] = other.velocityY[index]
                bias[index] = other.bias[index]
                scale[index] = other.scale[index]
                isWalking[index] = other.isWalking[index]
                mapIndex[index] = other.mapIndex[index]
                weight[index] = other.weight[index]
            }
            receivers.replace(range, with: other.receivers)
        }

        /// Picks particles of a range in proportion to their weights, by systematic sampling; uniformly if all weights
        /// are zero.
        ///
        /// - Parameter start: the offset of the first pick as a share of the distance between two picks, in [0, 1).
        func pick(_ count: Int, of range: Range<Int>, start: Float, into picks: inout [Int32]) {
            guard count > 0, !range.isEmpty else { return picks.resize(to: 0, with: 0) }
            let total = weight(of: range)
            picks.resize(to: count + 1, with: 0)
            if total > 0, total.isFinite {
                cmath_pick(range.lowerBound, range.count, weight, total, start, count, &picks)
            } else {
                for pick in 0..<count { picks[pick] = Int32(range.lowerBound + pick * range.count / count) }
            }
            picks.resize(to: count, with: 0)
        }
    }
}

extension ParticleFilter {
    /// Resamples the particles that were set aside in proportion to their weights, by the configured scheme.
    ///
    /// - Parameter next: the index of the first new particle; the index after the last one on return.
    mutating func resample(_ members: Range<Int>, count: Int, at next: inout Int, mapIndex: Int, weight: Float) {
        guard count > 0, !members.isEmpty else { return }
        switch resampling.scheme {
        case .systematic:
            workspace.spare.pick(count, of: members, start: Float(generator.uniform()), into: &workspace.picks)
        case .stratified: workspace.spare.pick(count, of: members, using: &generator, into: &workspace.picks)
        }
        particles.replace(from: next, with: workspace.spare, workspace.picks, mapIndex: mapIndex, weight: weight)
        for (offset, pick) in workspace.picks.enumerated() { workspace.origins[next + offset] = pick }
        next += count
    }

    /// Resamples the particles of each map whose effective sample size is too small.
    package mutating func resampleIfNeeded(mapCount: Int) {
        guard (0..<mapCount).contains(where: { isUneven(particles.evenness(particles.range(of: $0))) }) else { return }
        setAside(makingRoomFor: particles.count)
        for mapIndex in 0..<mapCount {
            let members = workspace.spare.range(of: mapIndex)
            let sums = workspace.spare.evenness(members)
            if isUneven(sums) {
                var next = members.lowerBound
                let even = sums.sum / Float(members.count)
                resample(members, count: members.count, at: &next, mapIndex: mapIndex, weight: even)
            } else {
                particles.replace(members, with: workspace.spare)
                for index in members { workspace.origins[index] = Int32(index) }
            }
        }
        rearrangeErrors(count: particles.count)
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
