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

extension ParticleFilter {
    /// Weighs the particles of each map by the likelihood of the readings and updates their receiver states. Each map
    /// keeps its share of the total weight.
    ///
    /// - Parameter fill: adds to a sum for each occupied cell; -1 stands for the area outside the grid.
    /// - Returns: the log-likelihood of each map; minus infinity for a map without particles.
    package mutating func weigh(
        _ likelihood: Likelihood, fill: (_ mapIndex: Int, _ cells: [Int32], _ sums: inout [Float]) -> Void
    ) -> [Double] {
        workspace.evidence.removeAll(keepingCapacity: true)
        remember(likelihood)
        defer { use(likelihood.evidence) }
        while workspace.occupied.count < likelihood.field.maps.count { workspace.occupied.append(OccupiedCells()) }
        for mapIndex in likelihood.field.maps.indices {
            let members = particles.range(of: mapIndex)
            guard !members.isEmpty else {
                workspace.evidence.append(-.infinity)
                continue
            }
            workspace.occupied[mapIndex].find(
                particles, members, grid: likelihood.field.maps[mapIndex].grid, lookup: &workspace.lookup,
                all: &workspace.heardCells)
            workspace.cellSums.resize(to: 0, with: 0)
            workspace.cellSums.resize(to: workspace.occupied[mapIndex].cells.count, with: 0)
            fill(mapIndex, workspace.occupied[mapIndex].cells, &workspace.cellSums)
            likelihood.addRates(to: &workspace.cellSums, mapIndex: mapIndex, cells: workspace.occupied[mapIndex].cells)
            workspace.sums.resize(to: members.count, with: 0)
            cmath_gather(
                workspace.cellSums, workspace.occupied[mapIndex].slots, members.count, &workspace.sums, 0)
            likelihood.hear(
                &particles, members, mapIndex: mapIndex, cells: workspace.heardCells, sums: &workspace.sums,
                remembered: remembered)
            likelihood.ranges?.add(
                to: &workspace.sums, x: particles.x, y: particles.y, members, mapIndex: mapIndex)
            workspace.evidence.append(weigh(members))
        }
        return workspace.evidence
    }

    /// Weighs the particles of a map by the logarithms in `sums`.
    private mutating func weigh(_ members: Range<Int>) -> Double {
        guard var best = workspace.sums.first else { return -.infinity }
        for index in workspace.sums.indices where best < workspace.sums[index] { best = workspace.sums[index] }
        guard best.isFinite else { return -.infinity }
        cmath_exp_below(&workspace.sums, best, workspace.sums.count)
        let before = particles.weight(of: members)
        // The lower bound keeps every particle alive in case the evidence as a whole is an outlier.
        particles.weight.withUnsafeMutableBufferPointer { weights in
            workspace.sums.withUnsafeBufferPointer { sums in
                for index in sums.indices { weights[members.lowerBound + index] *= sums[index] + 1e-6 }
            }
        }
        let after = particles.weight(of: members)
        // The map's total weight doesn't change.
        let scale = before / after
        guard scale.isFinite else {
            for index in members { particles.weight[index] = before / Float(members.count) }
            return -.infinity
        }
        cmath_multiply(members.lowerBound, members.count, &particles.weight, scale)
        return Double(best) + cmath_log(Double(after / before))
    }

    /// Weighs particles that were drawn from grid cells by the distances to anchors, which are finer than the cells.
    ///
    /// - Parameter cells: the cell that each particle was drawn from.
    mutating func refine(_ members: Range<Int>, cells: [Int], mapIndex: Int, _ likelihood: Likelihood) {
        guard let ranges = likelihood.ranges, !members.isEmpty else { return }
        let grid = likelihood.field.maps[mapIndex].grid
        workspace.sums.resize(to: members.count, with: 0)
        for index in workspace.sums.indices { workspace.sums[index] = 0 }
        ranges.add(to: &workspace.sums, x: particles.x, y: particles.y, members, mapIndex: mapIndex)
        var distances = ranges.scratch
        for (index, cell) in cells.enumerated() {
            workspace.sums[index] -= ranges.logLikelihood(
                inCell: cell, grid: grid, mapIndex: mapIndex, distances: &distances)
        }
        _ = weigh(members)
    }

    /// Updates the receiver states of particles by the evidence that the particles were drawn from.
    mutating func teach(_ members: Range<Int>, mapIndex: Int, _ likelihood: Likelihood) {
        guard !members.isEmpty else { return }
        var place = likelihood.field.maps[mapIndex].grid.cells
        workspace.heardCells.resize(to: members.count, with: 0)
        cmath_cells(&place, members.lowerBound, members.count, particles.x, particles.y, &workspace.heardCells)
        workspace.sums.resize(to: members.count, with: 0)
        likelihood.hear(
            &particles, members, mapIndex: mapIndex, cells: workspace.heardCells, sums: &workspace.sums,
            remembered: remembered)
    }

    /// Returns the mean of the receiver offset on a map in dB and its variance in dB²; nil without particles.
    package func receiverOffset(mapIndex: Int) -> (mean: Double, variance: Double)? {
        particles.receivers.offset(of: particles.range(of: mapIndex), weights: particles.weight)
    }

    /// Sets each map's share of the total weight.
    package mutating func setMapShares(_ probabilities: [Double]) {
        for (mapIndex, probability) in probabilities.enumerated() {
            let members = particles.range(of: mapIndex)
            let sum = particles.weight(of: members)
            let scale = sum > 0 ? Float(probability) / sum : 0
            cmath_multiply(members.lowerBound, members.count, &particles.weight, scale)
        }
    }

    /// Returns the mean position, the sum of the variances along both axes in m², and the mean velocity on a map; nil
    /// without particles.
    package func moments(mapIndex: Int) -> (mean: MapPoint, variance: Double, velocity: MapPoint)? {
        let range = particles.range(of: mapIndex)
        var sums = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        withUnsafeMutableBytes(of: &sums) { sums in
            guard let sums = sums.assumingMemoryBound(to: Double.self).baseAddress else { return }
            cmath_moments(
                range.lowerBound, range.count, particles.x, particles.y, particles.velocityX, particles.velocityY,
                particles.isWalking, particles.weight, sums)
        }
        let (weight, x, y, square, vx, vy) = sums
        guard weight > 1e-6 else { return nil }
        let mean = MapPoint(x: x / weight, y: y / weight)
        let variance = max(0, square / weight - mean.x * mean.x - mean.y * mean.y)
        return (mean, variance, MapPoint(x: vx / weight, y: vy / weight))
    }
}

extension Likelihood {
    /// Adds the log-likelihood of the readings at each particle of a range and updates the particles' receiver states and
    /// lasting errors.
    ///
    /// - Parameters:
    ///   - cells: the cell of each particle in the range, numbered from 1 in the map's grid; 0 is outside it.
    ///   - remembered: the beacons of the lasting errors.
    package func hear(
        _ particles: inout ParticleFilter.Particles, _ range: Range<Int>, mapIndex index: Int, cells: [Int32],
        sums: inout [Float], remembered: RememberedBeacons = RememberedBeacons()
    ) {
        let columns = Int32(field.maps[index].grid.columns)
        precondition(sums.count >= range.count && cells.count >= range.count, "too few sums or cells")
        particles.hear { x, y, receivers, errors in
            precondition(errors.slots == 0 || errors.count >= range.upperBound, "too few lasting errors")
            forEachReading(mapIndex: index, remembered) { reading in
                reading.withHeard { heard in
                    guard let slot = reading.slot else {
                        return cmath_hear(&heard, columns, cells, x, y, range.lowerBound, range.count, receivers, &sums)
                    }
                    let age = evidence.time - slot.latest
                    errors.withPointers(slot.index, after: age, fading: reading.heard.variance) { last in
                        cmath_hear_lasting(
                            &heard, &last, columns, cells, x, y, range.lowerBound, range.count, receivers, &sums)
                    }
                }
            }
        }
    }
}

extension ParticleFilter {
    /// Largest coordinate in metres: no building is larger, and `Float` still resolves centimetres.
    private static let farthest = 1e6
    /// Probability that a soft fix is wrong: one in ten, such as a name plate read at the wrong door.
    private static let mistake = 0.1
    /// Largest negative exponent by which one fix reduces a particle's weight.
    private static let limit = 60.0

    /// Returns whether a position and its uncertainty, in metres, are within the numeric range of the filter.
    package static func isWithinReach(_ point: MapPoint, _ deviation: Double) -> Bool {
        abs(point.x) <= farthest && abs(point.y) <= farthest && deviation <= farthest
    }

    /// Applies an external position fix: a hard fix draws new particles, a soft fix weighs the existing ones.
    ///
    /// A hard fix is trusted. At least half of the map's particles are drawn from it. The others are resampled from the
    /// existing particles, and fewer of them are kept if they disagree with the fix. A soft fix can be wrong: a
    /// particle far from it keeps the probability that the fix is an error, which is uniform over the map. If the map
    /// has no particles, either kind of fix draws all of them.
    ///
    /// The filter ignores a fix that is farther than 1000 km from the map's origin or less certain than that.
    ///
    /// - Parameters:
    ///   - deviation: standard deviation along each axis, in metres, above 0.
    ///   - mapIndex: index of the fix's map.
    ///   - probabilities: the probability of each map given the fix; sums to 1.
    ///   - area: the area of the map in m² for a soft fix; nil for a hard one.
    /// - Returns: the agreement of the belief with the fix, and the share of the map's belief that relies on the fix.
    @discardableResult package mutating func applyFix(
        at point: MapPoint, deviation: Double, mapIndex: Int, probabilities: [Double], area: Double? = nil
    ) -> FixReception {
        guard Self.isWithinReach(point, deviation) else { return FixReception(agreement: nil, belief: 0) }
        let there = particles.range(of: mapIndex)
        var (all, near) = (0.0, 0.0)
        for index in there {
            let weight = Double(particles.weight[index])
            all += weight
            near += weight * likeness(index, point, deviation)
        }
        let agreement = all > 0 ? near / all : nil
        guard let agreement, let area, area > 0 else {
            draw(around: point, deviation: deviation, mapIndex: mapIndex, probabilities: probabilities, agreement)
            return FixReception(agreement: agreement, belief: 1)
        }
        // Density of the uniform distribution over the map, relative to that of the fix at its center.
        let anywhere = min(1, 2 * .pi * deviation * deviation / area)
        for index in there {
            particles.weight[index] *= Float(
                (1 - Self.mistake) * likeness(index, point, deviation) + Self.mistake * anywhere)
        }
        setMapShares(probabilities)
        let right = (1 - Self.mistake) * agreement
        return FixReception(agreement: agreement, belief: right / (right + Self.mistake * anywhere))
    }

    /// Returns the likelihood of the fix at a particle's position, relative to that at the position of the fix.
    private func likeness(_ index: Int, _ point: MapPoint, _ deviation: Double) -> Double {
        let (dx, dy) = (Double(particles.x[index]) - point.x, Double(particles.y[index]) - point.y)
        return cmath_exp(-min((dx * dx + dy * dy) / (2 * deviation * deviation), Self.limit))
    }

    private mutating func draw(
        around point: MapPoint, deviation: Double, mapIndex: Int, probabilities: [Double], _ agreement: Double?
    ) {
        for index in particles.range(of: mapIndex) {
            particles.weight[index] *= Float(likeness(index, point, deviation))
        }
        setAside(makingRoomFor: probabilities)
        var next = 0
        let there = workspace.spare.range(of: mapIndex)
        for (index, probability) in probabilities.enumerated() {
            let wanted = wanted(probability)
            let even = Float(probability / Double(wanted))
            guard index == mapIndex else {
                resample(workspace.spare.range(of: index), count: wanted, at: &next, mapIndex: index, weight: even)
                continue
            }
            // A belief elsewhere is discarded; keeping half of it would move the mean halfway back.
            let kept = there.isEmpty ? 0 : Int(Double(wanted) * min(0.5, agreement ?? 0))
            resample(there, count: kept, at: &next, mapIndex: mapIndex, weight: even)
            for _ in kept..<wanted {
                place(&next, around: point, deviation: deviation, mapIndex: mapIndex, weight: even)
            }
        }
        // A map without particles stays without particles.
        particles.resize(to: next)
        rearrangeErrors(count: next)
    }
}

/// The effect of an external position fix on the filter.
public struct FixReception: Hashable, Sendable {
    /// Agreement of the belief before the fix with the fix: 0 if they don't overlap, 1 if the belief is certain of the
    /// fix's position, about 0.5 if the belief is as uncertain as the fix; nil without a belief on that map.
    public var agreement: Double?
    /// Share of the belief after the fix that relies on the fix, in [0, 1].
    ///
    /// For a hard fix, this is the probability of its floor; for a soft fix, it also includes the probability that the
    /// fix is correct.
    public var belief: Double

    /// Creates a reception.
    package init(agreement: Double?, belief: Double) {
        self.agreement = agreement
        self.belief = belief
    }
}

/// The outcome of an external position fix.
public enum FixOutcome: Hashable, Sendable {
    /// The session has no position yet and keeps the fix as the starting position.
    case kept
    /// The filter applied the fix.
    case taken(FixReception)
    /// The filter ignored the fix for the given reason; the belief is unchanged.
    case ignored(FixError)
}
