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
    var premises: Premises
    var readings: Readings
    var steps = Steps()
    var device: Device
    var belief: Belief
    var checks: Checks
    var clock = UpdateClock()

    /// Log-likelihood ratio for the map of a fix: 400 to 1, or 9 to 1 for a soft fix.
    private static let fixEvidence = 6.0
    private static let softFixEvidence = 2.2
    /// Share of the belief that each other map keeps while one map is locked, so that the evidence can still change
    /// their probabilities.
    private static let unlockedShare = 1e-4
    /// Number of steps after which the uncertainty of the step length is half as large: 35 m of walking between
    /// positions with an error of 2.5 m.
    private static let stepsToHalve = 50.0
    /// Additional error in metres per metre of walking without beacons on a map with walls: the particles can pass
    /// through the wrong door, and no beacon corrects them.
    private static let hiddenError = 0.1

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
        premises = Premises(
            anchors: AnchorField(venue: venue), links: FloorLinks(venue: venue), space: FloorSpace(venue: venue))
        readings = Readings(
            beacons: EvidenceCollector(field: field), ranges: RangeCollector(model: settings.ranges))
        let receiver = ReceiverOffset(
            deviation: field.model.receiverOffsetDeviation, bodyDeviation: field.model.bodyDeviation)
        device = Device(
            models: venue.radioMap?.fit.devices ?? [:], prior: receiver,
            offsets: Array(repeating: receiver, count: field.maps.count))
        var motion = settings.motion
        if field.areLevelsKnown { motion.standingWander *= LastingErrors.wanderFactor }
        belief = Belief(
            filter: ParticleFilter(
                walls: field.walls, motion: motion, resampling: settings.resampling,
                count: max(100, settings.particleCount), fewest: effort.fewestParticles, seed: seed),
            floors: FloorFilter(floors: venue.maps.map { ($0.level, $0.elevation) }),
            height: DeviceHeight(model: settings.ranges))
        belief.filter.receivers = device.offsets
        checks = Checks(beacons: IntegrityMonitor(settings.testedBeacons))
    }

    /// Whether any beacon of the venue was detected, or a distance to an anchor was measured.
    var hasHeard: Bool { readings.hasAny }

    /// Whether a reading of a beacon has arrived since the latest advance.
    package var hasNewReadings: Bool { !readings.beacons.isEmpty }

    package var lastStep: Instant? { steps.latest?.instant }

    /// The estimated height of the device above the floor.
    package var deviceHeight: DeviceHeight { belief.height }

    /// The effect of the latest fix; nil if there was none, or if it was ignored.
    package var fixReception: FixReception? { belief.fixReception }

    /// Adds a reading; ignores readings of beacons and anchors that the venue doesn't contain.
    public mutating func observe(_ reading: SensorReading) {
        switch reading {
        case .sighting(let sighting):
            observe(sighting, window: .zero)
        case .motion, .step:
            // Without beacons, limit the length of steps on stairs; their horizontal distance is short.
            if settings.motion.usesSteps {
                steps.observe(reading, isOnStairs: !hasHeard && belief.floors.isClimbing)
            }
        case .pressure(let sample):
            readings.pressure.add(sample.hectopascals)
        case .fix(let fix):
            apply(fix)
        case .range(let range):
            if let anchor = premises.anchors.indexes[range.anchor] { readings.ranges.add(range, anchor: anchor) }
        case .advertisement, .gnss, .radio:
            break
        }
    }

    /// Adds a sighting whose RSSI is a median over a window; zero for the RSSI of one advertisement.
    package mutating func observe(_ sighting: Sighting, window: Duration) {
        guard sighting.hasMeasurement, let beacon = field.indexes[sighting.beacon] else { return }
        readings.beacons.add(beacon: beacon, rssi: sighting.rssi, at: sighting.instant, window: window)
    }

    /// Applies an external fix with a weight that depends on its radius. Before any evidence, the fix is the starting
    /// position; later, the belief moves towards it.
    private mutating func apply(_ fix: Fix) {
        belief.fixReception = nil
        guard settings.method == .particle, fix.radius > 0, ParticleFilter.isWithinReach(fix.point, fix.radius),
            let mapIndex = field.maps.firstIndex(where: { $0.mapID == fix.mapID }),
            premises.space.allows(fix, on: mapIndex)
        else { return }
        let strength = fix.isSoft ? Self.softFixEvidence : Self.fixEvidence
        belief.floors.observe(
            evidence: field.maps.indices.map { $0 == mapIndex ? strength : 0 }, height: nil, after: 0)
        if !fix.isSoft {
            steps.restartDistance()
            readings.forgetWindow()
            clock.forgetEvidence()
        }
        let grid = field.maps[mapIndex].grid
        let reception = belief.filter.applyFix(
            at: fix.point, deviation: fix.radius / PositionCovariance.radiusOfDeviation, mapIndex: mapIndex,
            probabilities: mapShares,
            area: fix.isSoft ? Double(grid.count) * grid.cellSize * grid.cellSize : nil)
        belief.fixReception = FixReception(
            agreement: reception.agreement, belief: reception.belief * min(mapShares[mapIndex], 1))
    }

    /// Locks the belief to one map, regardless of the evidence; nil or an unknown map removes the lock.
    package mutating func lock(to map: MapID?) {
        belief.lockedMapIndex = map.flatMap { map in field.maps.firstIndex { $0.mapID == map } }
        // The next evidence redistributes the particles over the maps.
        clock.forgetLook()
    }

    /// Sets the prior of the position from an earlier session. The first evidence uses it, unless a fix arrived before.
    package mutating func begin(with place: RestoredPlace) { belief.restored = place }

    /// Moves the engine to a timeline with another origin, before the first reading: only fixes were applied.
    package mutating func shift(by duration: Duration) {
        clock.shift(by: duration)
        if let instant = belief.restored?.instant { belief.restored?.instant = instant.advanced(by: duration) }
    }

    /// The index of the most probable map; nil before any evidence.
    var learnedMapIndex: Int? {
        guard settings.method == .particle, !belief.filter.isEmpty, clock.latestLook != nil else { return nil }
        let shares = mapShares
        return shares.indices.max { shares[$0] < shares[$1] }
    }

    /// Standard deviation of the step scale after the steps so far: half the initial value after 50 steps.
    var stepUncertainty: Double {
        belief.filter.stepDeviation / (1 + Double(steps.headedCount) * 3 / Self.stepsToHalve).squareRoot()
    }

    /// The share of the belief on each map, in the field's order; sums to 1.
    var mapShares: [Double] {
        guard let lockedMapIndex = belief.lockedMapIndex else { return belief.floors.probabilities }
        let others = Self.unlockedShare * Double(field.maps.count - 1)
        return field.maps.indices.map { $0 == lockedMapIndex ? 1 - others : Self.unlockedShare }
    }

    /// The probability of each map; empty before any evidence, otherwise sums to 1.
    public var mapProbabilities: [MapID: Double] {
        let shares = settings.method == .particle ? belief.floors.probabilities : belief.memoryless.probabilities
        guard settings.method != .particle || !belief.filter.isEmpty else { return [:] }
        if let lockedMapIndex = belief.lockedMapIndex {
            return shares.isEmpty ? [:] : [field.maps[lockedMapIndex].mapID: 1]
        }
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
    package var consistencyRatio: Double? {
        checks.consistency.hasComparison ? checks.consistency.ratio : nil
    }

    /// Returns the position estimate given that the device is on a map; nil without evidence for the map.
    public func estimate(on map: MapID) -> Estimate? {
        guard let mapIndex = field.maps.firstIndex(where: { $0.mapID == map }) else { return nil }
        if settings.method != .particle {
            return belief.memoryless.place(mapIndex: mapIndex).map {
                Estimate(point: $0.point, radius: radius(variance: $0.variance), course: nil)
            }
        }
        return belief.filter.moments(mapIndex: mapIndex).map {
            let doubt = max(1, settings.radiusInflation * checks.consistency.ratio)
            // Upper bound of the variance: that of a device anywhere on the map.
            let most = field.maps[mapIndex].grid.meanSquare(from: $0.mean)
            let spread = radius(variance: min($0.variance * doubt + checks.beacons.separation, most))
            let radius = hasHeard ? spread : reckonedRadius(spread, mapIndex: mapIndex)
            let point = belief.filter.median(mapIndex: mapIndex, from: $0.mean)
            return Estimate(
                point: point, radius: radius, covariance: covariance(mapIndex: mapIndex, around: point, radius: radius),
                course: course($0.velocity, mapIndex: mapIndex))
        }
    }

    /// The minimum radius in metres; it can be smaller with measured distances, which are more accurate than the RSSI
    /// of beacons.
    var radiusFloor: Double {
        guard let now = clock.latestAdvance, readings.ranges.isMeasuring(at: now) else { return settings.radiusFloor }
        return min(settings.radiusFloor, settings.ranges.radiusFloor)
    }

    /// Returns the radius, increased by the additional error of dead reckoning on a map with walls.
    private func reckonedRadius(_ radius: Double, mapIndex: Int) -> Double {
        guard !belief.filter.walls[mapIndex].isEmpty else { return radius }
        let hidden = Self.hiddenError * steps.walkedDistance
        return (radius * radius + hidden * hidden).squareRoot()
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

// Support for thousands of engines in one process.
extension PositioningEngine {
    /// Exchanges the working memory of the updates with a workspace, in constant time and without an allocation.
    ///
    /// Call this before `advance(to:)` and again afterwards, so that one workspace serves many engines in turn. The
    /// exchange affects no position. Only engines with the same number of particles can share a workspace, because an
    /// engine keeps some of its memory for the particles.
    package mutating func exchangeWorkspace(with workspace: inout ParticleFilter.Workspace) {
        swap(&belief.filter.workspace, &workspace)
    }

    /// Sets the seed of all random numbers. Call this before any evidence, after copying an engine that serves as a
    /// template.
    package mutating func begin(seed: UInt64) { belief.filter.generator = SeededGenerator(seed: seed) }

    /// The bytes of the engine's own memory: without the field, the walls and the links, which engines share, and
    /// without the size of the value itself.
    package var byteCount: Int {
        belief.filter.byteCount + belief.floors.byteCount + readings.beacons.byteCount + readings.ranges.byteCount
            + checks.beacons.byteCount + MemoryLayout<ReceiverOffset>.stride * device.offsets.capacity
    }
}
