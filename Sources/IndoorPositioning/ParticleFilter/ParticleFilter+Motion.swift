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
        workspace.strides.removeAll(keepingCapacity: true)
        for stride in strides where stride.isPlausible {
            workspace.strides.append(
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
                    &step, workspace.strides, workspace.strides.count, grid, walls.cells, walls.lines,
                    generator.ahead, range.lowerBound, range.count, &particles.isWalking, &particles.x, &particles.y,
                    &particles.velocityX, &particles.velocityY, &particles.bias, particles.scale, &particles.weight)
            }
            generator.skip((2 + 2 * workspace.strides.count) * range.count)
        }
    }
}

extension ParticleFilter {
    /// The probability at which an empty map receives particles from another map, and the one below which a map loses
    /// its particles.
    private static let settled = 0.05
    private static let abandoned = 0.005
    /// Standard deviation in metres of the distance between the end of a stair or an elevator and the people who used
    /// it: the barometer detects the change with a delay of some steps.
    private static let linkDeviation = 4.0
    /// Share of people who change floors at an unknown link.
    private static let unknownLinks = 0.1

    /// Returns whether a map has particles.
    func hasParticles(on mapIndex: Int) -> Bool { !particles.range(of: mapIndex).isEmpty }

    /// Multiplies the weights of those particles of a map whose position satisfies a predicate.
    mutating func weigh(mapIndex: Int, by share: Float, where isMeant: (MapPoint) -> Bool) {
        for index in particles.range(of: mapIndex)
        where isMeant(MapPoint(x: Double(particles.x[index]), y: Double(particles.y[index]))) {
            particles.weight[index] *= share
        }
    }

    /// Distributes the particles over the maps by probability, without beacon evidence. A new map receives particles
    /// from a map above or below, preferably near stairs and elevators.
    ///
    /// - Parameter probabilities: the probability of each map; sums to 1.
    mutating func carry(to probabilities: [Double], by links: FloorLinks) {
        let members = probabilities.indices.map { particles.range(of: $0) }
        let stay = probabilities.indices.map { mapIndex in
            probabilities[mapIndex] >= (members[mapIndex].isEmpty ? Self.settled : Self.abandoned)
        }
        let isSame = probabilities.indices.allSatisfy { stay[$0] != members[$0].isEmpty }
        let source = probabilities.indices.filter { !members[$0].isEmpty }
            .max { particles.weight(of: members[$0]) < particles.weight(of: members[$1]) }
        guard !isSame, let source else { return setMapShares(probabilities) }
        setAside(makingRoomFor: probabilities)
        var next = 0
        for (mapIndex, probability) in probabilities.enumerated() where stay[mapIndex] {
            let wanted = wanted(probability)
            let even = Float(probability / Double(wanted))
            let first = next
            resample(
                members[mapIndex].isEmpty ? members[source] : members[mapIndex], count: wanted, at: &next,
                mapIndex: mapIndex,
                weight: even)
            if members[mapIndex].isEmpty { move(first..<next, from: source, to: mapIndex, by: links) }
        }
        particles.resize(to: next)
        rearrangeErrors(count: next)
        setMapShares(probabilities)
    }

    /// Transforms particles copied from another map to the coordinates of this map.
    private mutating func move(_ range: Range<Int>, from: Int, to: Int, by links: FloorLinks) {
        let ends = links.links(from: from, to: to).map(\.end)
        for index in range {
            let old = MapPoint(x: Double(particles.x[index]), y: Double(particles.y[index]))
            let point = links.place(of: old, from: from, to: to)
            particles.x[index] = Float(point.x)
            particles.y[index] = Float(point.y)
            workspace.origins[index] = -1
            guard let nearest = ends.map({ $0.distance(to: point) }).min() else { continue }
            let share = nearest / Self.linkDeviation
            particles.weight[index] *= Float(
                Self.unknownLinks + (1 - Self.unknownLinks) * cmath_exp(-share * share / 2))
        }
    }
}
