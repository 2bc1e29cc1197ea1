import CMath

extension ParticleFilter {
    /// Moves the particles by measured steps over a time of `seconds`; no steps mean that the device stands.
    ///
    /// Steps that nobody makes, longer than 10 m, are ignored.
    package mutating func walk(_ strides: [Stride], seconds: Double) {
        let strides = strides.filter(\.isPlausible)
        let root = Float(seconds.squareRoot())
        let step = WalkStep(
            strides: strides, drift: Float(motion.headingDrift * .pi / 180) * root,
            turn: Float(motion.stepTurn * .pi / 180), stretch: Float(motion.stepLength),
            wander: Float(motion.standingWander) * root)
        // Many steps at once make fewer particles at a time, so that the room stays small.
        let chunk = max(1, MotionScratch.chunk / (1 + strides.count))
        scratch.prepare(pairs: chunk * step.pairs, angles: chunk * strides.count)
        displacement.prepare()
        for start in stride(from: 0, to: particles.count, by: chunk) {
            walk(start..<min(start + chunk, particles.count), step)
        }
    }

    /// The numbers of a step that sensors tell.
    private struct WalkStep {
        var strides: [Stride]
        /// Deviations: of what the heading drifts and of a stride's direction, in radians; of its length, as a share; of
        /// wandering, in metres.
        var drift: Float
        var turn: Float
        var stretch: Float
        var wander: Float

        /// Normal pairs of a particle: for the heading, for each stride, and for wandering.
        var pairs: Int { 2 + strides.count }
    }

    private mutating func walk(_ range: Range<Int>, _ step: WalkStep) {
        let used = Self.planWalk(range, step, generator, &scratch.draws, &scratch.angles)
        drawPairs(range.count * step.pairs, passing: used)
        Self.turn(range, step, scratch.x, &particles.bias, &scratch.angles)
        Self.resolve(scratch.angles, range.count * step.strides.count, &scratch.sines, &scratch.cosines)
        Self.walk(range, step, scratch, particles.scale, &displacement.x, &displacement.y)
        for index in range { particles.isWalking[index] = !step.strides.isEmpty }
        advance(range)
    }

    /// Tells which draws are whose; a stride without heading takes one more for its direction.
    ///
    /// - Returns: the number of draws.
    private static func planWalk(
        _ range: Range<Int>, _ step: WalkStep, _ generator: SeededGenerator, _ draws: inout [Int32],
        _ angles: inout [Float]
    ) -> Int32 {
        var draw: Int32 = 1
        var (pair, angle) = (0, 0)
        for _ in range {
            draws[pair] = draw
            pair += 1
            draw += 2
            for stride in step.strides {
                draws[pair] = draw
                pair += 1
                draw += 2
                if stride.heading == nil {
                    angles[angle] = Float(generator.uniform(ahead: draw) * 2 * .pi)
                    draw += 1
                }
                angle += 1
            }
            draws[pair] = draw
            pair += 1
            draw += 2
        }
        return draw - 1
    }

    /// Lets headings drift and finds each stride's direction.
    private static func turn(
        _ range: Range<Int>, _ step: WalkStep, _ normal: [Float], _ bias: inout [Float], _ angles: inout [Float]
    ) {
        var (pair, angle) = (0, 0)
        for index in range {
            bias[index] += normal[pair] * step.drift
            pair += 1
            for stride in step.strides {
                if let heading = stride.heading {
                    angles[angle] = Float(heading) + bias[index] + normal[pair] * step.turn
                }
                pair += 1
                angle += 1
            }
            pair += 1
        }
    }

    private static func resolve(
        _ angles: [Float], _ count: Int, _ sines: inout [Float], _ cosines: inout [Float]
    ) {
        precondition(count <= min(angles.count, sines.count, cosines.count), "no room for \(count) angles")
        cmath_sines_cosines(angles, count, &sines, &cosines)
    }

    /// Adds up how far the strides go.
    private static func walk(
        _ range: Range<Int>, _ step: WalkStep, _ scratch: MotionScratch, _ scale: [Float], _ dx: inout [Float],
        _ dy: inout [Float]
    ) {
        var (pair, angle) = (0, 0)
        for index in range {
            var (x, y): (Float, Float) = (0, 0)
            pair += 1
            for stride in step.strides {
                let length = Float(stride.length) * scale[index] * (1 + scratch.y[pair] * step.stretch)
                x += length * scratch.sines[angle]
                y -= length * scratch.cosines[angle]
                pair += 1
                angle += 1
            }
            dx[index - range.lowerBound] = x + scratch.x[pair] * step.wander
            dy[index - range.lowerBound] = y + scratch.y[pair] * step.wander
            pair += 1
        }
    }
}
