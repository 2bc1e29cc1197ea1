extension ParticleFilter {
    /// The state of each particle, one array a quantity; level by level, in the levels' order.
    struct Particles: Sendable {
        var x: [Float] = []
        var y: [Float] = []
        var velocityX: [Float] = []
        var velocityY: [Float] = []
        /// Direction of walking less that of the device, in radians.
        var bias: [Float] = []
        /// Step length against the detector's.
        var scale: [Float] = []
        var isWalking: [Bool] = []
        /// Index into the field's levels; never falls.
        var level: [Int32] = []
        var weight: [Float] = []

        var count: Int { x.count }

        /// The particles on a level.
        func range(of wanted: Int) -> Range<Int> { firstIndex(from: wanted)..<firstIndex(from: wanted + 1) }

        /// The indexes of the particles on each level, in order.
        func members(levels: Int) -> [[Int]] { (0..<levels).map { Array(range(of: $0)) } }

        /// The first particle on that level or a later one.
        private func firstIndex(from wanted: Int) -> Int {
            var (low, high) = (0, level.count)
            while low < high {
                let middle = (low + high) / 2
                if level[middle] < wanted { low = middle + 1 } else { high = middle }
            }
            return low
        }

        /// The sum of the weights of some particles.
        func weight(of range: Range<Int>) -> Float {
            let weight = weight.span
            var sum: Float = 0
            for index in range { sum += weight[index] }
            return sum
        }

        /// The sum of some particles' weights, and whether fewer than half of them count.
        func evenness(_ range: Range<Int>) -> (sum: Float, isUneven: Bool) {
            let weight = weight.span
            var (sum, squares): (Float, Float) = (0, 0)
            for index in range {
                sum += weight[index]
                squares += weight[index] * weight[index]
            }
            return (sum, sum * sum < squares * Float(range.count) / 2)
        }

        /// Removes all particles, but keeps the memory.
        mutating func removeAll() {
            x.removeAll(keepingCapacity: true)
            y.removeAll(keepingCapacity: true)
            velocityX.removeAll(keepingCapacity: true)
            velocityY.removeAll(keepingCapacity: true)
            bias.removeAll(keepingCapacity: true)
            scale.removeAll(keepingCapacity: true)
            isWalking.removeAll(keepingCapacity: true)
            level.removeAll(keepingCapacity: true)
            weight.removeAll(keepingCapacity: true)
        }

        /// Appends copies of others' particles, all with the same weight.
        mutating func append(_ other: Particles, _ picks: [Int32], weight even: Float) {
            Self.append(other.x, picks, to: &x)
            Self.append(other.y, picks, to: &y)
            Self.append(other.velocityX, picks, to: &velocityX)
            Self.append(other.velocityY, picks, to: &velocityY)
            Self.append(other.bias, picks, to: &bias)
            Self.append(other.scale, picks, to: &scale)
            Self.append(other.isWalking, picks, to: &isWalking)
            Self.append(other.level, picks, to: &level)
            weight.append(contentsOf: repeatElement(even, count: picks.count))
        }

        /// Appends others' particles as they are.
        mutating func append(_ other: Particles, _ range: Range<Int>) {
            x.append(contentsOf: other.x[range])
            y.append(contentsOf: other.y[range])
            velocityX.append(contentsOf: other.velocityX[range])
            velocityY.append(contentsOf: other.velocityY[range])
            bias.append(contentsOf: other.bias[range])
            scale.append(contentsOf: other.scale[range])
            isWalking.append(contentsOf: other.isWalking[range])
            level.append(contentsOf: other.level[range])
            weight.append(contentsOf: other.weight[range])
        }

        @inline(__always)
        private static func append<Element>(_ source: [Element], _ picks: [Int32], to target: inout [Element]) {
            target.append(contentsOf: picks.lazy.map { source[Int($0)] })
        }

        /// Chooses among some particles in proportion to their weights, evenly spread over them.
        ///
        /// - Parameter start: where to begin, as a share of the distance between two choices, in [0, 1).
        func pick(_ count: Int, of range: Range<Int>, start: Float, into picks: inout [Int32]) {
            picks.removeAll(keepingCapacity: true)
            guard count > 0, !range.isEmpty else { return }
            let step = weight(of: range) / Float(count)
            var next = start * step
            var position = range.lowerBound
            let weight = weight.span
            var sum = weight[position]
            for _ in 0..<count {
                while sum < next, position + 1 < range.upperBound {
                    position += 1
                    sum += weight[position]
                }
                picks.append(Int32(truncatingIfNeeded: position))
                next += step
            }
        }
    }
}
