import CMath
import IndoorVocabulary

extension ParticleFilter {
    /// The state of each particle, one array a quantity; map by map, in the maps' order.
    package struct Particles: Sendable {
        var x: [Float] = []
        var y: [Float] = []
        var velocityX: [Float] = []
        var velocityY: [Float] = []
        /// Direction of walking less that of the device, in radians.
        var bias: [Float] = []
        /// Step length against the detector's.
        var scale: [Float] = []
        var isWalking: [Bool] = []
        /// Index into the field's maps; never falls.
        var mapIndex: [Int32] = []
        var weight: [Float] = []
        /// What each knows of the receiver.
        var receivers = ReceiverStates()

        var count: Int { x.count }

        /// Creates no particles.
        package init() {}

        /// Particles at some points, of one map and weight, that know no more of the receiver than that.
        package mutating func place(_ points: [MapPoint], _ receiver: ReceiverOffset) {
            resize(to: points.count)
            for (index, point) in points.enumerated() { (x[index], y[index]) = (Float(point.x), Float(point.y)) }
            forget(receiver)
        }

        /// Lets all know no more of the receiver than that.
        package mutating func forget(_ receiver: ReceiverOffset) { receivers.begin(0..<count, with: receiver) }

        /// Hands places and receivers to a loop in C.
        @inline(__always)
        mutating func hear(_ body: (_ x: [Float], _ y: [Float], _ receivers: cmath_receivers) -> Void) {
            receivers.withPointers { body(x, y, $0) }
        }

        /// The particles on a map.
        func range(of wanted: Int) -> Range<Int> { firstIndex(from: wanted)..<firstIndex(from: wanted + 1) }

        /// The indexes of the particles on each map, in order.
        func members(mapCount: Int) -> [[Int]] { (0..<mapCount).map { Array(range(of: $0)) } }

        /// The first particle on that map or a later one.
        private func firstIndex(from wanted: Int) -> Int {
            var (low, high) = (0, mapIndex.count)
            while low < high {
                let middle = (low + high) / 2
                if mapIndex[middle] < wanted { low = middle + 1 } else { high = middle }
            }
            return low
        }

        /// The sum of the weights of some particles.
        func weight(of range: Range<Int>) -> Float { evenness(range).sum }

        /// The sum of some particles' weights, the sum of the weights' squares, and the number of the particles.
        func evenness(_ range: Range<Int>) -> (sum: Float, squares: Float, count: Int) {
            var sums: (sum: Float, squares: Float) = (0, 0)
            withUnsafeMutableBytes(of: &sums) { sums in
                guard let sums = sums.assumingMemoryBound(to: Float.self).baseAddress else { return }
                cmath_sum_squares(range.lowerBound, range.count, weight, sums)
            }
            return (sums.sum, sums.squares, range.count)
        }

        /// Makes room for that many particles; the memory of more is kept.
        mutating func resize(to count: Int) {
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

        /// Overwrites particles from `start` on with copies of others, all on one map and with the same weight.
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

        /// Overwrites particles with others as they are.
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

        /// Chooses among some particles in proportion to their weights, evenly spread over them; evenly among all where
        /// none of them weighs anything.
        ///
        /// - Parameter start: where to begin, as a share of the distance between two choices, in [0, 1).
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
