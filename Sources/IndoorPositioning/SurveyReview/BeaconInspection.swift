import CMath
import IndoorVocabulary
import VenueModel

/// The search for suspicious beacons in a survey.
struct BeaconInspection {
    let venue: Venue
    let radioMap: RadioMap
    let settings: SurveyReviewSettings
    /// The signal model of the survey, with the deviation of its readings.
    private let model: SignalModel

    /// The number of strongest readings that are compared between two maps.
    private static let strongest = 5
    /// The minimum difference in dB by which the readings on another map must be stronger.
    private static let mapDifference = 10.0
    /// The distance in metres from a survey place within which a working beacon is certainly detected.
    private static let certain = 10.0
    /// The minimum number of beacons for a comparison of their powers.
    private static let fewestPowers = 4

    init(venue: Venue, radioMap: RadioMap, settings: SurveyReviewSettings) {
        self.venue = venue
        self.radioMap = radioMap
        self.settings = settings
        var model = settings.signal.fitted(to: radioMap)
        // Bodies and orientations change readings independently of shadowing; add this as noise, which many readings
        // average out.
        model.surveyNoise = max(model.surveyNoise, model.readingDeviation(with: radioMap))
        self.model = model
    }

    /// Returns the findings in the order of the beacons' identities.
    func findings() -> [BeaconFinding] {
        let surveyed = Dictionary(
            radioMap.beacons.enumerated().map { ($1.identity, $0) }, uniquingKeysWith: { first, _ in first })
        var readings = Array(repeating: [BeaconPositionFit.Reading](), count: radioMap.beacons.count)
        for place in radioMap.fingerprints {
            for reading in place.readings where readings.indices.contains(reading.beacon) {
                readings[reading.beacon].append(
                    BeaconPositionFit.Reading(place: place, rssi: reading.rssi, count: reading.count))
            }
        }
        let weak = weakBeacons()
        var findings: [BeaconFinding] = []
        for beacon in venue.beacons.sorted(by: { $0.identity < $1.identity }) {
            func add(_ kind: BeaconFinding.Kind) {
                findings.append(BeaconFinding(beacon: beacon.identity, kind: kind))
            }
            guard let index = surveyed[beacon.identity], !readings[index].isEmpty else {
                if isSurveyed(beacon) { add(.silent) }
                continue
            }
            if let kind = displacement(of: beacon, readings[index]) { add(kind) }
            if let difference = weak[beacon.identity] { add(.weak(difference: difference)) }
            if readings[index].count < settings.fewestPlaces { add(.fewReadings(places: readings[index].count)) }
        }
        return findings
    }

    /// Returns whether the survey came so near to a beacon that it must be detected.
    private func isSurveyed(_ beacon: VenueBeacon) -> Bool {
        radioMap.fingerprints.contains {
            $0.mapID == beacon.mapID && $0.point.distance(to: beacon.point) <= Self.certain
        }
    }

    /// Returns the difference in dB of each weak beacon from the median power, after subtracting the configured powers.
    private func weakBeacons() -> [BeaconIdentity: Double] {
        let known = Dictionary(venue.beacons.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
        let powers = radioMap.beacons.compactMap { beacon in
            known[beacon.identity].map { (beacon.identity, beacon.power - ($0.measuredPower ?? model.defaultPower)) }
        }
        guard powers.count >= Self.fewestPowers else { return [:] }
        let median = Self.median(powers.map(\.1))
        let spread = 1.4826 * Self.median(powers.map { abs($0.1 - median) })
        let least = max(settings.weakDifference, 3 * spread)
        return Dictionary(
            powers.filter { median - $0.1 > least }.map { ($0.0, median - $0.1) },
            uniquingKeysWith: { first, _ in first })
    }

    private static func median(_ values: [Double]) -> Double {
        values.isEmpty ? 0 : values.sorted()[values.count / 2]
    }

    /// Returns the finding that a beacon is at another place or at two places; nil without evidence.
    private func displacement(
        of beacon: VenueBeacon, _ readings: [BeaconPositionFit.Reading]
    ) -> BeaconFinding.Kind? {
        let byMap = Dictionary(grouping: readings, by: \.place.mapID)
        let here = byMap[beacon.mapID] ?? []
        let power = radioMap.beacons.reduce(0) { $0 + $1.power } / Double(max(1, radioMap.beacons.count))
        func fit(_ readings: [BeaconPositionFit.Reading]) -> BeaconPositionFit? {
            BeaconPositionFit(
                readings, known: beacon.point, power: power, exponent: radioMap.pathLossExponent, model: model)
        }
        let test = TwoTransmitterTest(model: model, exponent: radioMap.pathLossExponent)
        if let both = test.places(of: here) {
            return .twoTransmitters(
                first: .init(mapID: beacon.mapID, point: both.first),
                second: .init(mapID: beacon.mapID, point: both.second))
        }
        // Compare with the other map that has the strongest readings.
        let others = byMap.filter { $0.key != beacon.mapID && $0.value.count >= BeaconPositionFit.fewest }
        let strongest = others.max { (Self.level($0.value), $1.key) < (Self.level($1.value), $0.key) }
        if let other = strongest, isSurveyed(beacon), Self.level(other.value) > Self.level(here) + Self.mapDifference,
            let found = fit(other.value)
        {
            return .moved(
                place: .init(mapID: other.key, point: found.point), deviation: found.deviation, distance: nil)
        }
        guard let found = fit(here), found.doubt > settings.moveEvidence else { return nil }
        let distance = found.point.distance(to: beacon.point)
        guard distance > max(settings.leastMove, found.deviation) else { return nil }
        return .moved(
            place: .init(mapID: beacon.mapID, point: found.point), deviation: found.deviation, distance: distance)
    }

    /// Returns the mean of the strongest readings in dBm.
    private static func level(_ readings: [BeaconPositionFit.Reading]) -> Double {
        let strongest = readings.map(\.rssi).sorted(by: >).prefix(strongest)
        return strongest.isEmpty ? -127 : strongest.reduce(0, +) / Double(strongest.count)
    }
}

/// A problem of a beacon that a survey shows.
public struct BeaconFinding: Hashable, Sendable {
    /// A place on a map.
    public struct Place: Hashable, Sendable {
        /// The map.
        public var mapID: MapID
        /// The point on the map.
        public var point: MapPoint

        /// Creates a place.
        package init(mapID: MapID, point: MapPoint) {
            self.mapID = mapID
            self.point = point
        }
    }

    /// The kinds of problems.
    public enum Kind: Hashable, Sendable {
        /// The survey detected the beacon nowhere.
        case silent
        /// The survey detected the beacon at few places.
        case fewReadings(places: Int)
        /// The readings contradict the beacon's place in the venue.
        ///
        /// `place` is the place that fits the readings best, `deviation` its standard deviation along each axis and
        /// `distance` its distance from the venue's place, both in metres; the distance is nil on another map.
        case moved(place: Place, deviation: Double, distance: Double?)
        /// The power is `difference` dB below that of the other beacons.
        case weak(difference: Double)
        /// Two transmitters with the same identity explain the readings much better than one.
        case twoTransmitters(first: Place, second: Place)
    }

    /// The beacon.
    public var beacon: BeaconIdentity
    /// The problem.
    public var kind: Kind

    /// Creates a finding.
    package init(beacon: BeaconIdentity, kind: Kind) {
        self.beacon = beacon
        self.kind = kind
    }
}

/// A fit of a beacon's position to its survey readings, and a comparison with the position in the venue.
///
/// The likelihood of a candidate position combines path loss with correlated shadowing and an unknown power; the estimate
/// is the posterior mean. Source: B. Ferris, D. Hähnel, D. Fox, *Gaussian Processes for Signal Strength-Based Location
/// Estimation*, Robotics: Science and Systems, 2006.
struct BeaconPositionFit {
    /// A mean reading at a surveyed place.
    struct Reading {
        var place: RadioMap.Fingerprint
        var rssi: Double
        var count: Int

        var point: MapPoint { place.point }
    }

    /// The posterior mean.
    let point: MapPoint
    /// The standard deviation of the position along each axis, in metres.
    let deviation: Double
    /// The logarithm of the likelihood ratio between the best position and the venue's position, at least 0.
    let doubt: Double

    /// The radius in metres of the search around the strongest readings.
    private static let reach = 20.0
    /// The distance in metres between candidate positions.
    private static let step = 2.0
    /// The maximum number of readings; more are thinned out.
    static let readingLimit = 200
    /// The minimum number of readings for an estimate.
    static let fewest = 5

    /// Fits the position of one beacon on one map; nil with too few readings.
    ///
    /// - Parameters:
    ///   - known: the venue's position.
    ///   - power: the mean power of all beacons in dBm.
    init?(
        _ all: [Reading], known: MapPoint, power: Double, exponent: Double, model: SignalModel
    ) {
        let readings = all.thinned(to: Self.readingLimit)
        guard readings.count >= Self.fewest else { return nil }
        let heard = readings.map { (point: $0.point, deviation: $0.place.deviation, count: $0.count) }
        guard let factor = model.covariance(of: heard, constant: model.powerDeviation * model.powerDeviation) else {
            return nil
        }
        let points = Self.center(of: readings).disk(reach: Self.reach, step: Self.step) + [known]
        let errors = points.map { point in
            readings.map { reading in
                reading.rssi
                    - model.pathLoss(
                        power: power, exponent: exponent, planar: point.distance(to: reading.point),
                        height: model.heightDifference)
            }
        }
        let squares = factor.whitened(each: errors).map { $0.reduce(0) { $0 + $1 * $1 } }
        let least = squares.min() ?? 0
        let weights = squares.map { cmath_exp((least - $0) / 2) }
        let sum = weights.reduce(0, +)
        let x = zip(weights, points).reduce(0) { $0 + $1.0 * $1.1.x } / sum
        let y = zip(weights, points).reduce(0) { $0 + $1.0 * $1.1.y } / sum
        let variance = zip(weights, points).reduce(0) { sum, entry in
            let (dx, dy) = (entry.1.x - x, entry.1.y - y)
            return sum + entry.0 * (dx * dx + dy * dy) / 2
        }
        point = MapPoint(x: x, y: y)
        deviation = (variance / sum + Self.step * Self.step / 12).squareRoot()
        doubt = (squares[squares.count - 1] - least) / 2
    }

    /// Returns the mean position of the readings, weighted by amplitude.
    private static func center(of readings: [Reading]) -> MapPoint {
        var (weight, sum) = (0.0, MapPoint(x: 0, y: 0))
        for reading in readings {
            let amplitude = cmath_pow(10, reading.rssi / 20)
            weight += amplitude
            sum = sum + reading.point * amplitude
        }
        return sum * (1 / weight)
    }
}

/// A test of whether two transmitters explain the readings of one identity much better than one transmitter.
///
/// Each hypothesis has one power. With two transmitters, a reading comes from the transmitter with the higher expected
/// RSSI. The candidate positions are surveyed places. The test compares the sums of squared errors, as an F-test does:
/// G. A. F. Seber, A. J. Lee, *Linear Regression Analysis*, 2003, chapter 4.
struct TwoTransmitterTest {
    let model: SignalModel
    let exponent: Double

    /// The number of places with the strongest readings that are candidate positions.
    private static let candidates = 30
    /// The minimum distance in metres between two transmitters.
    private static let leastDistance = 10.0
    /// The minimum number of readings of each transmitter.
    private static let leastReadings = 3
    /// The minimum ratio between the sums of squared errors with one and with two transmitters.
    private static let leastRatio = 2.0
    /// The minimum gain in the logarithm of the likelihood.
    private static let leastGain = 15.0
    /// The maximum difference in dB between the strongest readings of both transmitters.
    private static let greatestDifference = 15.0

    /// Returns the places of both transmitters; nil if one transmitter explains the readings well enough.
    func places(of all: [BeaconPositionFit.Reading]) -> (first: MapPoint, second: MapPoint)? {
        let readings = all.thinned(to: BeaconPositionFit.readingLimit)
        guard readings.count >= 2 * Self.leastReadings else { return nil }
        let strongest = readings.sorted { $0.rssi > $1.rssi }
        let points = separated(strongest.map(\.point))
        let losses = points.map { point in
            readings.map {
                model.pathLoss(
                    power: 0, exponent: exponent, planar: point.distance(to: $0.point), height: model.heightDifference)
            }
        }
        let rssis = readings.map(\.rssi)
        let single = losses.map { Self.squares(rssis, $0) }.min() ?? 0
        var best: (sum: Double, first: Int, second: Int)?
        for first in points.indices {
            for second in points.indices.dropFirst(first + 1)
            where points[first].distance(to: points[second]) >= Self.leastDistance {
                let sum = Self.squares(rssis, zip(losses[first], losses[second]).map(max))
                if sum < best?.sum ?? .infinity { best = (sum, first, second) }
            }
        }
        guard let best else { return nil }
        let variance = model.shadowing * model.shadowing + model.surveyVariance(count: model.readingCap)
        guard single > Self.leastRatio * best.sum, single - best.sum > 2 * Self.leastGain * variance else { return nil }
        // The strongest reading of each transmitter.
        var peaks = [-Double.infinity, -Double.infinity]
        var counts = [0, 0]
        for index in rssis.indices {
            let owner = losses[best.first][index] >= losses[best.second][index] ? 0 : 1
            counts[owner] += 1
            peaks[owner] = max(peaks[owner], rssis[index])
        }
        guard counts.allSatisfy({ $0 >= Self.leastReadings }), abs(peaks[0] - peaks[1]) <= Self.greatestDifference
        else { return nil }
        return (points[best.first], points[best.second])
    }

    /// Returns the points in order, without those less than 2 m from an earlier returned point.
    private func separated(_ points: [MapPoint]) -> [MapPoint] {
        var kept: [MapPoint] = []
        for point in points where kept.allSatisfy({ $0.distance(to: point) >= 2 }) {
            kept.append(point)
            if kept.count == Self.candidates { break }
        }
        return kept
    }

    /// Returns the sum of squared errors with the best power.
    private static func squares(_ rssis: [Double], _ losses: [Double]) -> Double {
        let count = Double(rssis.count)
        let power = zip(rssis, losses).reduce(0) { $0 + $1.0 - $1.1 } / count
        return zip(rssis, losses).reduce(0) { $0 + ($1.0 - $1.1 - power) * ($1.0 - $1.1 - power) }
    }
}
