import CMath
import IndoorVocabulary
import VenueModel

/// A learner that creates a venue's radio map from survey recordings: the beacons' positions and powers, and the
/// shadowing at every surveyed place.
///
/// The model is log-distance path loss with a common exponent and a power for each beacon, plus a Gaussian process for
/// each beacon and map. Source: B. Ferris, D. Hähnel, D. Fox, *Gaussian Processes for Signal Strength-Based Location
/// Estimation*, Robotics: Science and Systems, 2006.
public struct RadioMapLearner: Sendable {
    private let venue: Venue
    private let model: SignalModel
    private var pieces: [FingerprintCutter.Piece] = []
    /// The index of each piece's recording.
    private var recordings: [Int] = []
    /// The receiver model of each recording.
    private var devices: [String?] = []

    /// Creates a learner for a venue. The learner uses the venue's maps and known beacons, but not its radio map.
    public init(venue: Venue, model: SignalModel = SignalModel()) {
        self.venue = venue
        self.model = model
    }

    /// Adds a recording; a recording without waypoints on the venue's maps has no effect.
    public mutating func add(_ recording: SurveyRecording) {
        let maps = Set(venue.maps.map(\.id))
        let added = FingerprintCutter().pieces(of: recording).filter { maps.contains($0.mapID) }
        guard !added.isEmpty else { return }
        pieces += added
        recordings += Array(repeating: devices.count, count: added.count)
        devices.append(recording.device)
    }

    /// Adds a recording without ground truth, at the positions of a smoothed track; the recording's waypoints are not
    /// used.
    ///
    /// Uncertain positions have less weight, and positions with a very large uncertainty are ignored. These recordings
    /// contribute to the beacons' positions and powers and to the fingerprints. The recordings with ground truth alone
    /// determine the parameters of the model.
    /// - Parameters:
    ///   - recording: a recording without ground truth.
    ///   - track: the track of the recording, estimated with a radio map from other recordings.
    ///   - doubt: factor on the uncertainty of the track.
    package mutating func add(_ recording: SurveyRecording, along track: SmoothedTrack, doubt: Double = 1) {
        let maps = Set(venue.maps.map(\.id))
        let added = FingerprintCutter().pieces(
            of: recording, along: track, doubt: doubt, atMost: model.shadowingLength
        ).filter { maps.contains($0.mapID) }
        guard !added.isEmpty else { return }
        pieces += added
        recordings += Array(repeating: devices.count, count: added.count)
        devices.append(recording.device)
    }

    /// Returns the radio map of all added recordings; nil if no beacon was detected at any place.
    ///
    /// The time is cubic in the number of readings of a beacon, which are thinned out beyond 400 per map, and in the
    /// number of recordings. With more than 600 recordings, all are treated as made by one receiver.
    public func finish() -> RadioMap? {
        let known = Dictionary(venue.beacons.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
        let identities = Set(pieces.flatMap(\.readings.keys)).sorted()
        guard !identities.isEmpty else { return nil }
        var places = SurveyedPlaces(fingerprints(of: identities), recordings: recordings)
        var beacons = locate(identities, known: known, in: places.fingerprints)
        let exponent = fitPathLoss(&beacons, places.fingerprints)
        let floorDistance = FloorDistance(venue.maps)
        let shadowing = ShadowingRegression(
            model: model, beacons: beacons, exponent: exponent, floorDistance: floorDistance, places: places
        ).solve()
        apply(shadowing, to: &places)
        var radioMap = RadioMap(
            beacons: beacons, fingerprints: places.fingerprints, pathLossExponent: exponent,
            readingDeviation: shadowing.deviation)
        fit(&radioMap, shadowing, places, floorDistance)
        return radioMap
    }

    private func fingerprints(of identities: [BeaconIdentity]) -> [RadioMap.Fingerprint] {
        let indexes = Dictionary(uniqueKeysWithValues: identities.enumerated().map { ($1, $0) })
        return pieces.map { piece in
            RadioMap.Fingerprint(
                mapID: piece.mapID, point: piece.point, duration: piece.duration, deviation: piece.deviation,
                readings: piece.readings.compactMap { identity, reading in
                    indexes[identity].map {
                        RadioMap.Reading(beacon: $0, rssi: reading.sum / Double(reading.count), count: reading.count)
                    }
                }.sorted { $0.beacon < $1.beacon })
        }
    }

    /// Stores the weights in the readings and removes the receiver offsets, so that all readings refer to the mean
    /// receiver.
    private func apply(_ shadowing: ShadowingRegression.Result, to places: inout SurveyedPlaces) {
        for (place, weights) in shadowing.weights.enumerated() {
            let offset = shadowing.offsets[places.recordings[place]]
            for (reading, weight) in weights.enumerated() {
                places.fingerprints[place].readings[reading].weight = weight
                places.fingerprints[place].readings[reading].rssi -= offset
            }
        }
    }

    /// Estimates the model parameters that the survey determines.
    private func fit(
        _ radioMap: inout RadioMap, _ shadowing: ShadowingRegression.Result, _ places: SurveyedPlaces,
        _ floorDistance: FloorDistance
    ) {
        let exponent = radioMap.pathLossExponent
        let isHeardThroughFloors = places.fingerprints.contains { place in
            place.readings.contains { radioMap.beacons[$0.beacon].mapID != place.mapID }
        }
        if isHeardThroughFloors { radioMap.fit.floorLoss = shadowing.floorLoss }
        if shadowing.offsetDeviation > 0, places.shareOfSingles < 0.5 {
            radioMap.fit.receiverDeviation = shadowing.offsetDeviation
        }
        let areDetermined = shadowing.offsetDeviation > 0
        radioMap.fit.devices =
            DeviceOffsets(devices, offsets: shadowing.offsets, areDetermined: areDetermined).receivers
        let model = model.fitted(to: radioMap)
        let rates = DetectionRange(
            model: model, beacons: radioMap.beacons, exponent: exponent, floorDistance: floorDistance, places: places
        ).best()
        radioMap.fit.rateLength = rates?.length
        radioMap.fit.ratePriorDetections = rates?.priorDetections
        var surveyed = venue
        surveyed.radioMap = radioMap
        let grids = Dictionary(
            venue.maps.map { ($0.id, MapGrid(of: $0, in: surveyed)) }, uniquingKeysWith: { first, _ in first })
        let support = SupportRange(grids: grids, places: places).best()
        radioMap.fit.coverage = places.coverage(length: model.shadowingLength)
        radioMap.fit.supportWidth = support?.width
        radioMap.fit.unsupportedShare = support?.share
        // The direction to a beacon is known only if the beacon's position is.
        let known = Set(venue.beacons.map(\.identity))
        let located = shadowing.residuals.filter { known.contains(radioMap.beacons[$0.beacon].identity) }
        radioMap.fit.bodyDeviation =
            BodyShadowing(located, beacons: radioMap.beacons, places: places)?.body.squareRoot()
    }

    /// Returns the beacons with their known positions, or with positions estimated from the survey.
    private func locate(
        _ identities: [BeaconIdentity], known: [BeaconIdentity: VenueBeacon], in places: [RadioMap.Fingerprint]
    ) -> [RadioMap.Beacon] {
        var readings = [[MapID: [BeaconLocator.Reading]]](repeating: [:], count: identities.count)
        for place in places {
            for reading in place.readings where known[identities[reading.beacon]] == nil {
                readings[reading.beacon][place.mapID, default: []].append(
                    BeaconLocator.Reading(
                        point: place.point, rssi: reading.rssi, count: reading.count, deviation: place.deviation))
            }
        }
        let homes = readings.map { byMap in
            byMap.max { (Self.amplitude($0.value), $1.key.rawValue) < (Self.amplitude($1.value), $0.key.rawValue) }
        }
        let points = BeaconLocator(model: model).places(of: homes.map { $0?.value ?? [] })
        return identities.indices.map { index in
            if let known = known[identities[index]] {
                return RadioMap.Beacon(
                    identity: identities[index], mapID: known.mapID, point: known.point, z: known.z,
                    power: known.measuredPower ?? model.defaultPower)
            }
            return RadioMap.Beacon(
                identity: identities[index], mapID: homes[index]?.key ?? MapID(rawValue: 0),
                point: points[index] ?? MapPoint(x: 0, y: 0), power: model.defaultPower)
        }
    }

    /// Returns the sum of the amplitudes of readings; a beacon is assigned to the map with the greatest sum.
    private static func amplitude(_ readings: [BeaconLocator.Reading]) -> Double {
        readings.reduce(0) { $0 + $1.amplitude }
    }

    /// Fits the common exponent and each beacon's power by least squares; returns the exponent.
    ///
    /// Each beacon's mean is removed before the fit of the slope, so that strong beacons don't bias it. The power of a
    /// beacon with few readings is shrunk toward the mean power.
    private func fitPathLoss(_ beacons: inout [RadioMap.Beacon], _ places: [RadioMap.Fingerprint]) -> Double {
        var sums = [(count: Double, loss: Double, rssi: Double)](repeating: (0, 0, 0), count: beacons.count)
        var samples: [(beacon: Int, loss: Double, rssi: Double, weight: Double)] = []
        let shadowing = model.shadowing * model.shadowing
        for place in places {
            for reading in place.readings where beacons[reading.beacon].mapID == place.mapID {
                let loss = unitLoss(beacons[reading.beacon], place.point)
                let weight =
                    (shadowing + model.surveyVariance(count: reading.count))
                    / (shadowing + model.surveyVariance(count: reading.count, deviation: place.deviation))
                samples.append((reading.beacon, loss, reading.rssi, weight))
                sums[reading.beacon].count += weight
                sums[reading.beacon].loss += weight * loss
                sums[reading.beacon].rssi += weight * reading.rssi
            }
        }
        var covariance = 0.0
        var variance = 0.0
        for sample in samples {
            let sum = sums[sample.beacon]
            let deviation = sample.loss - sum.loss / sum.count
            covariance += sample.weight * deviation * (sample.rssi - sum.rssi / sum.count)
            variance += sample.weight * deviation * deviation
        }
        // An exponent outside these bounds is an artifact of walls or of beacons outside the surveyed area.
        let exponent = variance > 0 ? min(max(covariance / variance, 0.8), 4) : model.pathLossExponent
        let total = sums.reduce((0.0, 0.0)) { ($0.0 + $1.count, $0.1 + $1.rssi - exponent * $1.loss) }
        guard total.0 > 0 else { return exponent }
        let mean = total.1 / total.0
        for index in beacons.indices {
            let sum = sums[index]
            beacons[index].power = (sum.rssi - exponent * sum.loss + mean) / (sum.count + 1)
        }
        return exponent
    }

    /// Returns the path loss relative to 1 m for an exponent of 1, in dB and negative.
    private func unitLoss(_ beacon: RadioMap.Beacon, _ point: MapPoint) -> Double {
        model.pathLoss(
            power: 0, exponent: 1, planar: beacon.point.distance(to: point), height: model.heightDifference)
    }
}
