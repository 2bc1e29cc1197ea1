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
