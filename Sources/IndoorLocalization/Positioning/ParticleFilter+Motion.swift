import CMath

extension ParticleFilter {
    /// Room for the random numbers of some particles, used again and again.
    struct MotionScratch: Sendable {
        /// Particles that are moved at a time: as many as their numbers stay in the nearest cache.
        static let chunk = 256

        /// The number of the draw that each normal pair begins with.
        var draws: [Int32] = []
        /// The pairs.
        var x: [Float] = []
        var y: [Float] = []
        /// Whether each particle began or stopped to walk.
        var hasTurned: [Bool] = []
        /// Indexes of particles that a wall stops.
        var blocked: [Int32] = []
        /// Directions, with their sines and cosines.
        var angles: [Float] = []
        var sines: [Float] = []
        var cosines: [Float] = []

        /// Makes room for that many pairs and angles.
        mutating func prepare(pairs: Int, angles count: Int) {
            Self.extend(&draws, to: pairs, with: 0)
            Self.extend(&x, to: pairs, with: 0)
            Self.extend(&y, to: pairs, with: 0)
            Self.extend(&hasTurned, to: Self.chunk, with: false)
            Self.extend(&blocked, to: Self.chunk, with: 0)
            Self.extend(&angles, to: count, with: 0)
            Self.extend(&sines, to: count, with: 0)
            Self.extend(&cosines, to: count, with: 0)
        }

        private static func extend<Element>(_ array: inout [Element], to count: Int, with element: Element) {
            if array.count < count { array.append(contentsOf: repeatElement(element, count: count - array.count)) }
        }
    }

    /// Metres that some particles want to move.
    struct Displacement: Sendable {
        var x: [Float] = []
        var y: [Float] = []

        mutating func prepare() {
            guard x.count < MotionScratch.chunk else { return }
            x = Array(repeating: 0, count: MotionScratch.chunk)
            y = x
        }
    }

    /// Makes `count` normal pairs of draws ahead of the generator, which passes over `used` of them.
    mutating func drawPairs(_ count: Int, passing used: Int32) {
        let state = generator.state
        Self.drawPairs(count, state, scratch.draws, &scratch.x, &scratch.y)
        generator.skip(used)
    }

    private static func drawPairs(
        _ count: Int, _ state: UInt64, _ draws: [Int32], _ x: inout [Float], _ y: inout [Float]
    ) {
        precondition(count <= min(draws.count, x.count, y.count), "no room for \(count) pairs")
        cmath_normal_pairs(state, SeededGenerator.step, draws, count, &x, &y)
    }

    /// Moves the particles as somebody moves whom no motion sensor watches.
    package mutating func drift(seconds: Double) {
        let keep = Float(cmath_exp(-seconds / motion.velocityTime))
        let step = DriftStep(
            seconds: Float(seconds), keep: keep, speed: Float(motion.walkingSpeed),
            kick: Float(motion.walkingSpeed) * (1 - keep * keep).squareRoot(),
            startChance: 1 - cmath_exp(-seconds * motion.startRate),
            stopChance: 1 - cmath_exp(-seconds * motion.stopRate),
            walkingWander: Float(motion.walkingWander * seconds.squareRoot()),
            standingWander: Float(motion.standingWander * seconds.squareRoot()))
        scratch.prepare(pairs: 3 * MotionScratch.chunk, angles: 0)
        displacement.prepare()
        for start in stride(from: 0, to: particles.count, by: MotionScratch.chunk) {
            drift(start..<min(start + MotionScratch.chunk, particles.count), step)
        }
    }

    /// The numbers of a step without sensors.
    private struct DriftStep {
        var seconds: Float
        /// Share of the velocity that is kept, and deviation in m/s of what is new in it.
        var keep: Float
        var speed: Float
        var kick: Float
        var startChance: Double
        var stopChance: Double
        /// Deviations in metres.
        var walkingWander: Float
        var standingWander: Float
    }

    private mutating func drift(_ range: Range<Int>, _ step: DriftStep) {
        let (pairs, used) = Self.planDrift(
            range, step, generator, &particles.isWalking, &scratch.draws, &scratch.hasTurned)
        drawPairs(pairs, passing: used)
        Self.drift(
            range, step, particles.isWalking, scratch, &particles.velocityX, &particles.velocityY, &displacement.x,
            &displacement.y)
        advance(range)
    }

    /// Decides who begins or stops to walk, and which draws are whose: one for the decision, then pairs for a new
    /// velocity, for its change and for wandering.
    ///
    /// - Returns: the number of pairs and of draws.
    private static func planDrift(
        _ range: Range<Int>, _ step: DriftStep, _ generator: SeededGenerator, _ isWalking: inout [Bool],
        _ draws: inout [Int32], _ hasTurned: inout [Bool]
    ) -> (pairs: Int, used: Int32) {
        var (draw, pair): (Int32, Int) = (1, 0)
        var isWalking = isWalking.mutableSpan
        var draws = draws.mutableSpan
        var hasTurned = hasTurned.mutableSpan
        for index in range {
            let chance = isWalking[index] ? step.stopChance : step.startChance
            let turns = generator.uniform(ahead: draw) < chance
            hasTurned[index &- range.lowerBound] = turns
            draw &+= 1
            if turns {
                isWalking[index] = !isWalking[index]
                draws[pair] = draw
                pair &+= 1
                draw &+= 2
            }
            // Written in any case and counted if it is meant: whether somebody walks cannot be foretold.
            draws[pair] = draw
            let walks = isWalking[index] ? 1 : 0
            pair &+= walks
            draw &+= Int32(truncatingIfNeeded: 2 &* walks)
            draws[pair] = draw
            pair &+= 1
            draw &+= 2
        }
        return (pair, draw &- 1)
    }

    private static func drift(
        _ range: Range<Int>, _ step: DriftStep, _ isWalking: [Bool], _ scratch: MotionScratch,
        _ velocityX: inout [Float], _ velocityY: inout [Float], _ dx: inout [Float], _ dy: inout [Float]
    ) {
        let (normalX, normalY, hasTurned) = (scratch.x.span, scratch.y.span, scratch.hasTurned.span)
        let isWalking = isWalking.span
        var velocityX = velocityX.mutableSpan
        var velocityY = velocityY.mutableSpan
        var dx = dx.mutableSpan
        var dy = dy.mutableSpan
        var pair = 0
        for offset in 0..<range.count {
            let index = range.lowerBound &+ offset
            if hasTurned[offset] {
                velocityX[index] = normalX[pair] * step.speed
                velocityY[index] = normalY[pair] * step.speed
                pair &+= 1
            }
            var (x, y): (Float, Float) = (0, 0)
            var wander = step.standingWander
            if isWalking[index] {
                velocityX[index] = velocityX[index] * step.keep + normalX[pair] * step.kick
                velocityY[index] = velocityY[index] * step.keep + normalY[pair] * step.kick
                (x, y) = (velocityX[index] * step.seconds, velocityY[index] * step.seconds)
                wander = step.walkingWander
                pair &+= 1
            }
            dx[offset] = x + normalX[pair] * wander
            dy[offset] = y + normalY[pair] * wander
            pair &+= 1
        }
    }

    /// Moves particles by what is in the scratch, as far as walls let them.
    mutating func advance(_ range: Range<Int>) {
        // Of one level at a time, as particles are in the levels' order.
        var rest = range
        while let first = rest.first {
            let level = Int(particles.level[first])
            let part = rest.clamped(to: particles.range(of: level))
            let blocked = walls[level].move(
                part, &particles.x, &particles.y, by: displacement.x, displacement.y,
                from: part.lowerBound - range.lowerBound, blocked: &scratch.blocked)
            for index in scratch.blocked.prefix(blocked) {
                // Somebody in front of a wall stands or turns; the guess is less likely, not impossible.
                particles.velocityX[Int(index)] /= -2
                particles.velocityY[Int(index)] /= -2
                particles.weight[Int(index)] *= 0.3
            }
            rest = part.upperBound..<range.upperBound
        }
    }
}
