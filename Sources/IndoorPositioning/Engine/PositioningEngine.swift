import CMath
import IndoorVocabulary
import VenueModel

/// A position estimator for one venue, which converts sensor readings into a belief about floor and position.
///
/// The engine is a value; the caller passes the time and the seed of the random numbers. The same calls give the same
/// results.
public struct PositioningEngine: Sendable {
    /// The estimated position of the device on one map.
    public struct Estimate: Hashable, Sendable {
        /// The point with the smallest expected error, in metres.
        public var point: MapPoint
        /// The 68 % error radius in metres around `point`.
        public var radius: Double
        /// Covariance of the error of `point`; nil if the method doesn't provide one.
        public var covariance: PositionCovariance?
        /// Course of the device in degrees clockwise from the plan's top; nil while the device stands or if the course
        /// is unclear.
        public var course: Double?
    }

    let field: SignalField
    let settings: PositioningSettings
    /// Limits on CPU and memory that are not user settings.
    let effort: PositioningEffort
    var collector: EvidenceCollector
    /// The anchors, and the distances to them.
    let anchors: AnchorField
    var ranging: RangeCollector
    /// The estimated height of the device above the floor.
    package internal(set) var deviceHeight: DeviceHeight
    var filter: ParticleFilter
    /// Stairs and elevators, for dead reckoning.
    let links: FloorLinks
    /// The accessible area of the plans, for dead reckoning.
    var space: FloorSpace
    /// The receiver prior before any evidence.
    var firstReceiver: ReceiverOffset
    /// The receiver priors of the device models in the survey.
    let devices: [String: RadioMap.Receiver]
    /// The named device model, while the evidence agrees with it; nil without one.
    var knownDevice: KnownDevice?
    /// The estimated receiver offset given each map.
    var offsets: [ReceiverOffset]
    private var pedometer = Pedometer()
    private var strides: [(instant: Instant, stride: ParticleFilter.Stride)] = []
    /// The time of the latest step and the device's heading at that time in radians; nil before any step.
    private(set) var latestStep: (instant: Instant, heading: Double?)?
    /// Whether a motion sensor was available at the latest advance.
    private(set) var isMotionSensed = false
    var lastAdvance: Instant?
    var floorFilter: FloorFilter
    /// The instant of the latest global update; nil before any.
    var lastLook: Instant?
    /// Whether a beacon was detected since then.
    private var hasNewEvidence = false
    var pressure = PressureMean()
    /// Seconds since the latest barometer reading was used, while no beacon is detected.
    var pressureGap = 0.0
    /// Sum of the step lengths since the latest hard fix, in metres.
    private(set) var reckonedWay = 0.0
    private var snapshot: Evidence?
    private var memoryless = SnapshotEstimate()
    /// The tests of the beacons against each other.
    var integrity: IntegrityMonitor
    /// The test of the belief against the evidence of the last seconds.
    var check = ConsistencyTest()
    /// Index of the locked map; nil if the evidence decides.
    private var lockedMapIndex: Int?
    /// Number of steps with a heading so far.
    private var stepCount = 0
    /// The restored position of an earlier session; nil once a beacon was detected.
    private var restored: RestoredPlace?
    /// The effect of the latest fix; nil if there was none, or if it was ignored.
    package private(set) var fixReception: FixReception?

    /// Time in seconds without an accelerometer reading after which the motion is unknown.
    private static let motionTimeout = 1.0
    /// Log-likelihood ratio for the map of a fix: 400 to 1, or 9 to 1 for a soft fix.
    private static let fixEvidence = 6.0
    private static let softFixEvidence = 2.2
    /// Share of the belief that each other map keeps while one map is locked, so that the evidence can still change
    /// their probabilities.
    private static let unlockedShare = 1e-4
    /// Number of steps after which the uncertainty of the step length is half as large: 35 m of walking between
    /// positions with an error of 2.5 m.
    private static let stepsToHalve = 50.0

    /// Creates an engine without any evidence of the device's position.
    ///
    /// - Parameters:
    ///   - venue: the venue in which the engine locates the device.
    ///   - settings: the settings of the engine.
    ///   - parts: replacements for the standard measurement model and prior.
    ///   - seed: the seed of all random numbers; the same seed gives the same estimates.
    public init(
        venue: Venue, settings: PositioningSettings = PositioningSettings(),
        parts: PositioningParts = PositioningParts(), seed: UInt64 = 0
    ) {
        let field = SignalField(venue: venue, model: settings.signal, parts: parts)
        self.init(venue: venue, field: field, settings: settings, seed: seed)
    }

    /// Creates an engine that shares an existing field with other sessions.
    package init(
        venue: Venue, field: SignalField, settings: PositioningSettings,
        effort: PositioningEffort = PositioningEffort(),
        seed: UInt64
    ) {
        self.field = field
        self.settings = settings
        self.effort = effort
        integrity = IntegrityMonitor(settings.testedBeacons)
        collector = EvidenceCollector(field: field)
        anchors = AnchorField(venue: venue)
        ranging = RangeCollector(model: settings.ranges)
        deviceHeight = DeviceHeight(model: settings.ranges)
        var motion = settings.motion
        if field.areLevelsKnown { motion.standingWander *= LastingErrors.wanderFactor }
        filter = ParticleFilter(
            walls: field.walls, motion: motion, resampling: settings.resampling,
            count: max(100, settings.particleCount), fewest: effort.fewestParticles, seed: seed)
        links = FloorLinks(venue: venue)
        space = FloorSpace(venue: venue)
        floorFilter = FloorFilter(floors: venue.maps.map { ($0.level, $0.elevation) })
        devices = venue.radioMap?.fit.devices ?? [:]
        firstReceiver = ReceiverOffset(
            deviation: field.model.receiverOffsetDeviation, bodyDeviation: field.model.bodyDeviation)
        offsets = Array(repeating: firstReceiver, count: field.maps.count)
        filter.receivers = offsets
    }

    /// Whether any beacon of the venue was detected, or a distance to an anchor was measured.
    var hasHeard: Bool { collector.hasHeard || ranging.hasMeasured }

    /// Whether a reading of a beacon has arrived since the latest advance.
    package var hasNewReadings: Bool { !collector.isEmpty }

    package var lastStep: Instant? { latestStep?.instant }

    /// Adds a reading; ignores readings of beacons and anchors that the venue doesn't contain.
    public mutating func observe(_ reading: SensorReading) {
        switch reading {
        case .sighting(let sighting):
            observe(sighting, window: .zero)
        case .motion, .step:
            if settings.motion.usesSteps { walk(reading) }
        case .pressure(let sample):
            pressure.add(sample.hectopascals)
        case .fix(let fix):
            apply(fix)
        case .range(let range):
            if let anchor = anchors.indexes[range.anchor] { ranging.add(range, anchor: anchor) }
        case .advertisement, .gnss, .radio:
            break
        }
    }

    /// Adds a sighting whose RSSI is a median over a window; zero for the RSSI of one advertisement.
    package mutating func observe(_ sighting: Sighting, window: Duration) {
        guard sighting.hasMeasurement, let beacon = field.indexes[sighting.beacon] else { return }
        collector.add(beacon: beacon, rssi: sighting.rssi, at: sighting.instant, window: window)
    }

    private mutating func walk(_ reading: SensorReading) {
        switch reading {
        case .motion(let sample):
            if let length = pedometer.detect(sample) {
                add(length: length, heading: pedometer.heading, at: sample.instant)
            }
        case .step(let step):
            let heading = step.heading.map { $0 * .pi / 180 } ?? pedometer.heading
            add(length: pedometer.report(step), heading: heading, at: step.instant)
        case .sighting, .advertisement, .pressure, .gnss, .fix, .range, .radio:
            break
        }
    }

    private mutating func add(length: Double, heading: Double?, at instant: Instant) {
        // Without beacons, limit the length of steps on stairs; their horizontal distance is short.
        let isOnStairs = !hasHeard && floorFilter.isClimbing
        let length = isOnStairs ? min(length, DeadReckoningSettings.Expert.stairTread) : length
        strides.append((instant, ParticleFilter.Stride(length: length, heading: heading)))
        reckonedWay += length
        if heading != nil { stepCount += 1 }
        latestStep = (instant, heading)
    }

    /// Applies an external fix with a weight that depends on its radius. Before any evidence, the fix is the starting
    /// position; later, the belief moves towards it.
    private mutating func apply(_ fix: Fix) {
        fixReception = nil
        guard settings.method == .particle, fix.radius > 0, ParticleFilter.isWithinReach(fix.point, fix.radius),
            let mapIndex = field.maps.firstIndex(where: { $0.mapID == fix.mapID }), space.allows(fix, on: mapIndex)
        else { return }
        let strength = fix.isSoft ? Self.softFixEvidence : Self.fixEvidence
        floorFilter.observe(
            evidence: field.maps.indices.map { $0 == mapIndex ? strength : 0 }, height: nil, after: 0)
        if !fix.isSoft {
            reckonedWay = 0
            // Discard the earlier readings: otherwise, the next global update could return to the place before the fix.
            collector.forgetWindow()
            ranging.forgetWindow()
            (snapshot, hasNewEvidence) = (nil, false)
        }
        let grid = field.maps[mapIndex].grid
        let reception = filter.applyFix(
            at: fix.point, deviation: fix.radius / PositionCovariance.radiusOfDeviation, mapIndex: mapIndex,
            probabilities: mapShares,
            area: fix.isSoft ? Double(grid.count) * grid.cellSize * grid.cellSize : nil)
        fixReception = FixReception(
            agreement: reception.agreement, belief: reception.belief * min(mapShares[mapIndex], 1))
    }

    /// Locks the belief to one map, regardless of the evidence; nil or an unknown map removes the lock.
    package mutating func lock(to map: MapID?) {
        lockedMapIndex = map.flatMap { map in field.maps.firstIndex { $0.mapID == map } }
        // The next evidence redistributes the particles over the maps.
        lastLook = nil
    }

    /// Sets the prior of the position from an earlier session. The first evidence uses it, unless a fix arrived before.
    package mutating func begin(with place: RestoredPlace) { restored = place }

    /// The index of the most probable map; nil before any evidence.
    var learnedMapIndex: Int? {
        guard settings.method == .particle, !filter.isEmpty, lastLook != nil else { return nil }
        let shares = mapShares
        return shares.indices.max { shares[$0] < shares[$1] }
    }

    /// Standard deviation of the step scale after the steps so far: half the initial value after 50 steps.
    var stepUncertainty: Double {
        filter.stepDeviation / (1 + Double(stepCount) * 3 / Self.stepsToHalve).squareRoot()
    }

    /// The share of the belief on each map, in the field's order; sums to 1.
    var mapShares: [Double] {
        guard let lockedMapIndex else { return floorFilter.probabilities }
        let others = Self.unlockedShare * Double(field.maps.count - 1)
        return field.maps.indices.map { $0 == lockedMapIndex ? 1 - others : Self.unlockedShare }
    }

    /// Advances the belief to `now` with all readings observed until then.
    public mutating func advance(to now: Instant) {
        let seconds = lastAdvance.map { max(0, $0.duration(to: now).seconds) } ?? 0
        lastAdvance = now
        let measured = ranging.drain(at: now)
        guard var evidence = evidence(at: now, after: seconds) else {
            predict(now, seconds, until: now)
            return reckon(after: seconds)
        }
        // The readings apply at their mean time; the motion model then advances the belief to now.
        let age = min(max(0, evidence.heard.isEmpty ? measured?.age ?? 0 : evidence.age), seconds)
        predict(now, seconds - age, until: now.advanced(by: .zero - .seconds(age)))
        defer { predict(now, age, until: now) }
        let isNew = !evidence.heard.isEmpty || measured != nil
        if isNew { hasNewEvidence = true }
        snapshot = collector.snapshot(at: now) ?? (ranging.isMeasuring(at: now) ? nil : snapshot)
        guard settings.method == .particle else { return observeWithoutMemory(settings.method, at: now) }
        let isFirst = lastLook == nil
        integrity.weigh(&evidence)
        if !filter.isEmpty, seconds > 0 || isNew { update(evidence, measured, seconds) }
        guard isFirst || (lastLook?.duration(to: now).seconds ?? .infinity) >= settings.globalUpdateInterval,
            hasNewEvidence || !effort.needsNewEvidence
        else { return }
        look(now)
    }

    /// Updates the estimate of a method that uses only the evidence of the last seconds.
    private mutating func observeWithoutMemory(_ method: PositioningMethod, at now: Instant) {
        let measured = ranging.snapshot(at: now)
        let snapshot = snapshot ?? .silent
        guard !snapshot.heard.isEmpty || measured != nil else { return }
        switch method {
        case .particle: break
        case .fingerprint:
            memoryless.estimateByFingerprint(
                snapshot, field: field, receivers: offsets, ranges: measured.map { likelihood(of: $0) })
        case .trilateration:
            memoryless.estimateByTrilateration(
                snapshot, field: field, distances: measured.map { distances(of: $0) } ?? [])
        }
    }

    /// Returns the distances to the anchors of each map. Distances through a floor are left out, as they are too long.
    private func distances(of evidence: RangeEvidence) -> [[Trilateration.Distance]] {
        field.maps.indices.map { mapIndex in
            evidence.measured.compactMap { measured in
                guard anchors.floors(from: measured.anchor, to: mapIndex) == 0 else { return nil }
                return Trilateration.Distance(
                    point: anchors.anchors[measured.anchor].point,
                    rise: anchors.rise(of: measured.anchor, above: deviceHeight.value, mapIndex: mapIndex),
                    distance: measured.distance, deviation: measured.deviation)
            }
        }
    }

    /// Returns the weight of each cell of a map under a method that uses only the evidence of the last seconds; empty
    /// without an estimate.
    func memorylessWeights(mapIndex: Int) -> [Float] {
        memoryless.cellWeights(mapIndex: mapIndex, grid: field.maps[mapIndex].grid)
    }

    /// Moves the particles by some seconds, and by the steps until an instant.
    private mutating func predict(_ now: Instant, _ seconds: Double, until end: Instant) {
        let taken = strides.prefix { $0.instant <= end }
        defer { strides.removeFirst(taken.count) }
        guard seconds > 0, !filter.isEmpty else { return }
        let never = Instant(nanoseconds: .min)
        let lastReading = max(pedometer.lastReading ?? never, latestStep?.instant ?? never)
        let age = Double(now.nanoseconds) / 1e9 - Double(lastReading.nanoseconds) / 1e9
        // During dead reckoning from steps, the device stands if no steps arrive.
        isMotionSensed = age < Self.motionTimeout || !hasHeard && latestStep != nil
        if isMotionSensed {
            filter.walk(taken.lazy.map(\.stride), seconds: seconds)
        } else {
            filter.drift(seconds: seconds)
        }
    }

    /// Performs a global update with the evidence of the last seconds, which initializes the belief and recovers a lost
    /// position.
    private mutating func look(_ now: Instant) {
        let measured = ranging.snapshot(at: now)
        var snapshot = snapshot ?? .silent
        guard !snapshot.heard.isEmpty || measured != nil else { return }
        let isAstray = testsBeacons && !snapshot.heard.isEmpty && examine(&snapshot, at: now)
        integrity.weigh(&snapshot)
        let isOther = !snapshot.heard.isEmpty && isOtherDevice(than: snapshot)
        let likelihood = Likelihood(
            field: field, evidence: snapshot, receivers: filter.receivers,
            ranges: measured.map { self.likelihood(of: $0) })
        let isCoarse = !filter.isEmpty && !isOther && !isAstray
        var posterior = GridPosterior(likelihood, isCoarse: isCoarse)
        // The test assumes the full weight of the evidence, but the belief uses distances with less weight.
        if measured == nil { compare(posterior, now) }
        let interval = lastLook?.duration(to: now).seconds
        lastLook = now
        hasNewEvidence = false
        if let restored = restored.take(), floorFilter.isEmpty {
            posterior.weigh(restored, field: field, motion: settings.motion, at: now)
        }
        if floorFilter.isEmpty { floorFilter.observe(evidence: posterior.mapEvidence, height: nil, after: 0) }
        filter.redistribute(
            to: mapShares, posterior: posterior, likelihood: likelihood,
            share: isOther || isAstray ? 1 : settings.recoveryShare)
        if let measured { learnHeight(measured, after: interval) }
    }

    /// Compares the belief with the evidence of the last seconds, on the most probable map.
    private mutating func compare(_ latest: GridPosterior, _ now: Instant) {
        guard let mapIndex = learnedMapIndex, let belief = filter.moments(mapIndex: mapIndex),
            let latest = latest.moments(mapIndex: mapIndex, field: field)
        else { return }
        check.observe(
            difference: belief.mean.distance(to: latest.mean), latest: latest.variance, belief: belief.variance,
            after: lastLook?.duration(to: now).seconds ?? 0)
    }

    private mutating func update(_ heard: Evidence, _ measured: RangeEvidence?, _ seconds: Double) {
        let likelihood = Likelihood(
            field: field, evidence: heard, receivers: offsets, reference: receiver,
            ranges: measured.map { self.likelihood(of: $0) })
        filter.passReceivers(seconds: seconds, field.model)
        let expectation = Float(settings.priorShare * seconds)
        let evidence = filter.weigh(likelihood) { index, cells, sums in
            let prior = field.maps[index].prior
            for (position, cell) in cells.enumerated() {
                sums[position] = expectation * cmath_logf(cell < 0 ? 1e-3 : prior[Int(cell)])
            }
        }
        floorFilter.observe(
            evidence: evidence, weight: settings.levelShare, height: pressure.drainHeight(), after: seconds)
        filter.setMapShares(mapShares)
        learnOffsets()
        filter.resampleIfNeeded(mapCount: field.maps.count)
    }

    /// The probability of each map; empty before any evidence, otherwise sums to 1.
    public var mapProbabilities: [MapID: Double] {
        let shares = settings.method == .particle ? floorFilter.probabilities : memoryless.probabilities
        guard settings.method != .particle || !filter.isEmpty else { return [:] }
        if let lockedMapIndex { return shares.isEmpty ? [:] : [field.maps[lockedMapIndex].mapID: 1] }
        var probabilities: [MapID: Double] = [:]
        for (map, share) in zip(field.maps, shares) {
            probabilities[map.mapID, default: 0] += share
        }
        return probabilities
    }

    /// The ratio of the squared distance between the belief and the position from the last seconds' evidence alone to
    /// its expected value, averaged over half a minute; nil before any comparison, and with a method other than
    /// ``PositioningMethod/particle``.
    ///
    /// The expected value is 1. A ratio that stays above 3 indicates that the model doesn't hold: the radio map is
    /// outdated, beacons were moved, or the device is outside the surveyed area. While distances to anchors are
    /// measured, the engine makes no comparisons. ``Estimate/radius`` grows with the ratio.
    package var consistencyRatio: Double? { check.hasComparison ? check.ratio : nil }

    /// Returns the position estimate given that the device is on a map; nil without evidence for the map.
    public func estimate(on map: MapID) -> Estimate? {
        guard let mapIndex = field.maps.firstIndex(where: { $0.mapID == map }) else { return nil }
        if settings.method != .particle {
            return memoryless.place(mapIndex: mapIndex).map {
                Estimate(point: $0.point, radius: radius(variance: $0.variance), course: nil)
            }
        }
        return filter.moments(mapIndex: mapIndex).map {
            let doubt = max(1, settings.radiusInflation * check.ratio)
            // Upper bound of the variance: that of a device anywhere on the map.
            let most = field.maps[mapIndex].grid.meanSquare(from: $0.mean)
            let spread = radius(variance: min($0.variance * doubt + integrity.separation, most))
            let radius = hasHeard ? spread : reckonedRadius(spread, mapIndex: mapIndex)
            let point = filter.median(mapIndex: mapIndex, from: $0.mean)
            return Estimate(
                point: point, radius: radius, covariance: covariance(mapIndex: mapIndex, around: point, radius: radius),
                course: course($0.velocity, mapIndex: mapIndex))
        }
    }

    /// Returns the 68 % error radius in metres for a variance in m², summed over both axes.
    func radius(variance: Double) -> Double {
        let spread = settings.radiusFactor * PositionCovariance.radiusOfDeviation * (variance / 2).squareRoot()
        return (spread * spread + radiusFloor * radiusFloor).squareRoot()
    }
}

extension PositioningEngine.Estimate {
    /// Creates an estimate for a belief that isn't an engine.
    package init(at point: MapPoint, radius: Double, course: Double? = nil) {
        self.init(point: point, radius: radius, covariance: nil, course: course)
    }
}

extension PositioningEngine {
    /// The maximum number of particles that are used to compare heights of the device.
    private static let heightSample = 64

    /// The time in seconds for which errors of the height persist, for all technologies.
    private static let heightTime = 10.0

    /// Returns and removes the evidence of the beacons since the last call; nil before any beacon and any distance.
    mutating func evidence(at now: Instant, after seconds: Double) -> Evidence? {
        if let heard = collector.drain(at: now) { return heard }
        guard ranging.hasMeasured else { return nil }
        var silent = Evidence.silent
        silent.duration = Float(max(seconds, 0.5))
        return silent
    }

    /// The minimum radius in metres; it can be smaller with measured distances, which are more accurate than the RSSI
    /// of beacons.
    var radiusFloor: Double {
        guard let lastAdvance, ranging.isMeasuring(at: lastAdvance) else { return settings.radiusFloor }
        return min(settings.radiusFloor, settings.ranges.radiusFloor)
    }

    /// Returns the likelihood of distances for a device at a height; nil for the estimated height.
    func likelihood(of evidence: RangeEvidence, height: Double? = nil) -> RangeLikelihood {
        RangeLikelihood(
            evidence, anchors: anchors, model: settings.ranges, height: height ?? deviceHeight.value,
            mapCount: field.maps.count, cellSize: field.maps.reduce(0) { max($0, $1.grid.cellSize) })
    }

    /// Updates the estimated height of the device from the distances of the last seconds.
    ///
    /// - Parameter seconds: time since the previous update; nil for the first one.
    mutating func learnHeight(_ measured: RangeEvidence, after seconds: Double?) {
        guard !deviceHeight.isKnown, let mapIndex = learnedMapIndex else { return }
        let (particles, range) = (filter.particles, filter.particles.range(of: mapIndex))
        let picks = Array(stride(from: range.lowerBound, to: range.upperBound, by: 1 + range.count / Self.heightSample))
        guard !picks.isEmpty else { return }
        let logs = deviceHeight.candidates.map { height in
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
        deviceHeight.observe(logs, share: share, after: seconds ?? 0)
    }
}

extension PositioningEngine {
    /// Factor per second on the weight of a particle outside the accessible area. The factor isn't 0 because a fix can
    /// lie outside the plan.
    private static let outsideShare = 0.05

    /// Additional error in metres per metre of walking without beacons on a map with walls: the particles can pass
    /// through the wrong door, and no beacon corrects them.
    private static let hiddenError = 0.1

    /// Continues a belief by dead reckoning after a fix, as long as no beacon has been detected.
    ///
    /// Without a barometer, the floor doesn't change. After the first detected beacon, `advance(to:)` weighs maps and
    /// positions by the beacons, including missing detections.
    mutating func reckon(after seconds: Double) {
        guard settings.method == .particle, !filter.isEmpty, seconds > 0 else { return }
        if let height = pressure.drainHeight() {
            pressureGap += seconds
            floorFilter.observe(
                evidence: field.maps.map { _ in 0 }, height: height, after: pressureGap, canBeMistaken: false)
            pressureGap = 0
        } else {
            pressureGap += seconds
        }
        confine(after: seconds)
        filter.carry(to: mapShares, by: links)
        filter.resampleIfNeeded(mapCount: field.maps.count)
    }

    /// Reduces the weights of particles outside the plan or its walkable areas.
    ///
    /// Without beacons, nothing shows whether the device is still in the building. A particle that leaves through an
    /// unmapped wall meets no further walls, so its weight would exceed the weights of the particles inside.
    private mutating func confine(after seconds: Double) {
        let share = Float(cmath_pow(Self.outsideShare, seconds))
        for (mapIndex, sheet) in field.maps.enumerated() where filter.hasParticles(on: mapIndex) {
            space.survey(mapIndex, by: sheet.grid)
            let space = space
            filter.weigh(mapIndex: mapIndex, by: share) { !space.contains($0, mapIndex: mapIndex, by: sheet.grid) }
        }
    }

    /// Returns the radius, increased by the additional error of dead reckoning on a map with walls.
    func reckonedRadius(_ radius: Double, mapIndex: Int) -> Double {
        guard !filter.walls[mapIndex].isEmpty else { return radius }
        let hidden = Self.hiddenError * reckonedWay
        return (radius * radius + hidden * hidden).squareRoot()
    }
}

// Support for thousands of engines in one process.
extension PositioningEngine {
    /// Exchanges the working memory of the updates with a workspace, in constant time and without an allocation.
    ///
    /// Call this before `advance(to:)` and again afterwards, so that one workspace serves many engines in turn. The
    /// exchange affects no position. Only engines with the same number of particles can share a workspace, because an
    /// engine keeps some of its memory for the particles.
    package mutating func exchangeWorkspace(with workspace: inout ParticleFilter.Workspace) {
        swap(&filter.workspace, &workspace)
    }

    /// Sets the seed of all random numbers. Call this before any evidence, after copying an engine that serves as a
    /// template.
    package mutating func begin(seed: UInt64) { filter.generator = SeededGenerator(seed: seed) }

    /// The bytes of the engine's own memory: without the field, the walls and the links, which engines share, and
    /// without the size of the value itself.
    package var byteCount: Int {
        filter.byteCount + collector.byteCount + floorFilter.byteCount + integrity.byteCount
            + ranging.byteCount
            + MemoryLayout<ReceiverOffset>.stride * offsets.capacity
    }
}
