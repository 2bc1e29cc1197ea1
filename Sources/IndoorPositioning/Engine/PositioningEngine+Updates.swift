import CMath
import IndoorVocabulary

/// The order in which an engine changes its state.
///
/// An update (`advance(to:)`) uses the evidence since the latest update. A look uses the evidence of the last seconds; it
/// begins the belief and recovers a lost position. The order of the steps matters, because a step reads what earlier
/// ones changed; the comments say which.
extension PositioningEngine {
    /// Advances the belief to `now` with all readings observed until then.
    public mutating func advance(to now: Instant) {
        let seconds = clock.advance(to: now)
        let measured = readings.ranges.drain(at: now)
        guard var heard = readings.drainBeacons(at: now, after: seconds) else {
            move(now, seconds, until: now)
            return reckon(after: seconds)
        }
        // The readings apply at their mean time; the motion model then advances the belief to now.
        let age = min(max(0, heard.heard.isEmpty ? measured?.age ?? 0 : heard.age), seconds)
        move(now, seconds - age, until: now.advanced(by: .zero - .seconds(age)))
        let isNew = !heard.heard.isEmpty || measured != nil
        if isNew { clock.noteNewEvidence() }
        readings.renewWindow(at: now)
        switch settings.method {
        case .particle:
            checks.beacons.weigh(&heard)
            if !belief.filter.isEmpty, seconds > 0 || isNew { update(heard, measured, seconds) }
            // After the update, so that the look compares the evidence with the latest belief.
            if clock.isLookDue(
                at: now, interval: settings.globalUpdateInterval, needsNewEvidence: effort.needsNewEvidence)
            {
                look(at: now)
            }
        case .fingerprint, .trilateration:
            estimateWithoutMemory(at: now)
        }
        move(now, age, until: now)
    }

    // MARK: Update

    /// Weighs the belief by the evidence since the latest update.
    private mutating func update(_ heard: Evidence, _ measured: RangeEvidence?, _ seconds: Double) {
        var likelihood = Likelihood(
            field: field, evidence: heard, receivers: device.offsets, reference: receiver,
            ranges: measured.map { self.likelihood(of: $0) })
        for index in field.maps.indices where belief.filter.hasParticles(on: index) {
            likelihood.lookUpTables(mapIndex: index)
        }
        // The receivers drift until the readings that show their state.
        belief.filter.passReceivers(seconds: seconds, field.model)
        let (expectation, outside) = (Float(settings.priorShare * seconds), cmath_logf(1e-3))
        let evidence = belief.filter.weigh(likelihood) { index, cells, sums in
            let logPrior = field.maps[index].logPrior
            sums.withUnsafeMutableBufferPointer { sums in
                for position in cells.indices {
                    sums[position] = expectation * (cells[position] < 0 ? outside : logPrior[Int(cells[position])])
                }
            }
        }
        // The weights of the particles on each map are the evidence for the maps; then they get the maps' shares.
        belief.floors.observe(
            evidence: evidence, weight: settings.levelShare, height: readings.pressure.drainHeight(), after: seconds)
        belief.filter.setMapShares(mapShares)
        // Before the resampling, which makes the weights even.
        learnOffsets()
        belief.filter.resampleIfNeeded(mapCount: field.maps.count)
    }

    // MARK: Look

    /// Performs a global update with the evidence of the last seconds, which initializes the belief and recovers a lost
    /// position.
    private mutating func look(at now: Instant) {
        let measured = readings.ranges.snapshot(at: now)
        var heard = readings.window ?? .silent
        guard !heard.heard.isEmpty || measured != nil else { return }
        let isHeard = !heard.heard.isEmpty

        // The beacons test each other first: all later steps use the weights that the test gives to the beacons. If
        // faulty beacons have made the belief wrong, the maps and the receiver begin anew.
        let isAstray = testsBeacons && isHeard && examine(heard, at: now)
        if isAstray { leave(&heard) }
        checks.beacons.weigh(&heard)

        // Faulty beacons must not decide whether the device is of its model. Another device has another receiver, which
        // the likelihood needs.
        let unknown = isHeard ? device.rejectModel(by: heard, field: field) : nil
        if let unknown { begin(with: unknown) }
        let restarts = isAstray || unknown != nil

        var likelihood = Likelihood(
            field: field, evidence: heard, receivers: belief.filter.receivers,
            ranges: measured.map { self.likelihood(of: $0) })
        for index in field.maps.indices where likelihood.isInQuestion(mapIndex: index) {
            likelihood.lookUpTables(mapIndex: index)
        }
        var posterior = GridPosterior(likelihood, isCoarse: !belief.filter.isEmpty && !restarts)

        // The belief is compared before it takes particles from the posterior. The test assumes the full weight of the
        // evidence, but the belief uses distances with less weight.
        let interval = clock.secondsSinceLook(at: now)
        if measured == nil { compare(posterior, after: interval) }
        clock.noteLook(at: now)

        // The first look begins the belief: a restored position weighs the posterior, which gives the maps their
        // probabilities, which give the maps their particles.
        if let restored = belief.restored.take(), belief.floors.isEmpty {
            posterior.weigh(restored, field: field, motion: settings.motion, at: now)
        }
        if belief.floors.isEmpty { belief.floors.observe(evidence: posterior.mapEvidence, height: nil, after: 0) }
        belief.filter.redistribute(
            to: mapShares, posterior: posterior, likelihood: likelihood,
            share: restarts ? 1 : settings.recoveryShare)

        // With the new particles, and after the first look is noted: the height is that on the most probable map.
        if let measured { learnHeight(measured, after: interval) }
    }

    /// Compares the belief with the evidence of the last seconds, on the most probable map.
    private mutating func compare(_ latest: GridPosterior, after seconds: Double?) {
        guard let mapIndex = learnedMapIndex, let place = belief.filter.moments(mapIndex: mapIndex),
            let latest = latest.moments(mapIndex: mapIndex, field: field)
        else { return }
        checks.consistency.observe(
            difference: place.mean.distance(to: latest.mean), latest: latest.variance, belief: place.variance,
            after: seconds ?? 0)
    }

    // MARK: Without beacons

    /// Continues a belief by dead reckoning after a fix, as long as no beacon has been detected.
    ///
    /// Without a barometer, the floor doesn't change. After the first detected beacon, `advance(to:)` weighs maps and
    /// positions by the beacons, including missing detections.
    private mutating func reckon(after seconds: Double) {
        guard settings.method == .particle, !belief.filter.isEmpty, seconds > 0 else { return }
        readings.pressureGap += seconds
        if let height = readings.pressure.drainHeight() {
            belief.floors.observe(
                evidence: field.maps.map { _ in 0 }, height: height, after: readings.pressureGap, canBeMistaken: false)
            readings.pressureGap = 0
        }
        confine(after: seconds)
        belief.filter.carry(to: mapShares, by: premises.links)
        belief.filter.resampleIfNeeded(mapCount: field.maps.count)
    }

    // MARK: Without memory

    /// Updates the estimate of a method that uses only the evidence of the last seconds.
    private mutating func estimateWithoutMemory(at now: Instant) {
        let measured = readings.ranges.snapshot(at: now)
        let heard = readings.window ?? .silent
        guard !heard.heard.isEmpty || measured != nil else { return }
        switch settings.method {
        case .particle: break
        case .fingerprint:
            belief.memoryless.estimateByFingerprint(
                heard, field: field, receivers: device.offsets, ranges: measured.map { likelihood(of: $0) })
        case .trilateration:
            belief.memoryless.estimateByTrilateration(
                heard, field: field, distances: measured.map { distances(of: $0) } ?? [])
        }
    }

    /// Returns the distances to the anchors of each map. Distances through a floor are left out, as they are too long.
    private func distances(of evidence: RangeEvidence) -> [[Trilateration.Distance]] {
        let anchors = premises.anchors
        return field.maps.indices.map { mapIndex in
            evidence.measured.compactMap { measured in
                guard anchors.floors(from: measured.anchor, to: mapIndex) == 0 else { return nil }
                return Trilateration.Distance(
                    point: anchors.anchors[measured.anchor].point,
                    heightDifference: anchors.heightDifference(
                        of: measured.anchor, above: belief.height.value, mapIndex: mapIndex),
                    distance: measured.distance, deviation: measured.deviation)
            }
        }
    }
}

// The parts of the steps.
extension PositioningEngine {
    /// Time in seconds without an accelerometer reading after which the motion is unknown.
    private static let motionTimeout = 1.0
    /// Factor per second on the weight of a particle outside the accessible area. The factor isn't 0 because a fix can
    /// lie outside the plan.
    private static let outsideShare = 0.05
    /// The maximum number of particles that are used to compare heights of the device.
    private static let heightSample = 64
    /// The time in seconds for which errors of the height persist, for all technologies.
    private static let heightTime = 10.0

    /// Moves the particles by some seconds, and by the steps until an instant.
    private mutating func move(_ now: Instant, _ seconds: Double, until end: Instant) {
        let taken = steps.pending.prefix { $0.instant <= end }
        defer { steps.pending.removeFirst(taken.count) }
        guard seconds > 0, !belief.filter.isEmpty else { return }
        // During dead reckoning from steps, the device stands if no steps arrive.
        steps.isSensed = steps.silence(at: now) < Self.motionTimeout || !hasHeard && steps.latest != nil
        if steps.isSensed {
            belief.filter.walk(taken.lazy.map(\.stride), seconds: seconds)
        } else {
            belief.filter.drift(seconds: seconds)
        }
    }

    /// Reduces the weights of particles outside the plan or its walkable areas.
    ///
    /// Without beacons, nothing shows whether the device is still in the building. A particle that leaves through an
    /// unmapped wall meets no further walls, so its weight would exceed the weights of the particles inside.
    private mutating func confine(after seconds: Double) {
        let share = Float(cmath_pow(Self.outsideShare, seconds))
        for (mapIndex, map) in field.maps.enumerated() where belief.filter.hasParticles(on: mapIndex) {
            premises.space.survey(mapIndex, by: map.grid)
            let space = premises.space
            belief.filter.weigh(mapIndex: mapIndex, by: share) {
                !space.contains($0, mapIndex: mapIndex, by: map.grid)
            }
        }
    }

    /// Returns the likelihood of distances for a device at a height; nil for the estimated height.
    private func likelihood(of evidence: RangeEvidence, height: Double? = nil) -> RangeLikelihood {
        RangeLikelihood(
            evidence, anchors: premises.anchors, model: settings.ranges, height: height ?? belief.height.value,
            mapCount: field.maps.count, cellSize: field.maps.reduce(0) { max($0, $1.grid.cellSize) })
    }

    /// Updates the estimated height of the device from the distances of the last seconds.
    ///
    /// - Parameter seconds: time since the previous update; nil for the first one.
    private mutating func learnHeight(_ measured: RangeEvidence, after seconds: Double?) {
        guard !belief.height.isKnown, let mapIndex = learnedMapIndex else { return }
        let (particles, range) = (belief.filter.particles, belief.filter.particles.range(of: mapIndex))
        let picks = Array(stride(from: range.lowerBound, to: range.upperBound, by: 1 + range.count / Self.heightSample))
        guard !picks.isEmpty else { return }
        let logs = belief.height.candidates.map { height in
            let likelihood = likelihood(of: measured, height: height)
            var distances = likelihood.scratch
            let sums = picks.map { index in
                likelihood.logLikelihood(
                    x: particles.x[index], y: particles.y[index], mapIndex: mapIndex, distances: &distances)
            }
            let best = sums.max() ?? 0
            let mean = zip(sums, picks).reduce(0) { sum, pair in
                sum + Double(particles.weight[pair.1]) * Double(cmath_expf(pair.0 - best))
            }
            return Double(best) + cmath_log(max(mean, .leastNormalMagnitude))
        }
        let share = seconds.map { 1 - cmath_exp(-$0 / Self.heightTime) } ?? 1
        belief.height.observe(logs, share: share, after: seconds ?? 0)
    }
}
