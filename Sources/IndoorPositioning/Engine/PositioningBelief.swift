import CMath
import IndoorVocabulary
import VenueModel

/// The interface between a session and a position estimator.
package protocol PositioningBelief: Sendable {
    /// Performs expensive work that the first update with these readings needs; doesn't change the belief.
    ///
    /// - Parameter mapID: a map that is possible regardless of the evidence; nil for none.
    func prepareTables(for readings: [SensorReading], on mapID: MapID?)
    /// Adds a reading.
    mutating func observe(_ reading: SensorReading)
    /// Advances the belief to `now`.
    mutating func advance(to now: Instant)
    /// The probability of each map; empty before any evidence.
    var mapProbabilities: [MapID: Double] { get }
    /// Returns the position estimate given that the device is on a map; nil without evidence for the map.
    func estimate(on map: MapID) -> PositioningEngine.Estimate?
    /// The ratio of the belief's squared difference from the latest evidence to its expected value; nil if unknown.
    var consistencyRatio: Double? { get }
    /// The beacons whose readings contradict the belief or that are missing, in the order of their identities.
    var beaconFaults: [BeaconFault] { get }
    /// Whether the beacons contradict each other and no majority of them agrees.
    var isContradictory: Bool { get }
    /// Returns the probability of each room given that the device is on a map, by room index, for rooms with a
    /// probability above 0; empty without evidence.
    func roomShares(on map: MapID, in rooms: inout RoomCells) -> [(room: Int, share: Double)]
    /// Locks the belief to one map, regardless of the evidence; nil or an unknown map removes the lock.
    mutating func lock(to map: MapID?)
    /// The effect of the latest fix; nil if there was none, or if it was ignored.
    var fixReception: FixReception? { get }
    /// Sets the receiver prior of a device model if the venue's survey contains the model.
    mutating func begin(asDevice name: String)
    /// Sets the priors from an earlier calibration of the device.
    mutating func begin(with calibration: Calibration)
    /// The learned calibration of the device; nil if there is none.
    var calibration: Calibration? { get }
    /// Sets the prior of the position from an earlier session.
    mutating func begin(with place: RestoredPlace)
    /// The position on each map in the form that a session memory stores; empty before any evidence.
    var places: [SessionMemory.Place] { get }
    /// Moves the belief to a timeline with another origin, before the first reading.
    mutating func shift(by duration: Duration)
    /// The instant of the latest step that was reported or detected; nil before any.
    var lastStep: Instant? { get }
    /// Returns whether the belief's venue contains a beacon.
    func contains(_ beacon: BeaconIdentity) -> Bool
    /// Returns at most `limit` particles, each of which represents the same share of the belief; empty for a belief
    /// without particles.
    func particles(atMost limit: Int) -> [(mapID: MapID, point: MapPoint)]
    /// Returns the expected RSSI of a beacon at a point; nil if it is unknown.
    func expectedRSSI(of beacon: BeaconIdentity, at point: MapPoint, on map: MapID) -> ExpectedRSSI?
    /// Collects the levels of the beacons from now on. A belief that doesn't test its beacons collects none.
    mutating func collectLevels()
    /// Returns the levels collected since the previous call; nil if there are none.
    mutating func drainLevels() -> BeaconLevels?
}

extension PositioningBelief {
    package func prepareTables(for readings: [SensorReading], on mapID: MapID?) {}
    package var consistencyRatio: Double? { nil }
    package var beaconFaults: [BeaconFault] { [] }
    package var isContradictory: Bool { false }
    package func roomShares(on map: MapID, in rooms: inout RoomCells) -> [(room: Int, share: Double)] { [] }
    package mutating func lock(to map: MapID?) {}
    package var fixReception: FixReception? { nil }
    package mutating func begin(asDevice name: String) {}
    package mutating func begin(with calibration: Calibration) {}
    package var calibration: Calibration? { nil }
    package mutating func begin(with place: RestoredPlace) {}
    package var places: [SessionMemory.Place] { [] }
    package mutating func shift(by duration: Duration) {}
    package var lastStep: Instant? { nil }
    package func contains(_ beacon: BeaconIdentity) -> Bool { false }
    package func particles(atMost limit: Int) -> [(mapID: MapID, point: MapPoint)] { [] }
    package func expectedRSSI(of beacon: BeaconIdentity, at point: MapPoint, on map: MapID) -> ExpectedRSSI? { nil }
    package mutating func collectLevels() {}
    package mutating func drainLevels() -> BeaconLevels? { nil }
}

extension PositioningEngine: PositioningBelief {}

/// The work that must be done in a venue before the first position: the check of the venue, and the computation of its
/// tables and priors.
///
/// In a large venue this work takes a second and must not block the session's actor. The preparation is a value that
/// the caller runs in a task; the state machine receives the result as an event. The result is the same in every task.
package struct BeliefPreparation: Hashable, Sendable {
    /// The venue from its packet.
    package let venue: Venue
    /// The settings that apply in the venue.
    package let settings: PositioningSettings
    /// The readings that arrived before the packet; the first global update uses them.
    package let readings: [SensorReading]
    /// The map to which the belief is locked; nil if the evidence decides.
    package let mapID: MapID?

    /// Creates a preparation.
    package init(venue: Venue, settings: PositioningSettings, readings: [SensorReading] = [], mapID: MapID? = nil) {
        self.venue = venue
        self.settings = settings
        self.readings = readings
        self.mapID = mapID
    }

    /// Runs the preparation; returns the belief, or an error if the venue is too large.
    ///
    /// The belief doesn't observe the readings here: the session passes them on later, in order with newer readings.
    ///
    /// - Parameter makesTables: whether to build the tables now; false defers them to their first use.
    package func run<Belief: PositioningBelief>(
        _ makeBelief: @Sendable (Venue, PositioningSettings) -> Belief, makesTables: Bool = true
    ) -> Result<Belief, LocalizationError> {
        if let error = LocalizationError(tooLarge: venue) { return .failure(error) }
        let belief = makeBelief(venue, settings)
        if makesTables { belief.prepareTables(for: readings, on: mapID) }
        return .success(belief)
    }
}

extension PositioningEngine {
    /// Builds the tables that the first global updates need: those of the detected beacons on the maps where they can
    /// be detected, and those of the walls of these maps. The tables are shared. Building them here rather than on first
    /// use affects no position.
    ///
    /// - Parameter mapID: a map that is possible regardless of the evidence; nil for none.
    package func prepareTables(for readings: [SensorReading], on mapID: MapID?) {
        guard settings.method != .trilateration else { return }
        var collector = EvidenceCollector(field: field)
        for case .sighting(let sighting) in readings {
            guard sighting.hasMeasurement, let beacon = field.indexes[sighting.beacon] else {
                continue
            }
            collector.add(beacon: beacon, rssi: sighting.rssi, at: sighting.instant)
        }
        let evidence = readings.last.flatMap { collector.snapshot(at: $0.instant) }
        let likelihood = evidence.map { Likelihood(field: field, evidence: $0, receivers: device.offsets) }
        for (mapIndex, map) in field.maps.enumerated() {
            guard map.mapID == mapID || likelihood?.canHear(mapIndex) ?? false else { continue }
            (_, _) = (map.prior, map.logRate)
            if settings.method == .particle { _ = field.walls[mapIndex].table }
            for heard in evidence?.heard ?? [] { _ = map.tables[heard.beacon] }
        }
    }
}

extension PositioningEngine {
    /// Creates an engine that shares its tables with other engines.
    package init(
        venue: Venue, tables: SharedTables, settings: PositioningSettings,
        effort: PositioningEffort = PositioningEffort(), seed: UInt64
    ) {
        let field = tables.field(of: venue, model: settings.signal, cellScale: effort.cellScale)
        self.init(venue: venue, field: field, settings: settings, effort: effort, seed: seed)
    }
}

/// A summary of an engine's belief, with which another engine can continue within seconds.
///
/// On each map, a normal distribution replaces the particles. A belief with several modes becomes one wide mode; the
/// next readings separate the modes again. The next position is therefore near the last position of the belief.
package struct BeliefSummary: Hashable, Sendable {
    /// The belief on one map.
    package struct Place: Hashable, Sendable {
        /// The index of the map in the venue.
        package var mapIndex: Int
        /// The probability of the map, in [0, 1].
        package var probability: Double
        /// The mean of the position.
        package var mean: MapPoint
        /// The covariance of the position about the mean.
        package var covariance: PositionCovariance
        /// The probability that the device walks, in [0, 1].
        package var walkingShare: Double
        /// The mean velocity of a walking device in m/s.
        package var velocity: MapPoint
        /// The variance of this velocity along each axis in m²/s².
        package var velocityVariance: Double

        /// Creates a belief on one map.
        package init(
            mapIndex: Int, probability: Double, mean: MapPoint, covariance: PositionCovariance, walkingShare: Double,
            velocity: MapPoint, velocityVariance: Double
        ) {
            self.mapIndex = mapIndex
            self.probability = probability
            self.mean = mean
            self.covariance = covariance
            self.walkingShare = walkingShare
            self.velocity = velocity
            self.velocityVariance = velocityVariance
        }

        /// Whether all numbers are in the ranges that the filter accepts.
        fileprivate var isValid: Bool {
            let (xx, yy) = (covariance.xx, covariance.yy)
            return mapIndex >= 0 && (0...1).contains(probability) && (0...1).contains(walkingShare)
                && ParticleFilter.isWithinReach(mean, max(xx, yy).squareRoot()) && xx >= 0 && yy >= 0
                && covariance.xy * covariance.xy <= xx * yy * 1.001 + 1e-9 && abs(velocity.x) <= BeliefSummary.fastest
                && abs(velocity.y) <= BeliefSummary.fastest && (0...BeliefSummary.fastest).contains(velocityVariance)
        }
    }

    /// The instant of the belief.
    package var instant: Instant
    /// The belief on each probable map, in the order of the maps.
    package var places: [Place]
    /// The receiver offset in dB and its variance in dB².
    package var offset: (value: Double, variance: Double) {
        get { (offsetValue, offsetVariance) }
        set { (offsetValue, offsetVariance) = (newValue.value, newValue.variance) }
    }
    /// The sums of the consistency test.
    package var consistency: (ratios: Double, weight: Double) {
        get { (consistencyRatios, consistencyWeight) }
        set { (consistencyRatios, consistencyWeight) = (newValue.ratios, newValue.weight) }
    }
    private var offsetValue: Double
    private var offsetVariance: Double
    private var consistencyRatios: Double
    private var consistencyWeight: Double

    /// The maximum speed in m/s.
    fileprivate static let fastest = 1000.0
    /// The maximum receiver offset in dB.
    private static let greatestOffset = 200.0
    /// The maximum sum of the consistency test.
    private static let greatestSum = 1e12

    /// Creates a summary.
    package init(
        instant: Instant, places: [Place], offset: (value: Double, variance: Double),
        consistency: (ratios: Double, weight: Double)
    ) {
        self.instant = instant
        self.places = places
        (offsetValue, offsetVariance) = offset
        (consistencyRatios, consistencyWeight) = consistency
    }

    /// Whether all numbers are in their ranges, and the maps are in order, with a positive probability.
    package var isValid: Bool {
        let sums = 0...Self.greatestSum
        return !places.isEmpty && places.allSatisfy(\.isValid)
            && zip(places, places.dropFirst()).allSatisfy { $0.mapIndex < $1.mapIndex }
            && places.contains { $0.probability > 0 } && abs(offsetValue) <= Self.greatestOffset
            && sums.contains(offsetVariance) && sums.contains(consistencyRatios) && sums.contains(consistencyWeight)
    }
}

extension PositioningEngine {
    /// The minimum probability of a map in a summary.
    private static let leastSummarized = 1e-3
    /// The probability assigned to a map that is not in the summary.
    private static let leftOut = 1e-6

    /// The summary of the belief; nil before any evidence, and for methods without a filter.
    package var summary: BeliefSummary? {
        guard let learned = learnedMapIndex, let instant = clock.latestAdvance else { return nil }
        let shares = mapShares
        let places = field.maps.indices.compactMap { mapIndex in
            shares[mapIndex] >= Self.leastSummarized
                ? belief.filter.summary(mapIndex: mapIndex, probability: shares[mapIndex]) : nil
        }
        let offset = device.offsets[learned]
        return BeliefSummary(
            instant: instant, places: places, offset: (offset.value, offset.variance),
            consistency: (checks.consistency.ratios, checks.consistency.weight))
    }

    /// Continues from the summary of an earlier engine in the same venue. Call this before any evidence.
    ///
    /// - Parameter summary: a valid summary with maps of this venue; any other is ignored.
    package mutating func begin(with summary: BeliefSummary) {
        guard settings.method == .particle, summary.isValid,
            summary.places.allSatisfy({ field.maps.indices.contains($0.mapIndex) })
        else { return }
        var probabilities = field.maps.map { _ in Self.leftOut }
        for place in summary.places { probabilities[place.mapIndex] = max(place.probability, Self.leftOut) }
        belief.floors.begin(with: probabilities)
        for mapIndex in device.offsets.indices {
            device.offsets[mapIndex].begin(value: summary.offset.value, deviation: summary.offset.variance.squareRoot())
        }
        belief.filter.begin(
            with: summary.places, probabilities: belief.floors.probabilities, receivers: device.offsets)
        checks.consistency = ConsistencyTest(ratios: summary.consistency.ratios, weight: summary.consistency.weight)
        readings.beacons.resume(at: summary.instant)
        clock.resume(at: summary.instant)
    }
}

extension ParticleFilter {
    /// Returns the summary of the particles on a map; nil without particles.
    fileprivate func summary(mapIndex: Int, probability: Double) -> BeliefSummary.Place? {
        guard let mean = moments(mapIndex: mapIndex)?.mean,
            let spread = covariance(mapIndex: mapIndex, around: mean)
        else { return nil }
        var (all, walking, x, y, squares) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for index in particles.range(of: mapIndex) {
            let weight = Double(particles.weight[index])
            all += weight
            guard particles.isWalking[index] else { continue }
            let (vx, vy) = (Double(particles.velocityX[index]), Double(particles.velocityY[index]))
            walking += weight
            x += weight * vx
            y += weight * vy
            squares += weight * (vx * vx + vy * vy)
        }
        var velocity = MapPoint(x: 0, y: 0)
        var variance = motion.walkingSpeed * motion.walkingSpeed
        if walking > 0 {
            velocity = MapPoint(x: x / walking, y: y / walking)
            variance = max(0, squares / walking - velocity.x * velocity.x - velocity.y * velocity.y) / 2
        }
        return BeliefSummary.Place(
            mapIndex: mapIndex, probability: min(max(probability, 0), 1), mean: mean, covariance: spread,
            walkingShare: all > 0 ? min(walking / all, 1) : 0, velocity: velocity, velocityVariance: variance)
    }

    /// Replaces all particles by particles drawn from a summary.
    fileprivate mutating func begin(
        with places: [BeliefSummary.Place], probabilities: [Double], receivers: [ReceiverOffset]
    ) {
        let before = self.receivers
        self.receivers = receivers
        defer { self.receivers = before }
        particles.resize(to: places.reduce(0) { $0 + wanted(probabilities[$1.mapIndex]) })
        particles.errors.resize(to: particles.count)
        var next = 0
        for place in places {
            let probability = probabilities[place.mapIndex]
            let wanted = wanted(probability)
            // The factor of the covariance: the lower triangle of its Cholesky decomposition.
            let first = place.covariance.xx.squareRoot()
            let mixed = first > 0 ? place.covariance.xy / first : 0
            let second = max(0, place.covariance.yy - mixed * mixed).squareRoot()
            let deviation = place.velocityVariance.squareRoot()
            for _ in 0..<wanted {
                let index = next
                let (dx, dy) = generator.normalPair()
                let offset = MapPoint(x: first * dx, y: mixed * dx + second * dy)
                self.place(
                    &next, at: place.mean + offset, mapIndex: place.mapIndex,
                    weight: Float(probability / Double(wanted)))
                let (vx, vy) = generator.normalPair()
                particles.velocityX[index] = Float(place.velocity.x + deviation * vx)
                particles.velocityY[index] = Float(place.velocity.y + deviation * vy)
                particles.isWalking[index] = generator.uniform() < place.walkingShare
            }
        }
    }
}
