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
    }

    /// A displacement that sensors measured.
    package struct Stride: Hashable, Sendable {
        /// Metres.
        package var length: Double
        /// Course of the device in radians clockwise from the plan's top; nil if unknown.
        package var heading: Double?
    }

    private(set) var particles = Particles()
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

    /// Replaces `share` of the particles, or makes all if there are none, by draws from the grid posterior.
    package mutating func seed(from posterior: GridPosterior, field: SignalField, share: Double) {
        let total = particles.count
        let fresh = total == 0 ? count : Int(Double(total) * share)
        guard fresh > 0 else { return }
        var drawn = Particles()
        for sample in posterior.draw(fresh, using: &generator) {
            appendParticle(&drawn, sample: sample, field: field)
        }
        if total == 0 {
            particles = drawn
            return
        }
        // Resampling has left the order random enough: every (total / fresh)-th makes room.
        let stride = total / fresh
        for index in 0..<fresh { move(drawn, index, to: index * stride) }
    }

    private mutating func appendParticle(_ drawn: inout Particles, sample: (level: Int, cell: Int), field: SignalField)
    {
        let grid = field.levels[sample.level].grid
        let center = grid.center(of: sample.cell)
        drawn.x.append(Float(center.x + (generator.uniform() - 0.5) * grid.cellSize))
        drawn.y.append(Float(center.y + (generator.uniform() - 0.5) * grid.cellSize))
        let (vx, vy) = generator.normalPair()
        drawn.velocityX.append(Float(vx * motion.walkingSpeed))
        drawn.velocityY.append(Float(vy * motion.walkingSpeed))
        let isUnknown = generator.uniform() < motion.headingUnknown
        let (turn, scale) = generator.normalPair()
        let bias = isUnknown ? generator.uniform() * 2 * .pi : turn * motion.headingBias * .pi / 180
        drawn.bias.append(Float(bias))
        drawn.scale.append(Float(max(0.4, 1 + scale * motion.stepScale)))
        drawn.isWalking.append(generator.uniform() < motion.startRate / (motion.startRate + motion.stopRate))
        drawn.level.append(Int32(sample.level))
        drawn.weight.append(1 / Float(count))
    }

    private mutating func move(_ source: Particles, _ from: Int, to: Int) {
        particles.x[to] = source.x[from]
        particles.y[to] = source.y[from]
        particles.velocityX[to] = source.velocityX[from]
        particles.velocityY[to] = source.velocityY[from]
        particles.bias[to] = source.bias[from]
        particles.scale[to] = source.scale[from]
        particles.isWalking[to] = source.isWalking[from]
        particles.level[to] = source.level[from]
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
    package mutating func walk(_ strides: [Stride], seconds: Double) {
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

    /// Multiplies the weights by the likelihood whose logarithms are given, one a particle.
    ///
    package mutating func weigh(_ likelihood: [Float]) {
        guard let best = likelihood.max(), best.isFinite else { return }
        var sum: Float = 0
        for index in 0..<particles.count {
            // The floor keeps every guess alive for the case that the evidence is an outlier as a whole.
            particles.weight[index] *= cmath_expf(max(likelihood[index] - best, -30)) + 1e-6
            sum += particles.weight[index]
        }
        guard sum > 0, sum.isFinite else {
            let even = 1 / Float(particles.count)
            for index in 0..<particles.count { particles.weight[index] = even }
            return
        }
        for index in 0..<particles.count { particles.weight[index] /= sum }
    }

    /// Draws the particles anew in proportion to their weights, if these have become too uneven.
    ///
    /// Systematic resampling. Source: J. Carpenter, P. Clifford, P. Fearnhead, *Improved Particle Filter for
    /// Nonlinear Problems*, IEE Proceedings Radar 146(1), 1999.
    package mutating func resampleIfNeeded() {
        let squares = particles.weight.reduce(Float(0)) { $0 + $1 * $1 }
        let total = particles.count
        guard total > 0, squares > 0, 1 / squares < Float(total) / 2 else { return }
        let old = particles
        let even = 1 / Float(total)
        var next = Float(generator.uniform()) * even
        var source = 0
        var sum = old.weight[0]
        for index in 0..<total {
            while sum < next, source + 1 < total {
                source += 1
                sum += old.weight[source]
            }
            move(old, source, to: index)
            particles.weight[index] = even
            next += even
        }
    }
}
