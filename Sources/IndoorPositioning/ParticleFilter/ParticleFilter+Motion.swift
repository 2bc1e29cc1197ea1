import CMath
import IndoorVocabulary
import VenueModel

extension ParticleFilter {
    /// Moves the particles by the motion model, for a device without motion sensors.
    package mutating func drift(seconds: Double) {
        let keep = Float(cmath_exp(-seconds / motion.velocityTime))
        var step = cmath_drift(
            seconds: Float(seconds), keep: keep,
            kick: Float(motion.walkingSpeed) * (1 - keep * keep).squareRoot(), speed: Float(motion.walkingSpeed),
            start_chance: Self.chance(rate: motion.startRate, seconds),
            stop_chance: Self.chance(rate: motion.stopRate, seconds),
            turn_chance: Self.chance(rate: motion.turnRate, seconds),
            walking_wander: Float(motion.walkingWander * seconds.squareRoot()),
            standing_wander: Float(motion.standingWander * seconds.squareRoot()))
        for mapIndex in walls.indices {
            let range = particles.range(of: mapIndex)
            // The wall index of a map is built only if particles can meet the walls.
            guard !range.isEmpty else { continue }
            let walls = walls[mapIndex].table
            withUnsafePointer(to: walls.grid) { grid in
                cmath_drift(
                    &step, grid, walls.cells, walls.lines, generator.ahead, range.lowerBound,
                    range.count, &particles.isWalking, &particles.x, &particles.y, &particles.velocityX,
                    &particles.velocityY, &particles.weight)
            }
            generator.skip(3 * range.count)
        }
    }

    /// Adds the process noise of some seconds to the particles' receiver states.
    package mutating func passReceivers(seconds: Double, _ model: SignalModel) {
        particles.receivers.pass(
            seconds: seconds, wander: model.receiverOffsetDeviation > 0 ? model.receiverWander : 0,
            bodyVariance: model.bodyDeviation * model.bodyDeviation, bodyTime: model.bodyTime)
    }

    /// Returns the probability, scaled by 2³², of an event with a rate per second to occur within some seconds.
    private static func chance(rate: Double, _ seconds: Double) -> UInt32 {
        let chance = (1 - cmath_exp(-seconds * rate)) * 0x1p32
        return chance > 0 ? UInt32(min(chance, Double(UInt32.max))) : 0
    }

    /// Moves the particles by measured steps during `seconds`; without steps, the device stands.
    ///
    /// Steps longer than 10 m are ignored as implausible.
    package mutating func walk(_ strides: some Sequence<Stride>, seconds: Double) {
        let root = Float(seconds.squareRoot())
        var step = cmath_walk(
            drift: Float(motion.headingDrift * .pi / 180) * root, turn: Float(motion.stepTurn * .pi / 180),
            stretch: Float(motion.stepLength), wander: Float(motion.standingWander) * root)
        self.strides.removeAll(keepingCapacity: true)
        for stride in strides where stride.isPlausible {
            self.strides.append(
                cmath_stride(
                    length: Float(stride.length), heading: Float(stride.heading ?? 0),
                    has_heading: stride.heading != nil))
        }
        for mapIndex in walls.indices {
            let range = particles.range(of: mapIndex)
            guard !range.isEmpty else { continue }
            let walls = walls[mapIndex].table
            withUnsafePointer(to: walls.grid) { grid in
                cmath_walk(
                    &step, self.strides, self.strides.count, grid, walls.cells, walls.lines,
                    generator.ahead, range.lowerBound, range.count, &particles.isWalking, &particles.x, &particles.y,
                    &particles.velocityX, &particles.velocityY, &particles.bias, particles.scale, &particles.weight)
            }
            generator.skip((2 + 2 * self.strides.count) * range.count)
        }
    }
}
