import CMath

/// Many guesses of where the device is, on all maps at once: moved as people move, weighed by evidence.
///
/// Source: N. J. Gordon, D. J. Salmond, A. F. M. Smith, *Novel Approach to Nonlinear/Non-Gaussian Bayesian State
/// Estimation*, IEE Proceedings F 140(2), 1993; new guesses from the evidence itself: S. Lenser, M. Veloso, *Sensor
/// Resetting Localization for Poorly Modelled Mobile Robots*, ICRA 2000.
package struct ParticleFilter: Sendable {
    /// The state of each particle, one array a quantity.
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
        /// Index into the field's levels.
        var level: [Int32] = []
        var weight: [Float] = []

        var count: Int { x.count }

        /// The indexes of the particles on each level, in order.
        func members(levels: Int) -> [[Int]] {
            var members = [[Int]](repeating: [], count: levels)
            for index in 0..<count { members[Int(level[index])].append(index) }
            return members
        }

        mutating func append(_ other: Particles, _ index: Int, weight newWeight: Float) {
            x.append(other.x[index])
            y.append(other.y[index])
            velocityX.append(other.velocityX[index])
            velocityY.append(other.velocityY[index])
            bias.append(other.bias[index])
            scale.append(other.scale[index])
            isWalking.append(other.isWalking[index])
            level.append(other.level[index])
            weight.append(newWeight)
        }
    }

    /// A displacement that sensors measured.
    package struct Stride: Hashable, Sendable {
        /// Metres.
        package var length: Double
        /// Course of the device in radians clockwise from the plan's top; nil if unknown.
        package var heading: Double?

        /// Whether somebody may have made it; a broken sensor tells other things, too.
        var isPlausible: Bool { (0...10).contains(length) && heading?.isFinite ?? true }
    }

    /// Fewest particles on a level, however improbable it is: what is to be told of it needs some.
    private static let fewest = 100

    var particles = Particles()
    private var generator: SeededGenerator
    private let motion: MotionModel
    private let walls: [WallIndex]
    /// Number of particles.
    package let count: Int

    /// Whether there are particles at all.
    package var isEmpty: Bool { particles.count == 0 }

    /// Creates a filter without particles for the levels whose walls are given in order.
    package init(walls: [WallIndex], motion: MotionModel, count: Int, seed: UInt64) {
        self.walls = walls
        self.motion = motion
        self.count = count
        generator = SeededGenerator(seed: seed)
    }

    /// Shares the particles out to the levels as these are probable, and renews some from the grid posterior.
    ///
    /// - Parameters:
    ///   - probabilities: of each level; sums to 1.
    ///   - share: of the particles of a level that are drawn anew, in [0, 1]; on a level without particles all are.
    package mutating func redistribute(
        to probabilities: [Double], posterior: GridPosterior, field: SignalField, share: Double
    ) {
        let part = share > 0 ? min(share, 1) : 0
        let old = particles
        let members = old.members(levels: probabilities.count)
        particles = Particles()
        for (level, probability) in probabilities.enumerated() {
            let wanted = wanted(probability)
            let fresh = members[level].isEmpty ? wanted : Int((Double(wanted) * part).rounded())
            let even = Float(probability / Double(wanted))
            resample(members[level], of: old, count: wanted - fresh, weight: even)
            for cell in posterior.draw(fresh, level: level, using: &generator) {
                append(cell: cell, level: level, field: field, weight: even)
            }
        }
    }

    /// How many particles a level of that probability gets.
    func wanted(_ probability: Double) -> Int {
        max(Self.fewest, Int((probability * Double(count)).rounded()))
    }

    /// Draws from old particles in proportion to their weights, evenly spread over them.
    mutating func resample(_ members: [Int], of old: Particles, count: Int, weight: Float) {
        guard count > 0, let first = members.first else { return }
        let step = members.reduce(Float(0)) { $0 + old.weight[$1] } / Float(count)
        var next = Float(generator.uniform()) * step
        var position = 0
        var sum = old.weight[first]
        for _ in 0..<count {
            while sum < next, position + 1 < members.count {
                position += 1
                sum += old.weight[members[position]]
            }
            particles.append(old, members[position], weight: weight)
            next += step
        }
    }

    /// Appends a particle somewhere in a cell, moving in any way.
    private mutating func append(cell: Int, level: Int, field: SignalField, weight: Float) {
        let grid = field.levels[level].grid
        let center = grid.center(of: cell)
        let x = center.x + (generator.uniform() - 0.5) * grid.cellSize
        append(MapPoint(x: x, y: center.y + (generator.uniform() - 0.5) * grid.cellSize), level: level, weight: weight)
    }

    /// Appends a particle near a point, moving in any way.
    mutating func append(around point: MapPoint, deviation: Double, level: Int, weight: Float) {
        let (dx, dy) = generator.normalPair()
        append(point + MapPoint(x: dx, y: dy) * deviation, level: level, weight: weight)
    }

    private mutating func append(_ point: MapPoint, level: Int, weight: Float) {
        particles.x.append(Float(point.x))
        particles.y.append(Float(point.y))
        let (vx, vy) = generator.normalPair()
        particles.velocityX.append(Float(vx * motion.walkingSpeed))
        particles.velocityY.append(Float(vy * motion.walkingSpeed))
        let isUnknown = generator.uniform() < motion.headingUnknown
        let (turn, scale) = generator.normalPair()
        let bias = isUnknown ? generator.uniform() * 2 * .pi : turn * motion.headingBias * .pi / 180
        particles.bias.append(Float(bias))
        particles.scale.append(Float(max(0.4, 1 + scale * motion.stepScale)))
        particles.isWalking.append(generator.uniform() < motion.startRate / (motion.startRate + motion.stopRate))
        particles.level.append(Int32(level))
        particles.weight.append(weight)
    }

    /// Moves the particles as somebody moves whom no motion sensor watches.
    package mutating func drift(seconds: Double) {
        let keep = Float(cmath_exp(-seconds / motion.velocityTime))
        let kick = Float(motion.walkingSpeed) * (1 - keep * keep).squareRoot()
        let startChance = 1 - cmath_exp(-seconds * motion.startRate)
        let stopChance = 1 - cmath_exp(-seconds * motion.stopRate)
        let root = seconds.squareRoot()
        for index in 0..<particles.count {
            let isWalking = particles.isWalking[index]
            if generator.uniform() < (isWalking ? stopChance : startChance) {
                particles.isWalking[index] = !isWalking
                let (vx, vy) = generator.normalPair()
                particles.velocityX[index] = Float(vx * motion.walkingSpeed)
                particles.velocityY[index] = Float(vy * motion.walkingSpeed)
            }
            var dx: Float = 0
            var dy: Float = 0
            if particles.isWalking[index] {
                let (kickX, kickY) = generator.normalPair()
                particles.velocityX[index] = particles.velocityX[index] * keep + Float(kickX) * kick
                particles.velocityY[index] = particles.velocityY[index] * keep + Float(kickY) * kick
                dx = particles.velocityX[index] * Float(seconds)
                dy = particles.velocityY[index] * Float(seconds)
            }
            let (wanderX, wanderY) = generator.normalPair()
            let wander = (particles.isWalking[index] ? motion.walkingWander : motion.standingWander) * root
            advance(index, dx + Float(wanderX * wander), dy + Float(wanderY * wander))
        }
    }

    /// Moves the particles by measured steps over a time of `seconds`; no steps mean that the device stands.
    ///
    /// Steps that nobody makes, longer than 10 m, are ignored.
    package mutating func walk(_ strides: [Stride], seconds: Double) {
        let strides = strides.filter(\.isPlausible)
        let drift = motion.headingDrift * .pi / 180 * seconds.squareRoot()
        for index in 0..<particles.count {
            let (biasNoise, _) = generator.normalPair()
            particles.bias[index] += Float(biasNoise * drift)
            var dx = 0.0
            var dy = 0.0
            for stride in strides {
                let (turn, stretch) = generator.normalPair()
                let heading =
                    stride.heading.map { $0 + Double(particles.bias[index]) + turn * motion.stepTurn * .pi / 180 }
                    ?? generator.uniform() * 2 * .pi
                let length = stride.length * Double(particles.scale[index]) * (1 + stretch * motion.stepLength)
                dx += length * cmath_sin(heading)
                dy -= length * cmath_cos(heading)
            }
            let (wanderX, wanderY) = generator.normalPair()
            let wander = motion.standingWander * seconds.squareRoot()
            advance(index, Float(dx + wanderX * wander), Float(dy + wanderY * wander))
            particles.isWalking[index] = !strides.isEmpty
        }
    }

    private mutating func advance(_ index: Int, _ dx: Float, _ dy: Float) {
        let (x, y) = (particles.x[index], particles.y[index])
        if walls[Int(particles.level[index])].blocks(fromX: x, y: y, toX: x + dx, y: y + dy) {
            // Somebody in front of a wall stands or turns; the guess is less likely, not impossible.
            particles.velocityX[index] = -particles.velocityX[index] / 2
            particles.velocityY[index] = -particles.velocityY[index] / 2
            particles.weight[index] *= 0.3
            return
        }
        particles.x[index] = x + dx
        particles.y[index] = y + dy
    }

    /// Draws the particles of a level anew in proportion to their weights, where these have become too uneven.
    ///
    /// Systematic resampling. Source: J. Carpenter, P. Clifford, P. Fearnhead, *Improved Particle Filter for
    /// Nonlinear Problems*, IEE Proceedings Radar 146(1), 1999.
    package mutating func resampleIfNeeded(levels: Int) {
        var sums = [Float](repeating: 0, count: levels)
        var squares = [Float](repeating: 0, count: levels)
        var counts = [Int](repeating: 0, count: levels)
        for index in 0..<particles.count {
            let level = Int(particles.level[index])
            sums[level] += particles.weight[index]
            squares[level] += particles.weight[index] * particles.weight[index]
            counts[level] += 1
        }
        let isUneven = (0..<levels).map { sums[$0] * sums[$0] < squares[$0] * Float(counts[$0]) / 2 }
        guard isUneven.contains(true) else { return }
        let old = particles
        let members = old.members(levels: levels)
        particles = Particles()
        for level in 0..<levels where counts[level] > 0 {
            if isUneven[level] {
                resample(members[level], of: old, count: counts[level], weight: sums[level] / Float(counts[level]))
            } else {
                for member in members[level] { particles.append(old, member, weight: old.weight[member]) }
            }
        }
    }
}
