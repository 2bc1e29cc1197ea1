import CMath
import IndoorVocabulary
import VenueModel

/// An audit of a venue's beacons from the recordings of many sessions.
///
///     var audit = BeaconAudit(venue: office)
///     for recording in recordings { audit.add(recording) }
///     for finding in audit.findings() { print(finding.fault.beacon, finding.fault.kind) }
///
/// The audit locates each session from its beacons, and tests each beacon against the position that the other beacons
/// support, as an engine does during a session. Many sessions together show smaller faults than one session. The audit
/// averages the differences from the signal field by place. It then compares a beacon's averages with those of a
/// healthy beacon and of each kind of fault. A recording needs no ground truth.
///
/// Source: B. W. Parkinson, P. Axelrad, *Autonomous GPS Integrity Monitoring Using the Pseudorange Residual*, Navigation
/// 35(2), 1988: the test against the others. G. Schwarz, *Estimating the Dimension of a Model*, Annals of Statistics
/// 6(2), 1978: the comparison of the kinds.
package struct BeaconAudit: Sendable {
    /// A beacon that needs a technician.
    package struct Finding: Hashable, Sendable {
        /// The fault. Its instant is the first reading of the first added session, because the fault can be older than
        /// the recordings.
        package var fault: BeaconFault
        /// The number of places of 3 × 3 m with readings of the beacon.
        package var places: Int
        /// The number of sessions that received the beacon.
        package var sessions: Int
        /// The logarithm of the odds that the beacon has the fault.
        package var evidence: Double
    }

    private let venue: Venue
    private let field: SignalField
    private var settings: PositioningSettings
    private let seed: UInt64
    private var atlas = ResidualAtlas()
    private var sessions: [Int: Int] = [:]
    private var first: Instant?

    /// The number of sessions with a reading of a known beacon.
    package private(set) var sessionCount = 0
    /// The duration of all sessions together in seconds.
    package private(set) var seconds = 0.0

    /// The logarithm of the prior odds of a fault, and the minimum logarithm of the odds of a reported beacon.
    private static let prior = IntegrityConstants.prior
    private static let reported = 4.5
    /// The minimum number of places that can show a fault.
    private static let fewestPlaces = 4
    /// The minimum distance in metres between the stated and the estimated place of a moved beacon.
    private static let leastMove = 5.0
    /// The minimum number of missed readings of a reported beacon that was never received.
    private static let missed = 8.0
    /// The degrees of freedom of the errors' t distribution.
    private static let freedom = 5.0
    /// The median of the squares of a normal distribution, relative to its variance.
    private static let medianSquare = 0.455
    /// The bounds of the ratio of the errors' variance to the expected variance.
    private static let ratios = 0.1...1.5
    /// Standard deviation in dB of the persistent error of a surveyed beacon's power over many sessions.
    private static let surveyedPowerDoubt = 1.0

    /// Creates an audit without sessions.
    ///
    /// - Parameters:
    ///   - venue: the venue with its beacons, and its radio map if there is one.
    ///   - settings: the settings of the engine; the audit uses the particle filter regardless of the method.
    ///   - seed: the seed of the engine's random numbers; the same seed gives the same findings.
    package init(venue: Venue, settings: PositioningSettings = PositioningSettings(), seed: UInt64 = 0) {
        self.init(
            venue: venue, field: SignalField(venue: venue, model: settings.signal), settings: settings, seed: seed)
    }

    /// Creates an audit that shares an existing field.
    package init(venue: Venue, field: SignalField, settings: PositioningSettings, seed: UInt64) {
        (self.venue, self.field, self.settings, self.seed) = (venue, field, settings, seed)
        self.settings.method = .particle
        self.settings.testedBeacons = .all
    }

    /// Adds a session.
    ///
    /// - Parameters:
    ///   - readings: the readings of the session, ordered by instant.
    ///   - device: the model of the device, as in ``LocalizationSettings/device``; nil if unknown.
    package mutating func add(_ readings: [SensorReading], device: String? = nil) {
        guard let begin = readings.first?.instant, let end = readings.last?.instant else { return }
        var engine = PositioningEngine(venue: venue, field: field, settings: settings, seed: seed)
        engine.collectResiduals()
        if let device { engine.begin(asDevice: device) }
        engine.play(readings)
        guard let residuals = engine.residuals else { return }
        let received = residuals.placesByBeacon().map(\.beacon)
        guard !received.isEmpty else { return }
        first = first ?? begin
        sessionCount += 1
        seconds += max(0, begin.seconds(to: end))
        for beacon in received { sessions[beacon, default: 0] += 1 }
        atlas.add(residuals)
    }

    /// Adds the sessions of another audit of the same venue.
    package mutating func add(_ other: BeaconAudit) {
        first = first ?? other.first
        sessionCount += other.sessionCount
        seconds += other.seconds
        sessions.merge(other.sessions, uniquingKeysWith: +)
        atlas.add(other.atlas)
    }

    /// The number of beacons of the venue that the sessions received.
    package var receivedCount: Int { sessions.count }

    /// Returns the beacons that need a technician, in the order of their identities.
    package func findings() -> [Finding] {
        let tested = atlas.placesByBeacon().filter { field.isEstablished($0.beacon) }
            .filter { $0.places.count >= Self.fewestPlaces }
        let ratio = Self.ratio(tested.flatMap(\.places))
        // Collect all suspects first: the diagnosis of an exchanged pair needs both beacons.
        let suspects = tested.filter { odds(of: $0, others: [], ratio).odds > Self.prior }.map(\.beacon)
        var findings: [Finding] = []
        for entry in tested {
            let (kind, odds) = odds(of: entry, others: suspects, ratio)
            guard odds >= Self.reported else { continue }
            // A smaller distance can be an error of the beacon's position in a venue packet without a survey.
            if case .moved(_, let distance?) = kind, distance < Self.leastMove { continue }
            findings.append(finding(entry.beacon, kind, odds, places: entry.places.count))
        }
        for (beacon, tally) in atlas.tallies where sessions[beacon] == nil && tally.missed >= Self.missed {
            findings.append(finding(beacon, .silent, Self.prior + tally.missed, places: 0))
        }
        return findings.sorted { $0.fault.beacon < $1.fault.beacon }
    }

    private func finding(_ beacon: Int, _ kind: BeaconFault.Kind, _ odds: Double, places: Int) -> Finding {
        Finding(
            fault: BeaconFault(beacon: field.beacons[beacon], kind: kind, since: first ?? .zero), places: places,
            sessions: sessions[beacon] ?? 0, evidence: odds)
    }

    /// Returns the most probable fault of a beacon, and the logarithm of the odds.
    private func odds(
        of entry: (beacon: Int, places: [ResidualAtlas.Place]), others: [Int], _ ratio: Double
    ) -> (kind: BeaconFault.Kind, odds: Double) {
        let tally = atlas.tallies[entry.beacon] ?? ResidualAtlas.Tally()
        let places = entry.places.map { place in
            var place = place
            place.variance *= ratio
            return place
        }
        let noise = places.reduce(0) { $0 + $1.variance } / Double(places.count)
        let diagnosis = FaultDiagnosis(
            of: entry.beacon, places.map(\.sample), duplicity: tally.doubleLooks / max(1, tally.looks), field: field,
            noise: noise, pathLossVariance: max(noise, field.pathLossDeviation * field.pathLossDeviation * ratio))
        let doubt = field.powerDoubt(of: entry.beacon)
        let healthy = Self.healthyCost(
            places, noise: noise, powerDoubt: field.isPowerSurveyed(entry.beacon) ? Self.surveyedPowerDoubt : doubt)
        return (diagnosis.kind(others: others), Self.prior + healthy - diagnosis.explanation(others: others).cost)
    }

    /// Returns the ratio of the errors' variance to the expected variance, from the median: most beacons are healthy.
    private static func ratio(_ places: [ResidualAtlas.Place]) -> Double {
        let squares = places.map { Double($0.sample.residual) * Double($0.sample.residual) / $0.variance }.sorted()
        guard !squares.isEmpty else { return 1 }
        return min(max(squares[squares.count / 2] / medianSquare, ratios.lowerBound), ratios.upperBound)
    }

    /// Returns the negative logarithm of the likelihood of the residuals if the beacon is healthy, relative to that of
    /// perfect agreement.
    ///
    /// The persistent error of the beacon's power is integrated out.
    private static func healthyCost(
        _ places: [ResidualAtlas.Place], noise: Double, powerDoubt: Double
    ) -> Double {
        let (doubt, freedom) = (powerDoubt * powerDoubt, freedom)
        var (precision, sum) = (0.0, 0.0)
        for place in places {
            let residual = Double(place.sample.residual)
            let weight = (freedom + 1) / (freedom + residual * residual / place.variance) / place.variance
            precision += weight
            sum += weight * residual
        }
        let shift = sum / (precision + 1 / doubt)
        let prior = shift * shift / (2 * doubt) + cmath_log(1 + doubt * precision) / 2
        return places.reduce(prior) { cost, place in
            let difference = Double(place.sample.residual) - shift
            return cost + (freedom + 1) / 2 * cmath_log(1 + difference * difference / (freedom * place.variance))
                + cmath_log(place.variance / noise) / 2
        }
    }
}
