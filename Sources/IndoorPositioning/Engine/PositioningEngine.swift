import CMath
import IndoorVocabulary
import VenueModel

/// Turns sensor readings in one venue into a belief about floor and place.
///
/// A value with time and randomness as inputs: equal calls give equal results.
public struct PositioningEngine: Sendable {
    /// Where the device is on one map, as far as the engine knows.
    public struct Estimate: Hashable, Sendable {
        /// The point with the least error to be expected, in metres.
        public var point: MapPoint
        /// Metres around `point` within which the truth lies 68 times of 100.
        public var radius: Double
        /// Covariance of the error of `point`; nil if the method tells none.
        public var covariance: PositionCovariance?
        /// Where the device moves, in degrees clockwise from the plan's top; nil while it stands or when unclear.
        public var course: Double?
    }

    let field: SignalField
    let settings: PositioningSettings
    private var collector: EvidenceCollector
    var filter: ParticleFilter
    /// Stairs and elevators, for a belief that is carried on by motion alone.
    let links: FloorLinks
    /// Where on the plans it can be, for the same.
    var space: FloorSpace
    /// What was known of the receiver before any evidence.
    var firstReceiver: ReceiverOffset
    /// What the survey tells of models of devices.
    let devices: [String: RadioMap.Receiver]
    /// Whether the device is one of these, as far as what is heard agrees with that; nil without a device.
    var knownDevice: KnownDevice?
    /// By map: each guess of the map has a receiver that fits to it.
    var offsets: [ReceiverOffset]
    private var pedometer = Pedometer()
    private var strides: [(instant: Instant, stride: ParticleFilter.Stride)] = []
    /// When the latest step was taken, and the device's heading then in radians; nil before any.
    private(set) var latestStep: (instant: Instant, heading: Double?)?
    /// Whether steps would be felt, as of the latest advance.
    private(set) var isMotionSensed = false
    private(set) var lastAdvance: Instant?
    var levelFilter: LevelFilter
    private var lastLook: Instant?
    var pressure = PressureMean()
    /// Seconds since the barometer was last asked, while nothing is heard.
    var pressureGap = 0.0
    /// Metres of steps since the latest fix.
    private(set) var reckonedWay = 0.0
    private var snapshot: Evidence?
    private var memoryless = SnapshotEstimate()
    /// Whether the belief agrees with the last seconds alone.
    private var check = ConsistencyTest()
    /// Index of the map that the belief is kept on; nil if evidence decides.
    private var lockedMapIndex: Int?
    /// Steps that moved the belief so far.
    private var stepCount = 0
    /// Where an earlier session left the device; nil once something was heard.
    private var restored: RestoredPlace?
    /// How the latest fix was taken in; nil if there was none, or if it told nothing.
    package private(set) var fixReception: FixReception?

    /// Without a reading of the accelerometer for this long, in seconds, motion is unknown.
    private static let motionTimeout = 1.0
    /// How strongly a fix speaks for its map, as a logarithm: 400 to 1, or 9 to 1 for a soft one.
    private static let fixEvidence = 6.0
    private static let softFixEvidence = 2.2
    /// Share of the belief that each other map keeps while one is locked: what is heard weighs them on.
    private static let unlockedShare = 1e-4
    /// After so many steps their length is known twice as well: 35 m of way, between places known to within 2.5 m.
    private static let stepsToHalve = 50.0
    /// Decibels by which what was learned of the receiver may be wrong where a place is guessed anew.
    private static let offsetDoubt = 2.0

    /// Creates an engine that knows nothing yet of where in the venue the device is.
    ///
    /// - Parameters:
    ///   - venue: where the device is located.
    ///   - settings: of the engine.
    ///   - parts: what is used in place of the standard measurement model and prior.
    ///   - seed: of all that is random; equal seeds give equal estimates.
    public init(
        venue: Venue, settings: PositioningSettings = PositioningSettings(),
        parts: PositioningParts = PositioningParts(), seed: UInt64 = 0
    ) {
        let field = SignalField(venue: venue, model: settings.signal, parts: parts)
        self.init(venue: venue, field: field, settings: settings, seed: seed)
    }

    /// Creates an engine on tables that were made before, to share them between sessions.
    package init(venue: Venue, field: SignalField, settings: PositioningSettings, seed: UInt64) {
        self.field = field
        self.settings = settings
        collector = EvidenceCollector(field: field)
        filter = ParticleFilter(
            walls: field.walls, motion: settings.motion, resampling: settings.resampling,
            count: max(100, settings.particleCount), seed: seed)
        links = FloorLinks(venue: venue)
        space = FloorSpace(venue: venue)
        levelFilter = LevelFilter(floors: venue.maps.map { ($0.level, $0.elevation) })
        devices = venue.radioMap?.fit.devices ?? [:]
        firstReceiver = ReceiverOffset(
            deviation: field.model.receiverOffsetDeviation, bodyDeviation: field.model.bodyDeviation)
        offsets = Array(repeating: firstReceiver, count: field.maps.count)
        filter.receivers = offsets
    }

    /// Whether any beacon of the venue was heard.
    var hasHeard: Bool { collector.hasHeard }

    /// Takes in a reading; sightings of beacons that the venue doesn't know are ignored.
    public mutating func observe(_ reading: SensorReading) {
        switch reading {
        case .sighting(let sighting):
            guard sighting.hasMeasurement, let beacon = field.indexes[sighting.beacon] else { return }
            collector.add(beacon: beacon, rssi: sighting.rssi, at: sighting.instant)
        case .motion, .step:
            if settings.motion.usesSteps { walk(reading) }
        case .pressure(let sample):
            pressure.add(sample.hectopascals)
        case .fix(let fix):
            apply(fix)
        case .advertisement, .gnss, .radio:
            break
        }
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
        case .sighting, .advertisement, .pressure, .gnss, .fix, .radio:
            break
        }
    }

    private mutating func add(length: Double, heading: Double?, at instant: Instant) {
        // Where nothing is heard that would tell, a step on stairs is not to lead through the building.
        let isOnStairs = !hasHeard && levelFilter.isClimbing
        let length = isOnStairs ? min(length, DeadReckoningSettings.usualTread) : length
        strides.append((instant, ParticleFilter.Stride(length: length, heading: heading)))
        reckonedWay += length
        if heading != nil { stepCount += 1 }
        latestStep = (instant, heading)
    }

    /// Believes a place given from outside as far as its radius says: before any evidence it is where the device
    /// begins, later the belief converges to it.
    private mutating func apply(_ fix: Fix) {
        fixReception = nil
        guard settings.method == .particle, fix.radius > 0, ParticleFilter.isWithinReach(fix.point, fix.radius),
            let mapIndex = field.maps.firstIndex(where: { $0.mapID == fix.mapID }), space.allows(fix, on: mapIndex)
        else { return }
        let strength = fix.isSoft ? Self.softFixEvidence : Self.fixEvidence
        levelFilter.observe(
            evidence: field.maps.indices.map { $0 == mapIndex ? strength : 0 }, height: nil, after: 0)
        if !fix.isSoft { reckonedWay = 0 }
        let grid = field.maps[mapIndex].grid
        let reception = filter.applyFix(
            at: fix.point, deviation: fix.radius / PositionCovariance.radiusOfDeviation, mapIndex: mapIndex,
            probabilities: mapShares,
            area: fix.isSoft ? Double(grid.count) * grid.cellSize * grid.cellSize : nil)
        fixReception = FixReception(
            agreement: reception.agreement, belief: reception.belief * min(mapShares[mapIndex], 1))
    }

    /// Keeps the belief on one map, whatever the evidence; nil, or a map that it does not know, lets evidence decide.
    package mutating func lock(to map: MapID?) {
        lockedMapIndex = map.flatMap { map in field.maps.firstIndex { $0.mapID == map } }
        // The next evidence shares the particles out anew.
        lastLook = nil
    }

    /// Begins with where an earlier session left the device. Counts with the first evidence, unless a fix says better.
    package mutating func begin(with place: RestoredPlace) { restored = place }

    /// The map that the device most probably is on, if anything was learned there.
    var learnedMapIndex: Int? {
        guard settings.method == .particle, !filter.isEmpty, lastLook != nil else { return nil }
        let shares = mapShares
        return shares.indices.max { shares[$0] < shares[$1] }
    }

    /// Standard deviation of the steps' length that remains after so many steps: half of it after 50.
    var stepUncertainty: Double {
        filter.stepDeviation / (1 + Double(stepCount) * 3 / Self.stepsToHalve).squareRoot()
    }

    /// How much of the belief is on each map, in the field's order; sums to 1.
    var mapShares: [Double] {
        guard let lockedMapIndex else { return levelFilter.probabilities }
        let others = Self.unlockedShare * Double(field.maps.count - 1)
        return field.maps.indices.map { $0 == lockedMapIndex ? 1 - others : Self.unlockedShare }
    }

    /// Brings the belief up to `now`, with all that was observed until then.
    public mutating func advance(to now: Instant) {
        let seconds = lastAdvance.map { max(0, $0.duration(to: now).seconds) } ?? 0
        lastAdvance = now
        guard let evidence = collector.drain(at: now) else {
            predict(now, seconds, until: now)
            return reckon(after: seconds)
        }
        // What was heard counts at the time at which it was, and the belief goes on from there to now.
        let age = evidence.heard.isEmpty ? 0 : min(max(0, evidence.age), seconds)
        predict(now, seconds - age, until: now.advanced(by: .zero - .seconds(age)))
        defer { predict(now, age, until: now) }
        snapshot = collector.snapshot(at: now) ?? snapshot
        guard settings.method == .particle else { return observeWithoutMemory(settings.method) }
        let isFirst = lastLook == nil
        if !filter.isEmpty, seconds > 0 || !evidence.heard.isEmpty { update(evidence, seconds) }
        if isFirst || (lastLook?.duration(to: now).seconds ?? .infinity) >= settings.globalUpdateInterval { look(now) }
    }

    /// The simple methods look at the last seconds alone.
    private mutating func observeWithoutMemory(_ method: PositioningMethod) {
        guard let snapshot, !snapshot.heard.isEmpty else { return }
        switch method {
        case .particle: break
        case .fingerprint: memoryless.estimateByFingerprint(snapshot, field: field, receivers: offsets)
        case .trilateration: memoryless.estimateByTrilateration(snapshot, field: field)
        }
    }

    /// Moves the particles on by some seconds, and by the steps until an instant.
    private mutating func predict(_ now: Instant, _ seconds: Double, until end: Instant) {
        let taken = strides.prefix { $0.instant <= end }
        defer { strides.removeFirst(taken.count) }
        guard seconds > 0, !filter.isEmpty else { return }
        let never = Instant(nanoseconds: .min)
        let lastReading = max(pedometer.lastReading ?? never, latestStep?.instant ?? never)
        let age = Double(now.nanoseconds) / 1e9 - Double(lastReading.nanoseconds) / 1e9
        // Where nothing is heard and steps have led so far, none lead nowhere.
        isMotionSensed = age < Self.motionTimeout || !hasHeard && latestStep != nil
        if isMotionSensed {
            filter.walk(taken.lazy.map(\.stride), seconds: seconds)
        } else {
            filter.drift(seconds: seconds)
        }
    }

    /// Looks at the whole venue with the evidence of the last seconds: for the first map, and for places that got
    /// lost.
    private mutating func look(_ now: Instant) {
        guard let snapshot, !snapshot.heard.isEmpty else { return }
        let isOther = isOtherDevice(than: snapshot)
        let likelihood = Likelihood(field: field, evidence: snapshot, receivers: filter.receivers)
        var posterior = GridPosterior(likelihood)
        compare(posterior, now)
        lastLook = now
        if let restored = restored.take(), levelFilter.isEmpty {
            posterior.weigh(restored, field: field, motion: settings.motion, at: now)
        }
        if levelFilter.isEmpty { levelFilter.observe(evidence: posterior.mapEvidence, height: nil, after: 0) }
        filter.redistribute(
            to: mapShares, posterior: posterior, likelihood: likelihood,
            share: isOther ? 1 : settings.recoveryShare)
    }

    /// Compares the belief about the place with what the last seconds tell, on the map that is most believed in.
    private mutating func compare(_ latest: GridPosterior, _ now: Instant) {
        guard let mapIndex = learnedMapIndex, let belief = filter.moments(mapIndex: mapIndex),
            let latest = latest.moments(mapIndex: mapIndex, field: field)
        else { return }
        check.observe(
            difference: belief.mean.distance(to: latest.mean), latest: latest.variance, belief: belief.variance,
            after: lastLook?.duration(to: now).seconds ?? 0)
    }

    private mutating func update(_ heard: Evidence, _ seconds: Double) {
        let likelihood = Likelihood(field: field, evidence: heard, receivers: offsets)
        filter.passReceivers(seconds: seconds, field.model)
        let expectation = Float(settings.priorShare * seconds)
        let evidence = filter.weigh(likelihood) { index, cells, sums in
            let prior = field.maps[index].prior
            for (position, cell) in cells.enumerated() {
                sums[position] = expectation * cmath_logf(cell < 0 ? 1e-3 : prior[Int(cell)])
            }
        }
        levelFilter.observe(
            evidence: evidence.map { $0 * settings.levelShare }, height: pressure.drainHeight(), after: seconds)
        filter.setMapShares(mapShares)
        learnOffsets()
        filter.resampleIfNeeded(mapCount: field.maps.count)
    }

    /// Takes over what the particles have learned of the receiver: it is the same one on all maps.
    ///
    /// New guesses of the place begin with what the belief as a whole has learned, less sure than it is: the belief may be
    /// wrong.
    private mutating func learnOffsets() {
        let shares = mapShares
        var (all, sum, squares) = (0.0, 0.0, 0.0)
        for mapIndex in offsets.indices {
            guard let (mean, variance) = filter.receiverOffset(mapIndex: mapIndex) else { continue }
            offsets[mapIndex].begin(value: mean, deviation: variance.squareRoot())
            all += shares[mapIndex]
            sum += shares[mapIndex] * mean
            squares += shares[mapIndex] * (variance + mean * mean)
        }
        guard all > 0 else { return }
        let mean = sum / all
        let variance = max(0, squares / all - mean * mean) + Self.offsetDoubt * Self.offsetDoubt
        for mapIndex in offsets.indices {
            filter.receivers[mapIndex] = firstReceiver
            filter.receivers[mapIndex].begin(
                value: mean, deviation: min(variance, max(firstReceiver.variance, 1)).squareRoot())
        }
    }

    /// How probable each map is; empty before there is any evidence. Sums to 1 otherwise.
    public var mapProbabilities: [MapID: Double] {
        let shares = settings.method == .particle ? levelFilter.probabilities : memoryless.probabilities
        guard settings.method != .particle || !filter.isEmpty else { return [:] }
        if let lockedMapIndex { return shares.isEmpty ? [:] : [field.maps[lockedMapIndex].mapID: 1] }
        var probabilities: [MapID: Double] = [:]
        for (map, share) in zip(field.maps, shares) {
            probabilities[map.mapID, default: 0] += share
        }
        return probabilities
    }

    /// The belief about the place if the device is on that map; nil if there is no evidence for that map.
    public func estimate(on map: MapID) -> Estimate? {
        guard let mapIndex = field.maps.firstIndex(where: { $0.mapID == map }) else { return nil }
        if settings.method != .particle {
            return memoryless.place(mapIndex: mapIndex).map {
                Estimate(point: $0.point, radius: radius(variance: $0.variance), course: nil)
            }
        }
        return filter.moments(mapIndex: mapIndex).map {
            let doubt = max(1, settings.radiusInflation * check.ratio)
            let told = radius(variance: $0.variance * doubt)
            let radius = hasHeard ? told : reckonedRadius(told, mapIndex: mapIndex)
            let point = filter.median(mapIndex: mapIndex, from: $0.mean)
            return Estimate(
                point: point, radius: radius, covariance: covariance(mapIndex: mapIndex, around: point, radius: radius),
                course: course($0.velocity, mapIndex: mapIndex))
        }
    }

    /// Metres around a mean within which the truth lies 68 times of 100.
    func radius(variance: Double) -> Double {
        let spread = settings.radiusFactor * PositionCovariance.radiusOfDeviation * (variance / 2).squareRoot()
        return (spread * spread + settings.radiusFloor * settings.radiusFloor).squareRoot()
    }
}

extension PositioningEngine {
    /// Creates an engine that shares its tables with others.
    package init(venue: Venue, tables: SharedTables, settings: PositioningSettings, seed: UInt64) {
        self.init(venue: venue, field: tables.field(of: venue, model: settings.signal), settings: settings, seed: seed)
    }
}
