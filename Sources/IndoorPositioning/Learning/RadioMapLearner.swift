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

    /// Creates a learner for a venue. The learner uses the venue's maps, known beacons and receivers, but not its radio map.
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
        let known = Dictionary(knownBeacons.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
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

    /// The beacons, and the receivers as beacons: in a survey with a tag, the receivers hear the tag.
    private var knownBeacons: [VenueBeacon] { venue.beacons + venue.receivers.map(\.beacon) }

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
        let known = Set(knownBeacons.map(\.identity))
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

/// A converter that cuts survey recordings into fingerprints.
package struct FingerprintCutter {
    /// Length in seconds of the pieces of a walk: about two metres of walking.
    var window = 2.0
    /// Minimum listening time in seconds of a stay.
    var shortestStay = 0.5
    /// Minimum probability of the map of a track position.
    var leastProbability = 0.9
    /// Maximum distance in metres between track positions that become one piece; 0 to keep them apart.
    var mergedWithin = 0.0

    /// A piece of a recording: the position and the readings by beacon.
    package struct Piece: Sendable {
        var mapID: MapID
        var point: MapPoint
        var duration: Double
        var readings: [BeaconIdentity: (sum: Double, count: Int)]
        /// Standard deviation of the point along each axis in metres; 0 for ground truth.
        var deviation = 0.0

        /// Adds the readings of a later piece, and moves the point to the mean of both.
        mutating func merge(_ next: Piece) {
            let share = next.duration / (duration + next.duration)
            point = point + (next.point - point) * share
            deviation += (next.deviation - deviation) * share
            duration += next.duration
            for (beacon, reading) in next.readings {
                let old = readings[beacon] ?? (0, 0)
                readings[beacon] = (old.sum + reading.sum, old.count + reading.count)
            }
        }
    }

    /// Returns the pieces of a recording: first the stays, then the walks, each in chronological order; empty without
    /// waypoints.
    func pieces(of recording: SurveyRecording) -> [Piece] {
        var pieces: [Piece] = []
        let points = recording.waypoints
        for (index, waypoint) in points.enumerated() {
            let next = index + 1 < points.count ? points[index + 1] : nil
            if waypoint.isHold {
                let end = waypoint.stayEnd(before: next, in: recording)
                let duration = max(shortestStay, waypoint.instant.seconds(to: end))
                pieces.append(
                    piece(recording, from: waypoint.instant, through: end, waypoint.mapID, waypoint.point, duration))
            }
        }
        return pieces + Self.walks(points).flatMap { cut($0, of: recording) }
    }

    /// Returns the waypoints of each uninterrupted walk; the last waypoint of a walk is its stop.
    private static func walks(_ points: [SurveyRecording.Waypoint]) -> [[SurveyRecording.Waypoint]] {
        var walks: [[SurveyRecording.Waypoint]] = []
        var walk: [SurveyRecording.Waypoint] = []
        for point in points {
            walk.append(point)
            guard point.isHold else { continue }
            walks.append(walk)
            walk = []
        }
        return walks + [walk]
    }

    private func cut(_ walk: [SurveyRecording.Waypoint], of recording: SurveyRecording) -> [Piece] {
        guard let first = walk.first, let last = walk.last else { return [] }
        var pieces: [Piece] = []
        let gap = walk.indices.dropFirst().first { walk[$0 - 1].isInterrupted(before: walk[$0]) }
        if let gap { return cut(Array(walk[..<gap]), of: recording) + cut(Array(walk[gap...]), of: recording) }
        var start = first.instant.seconds
        while start < last.instant.seconds {
            let end = min(start + window, last.instant.seconds)
            if end - start >= window / 2, let place = Self.place(on: walk, at: (start + end) / 2) {
                pieces.append(
                    piece(
                        recording, from: Instant(seconds: start), through: Instant(seconds: end), place.mapID,
                        place.point, end - start))
            }
            start = end
        }
        return pieces
    }

    private func piece(
        _ recording: SurveyRecording, from start: Instant, through end: Instant, _ map: MapID, _ point: MapPoint,
        _ duration: Double
    ) -> Piece {
        var readings: [BeaconIdentity: (sum: Double, count: Int)] = [:]
        for sighting in recording.sightings[Self.lowerBound(recording.sightings, start)...] {
            guard sighting.instant <= end else { break }
            guard sighting.hasMeasurement else { continue }
            let old = readings[sighting.beacon] ?? (0, 0)
            readings[sighting.beacon] = (old.sum + sighting.rssi, old.count + 1)
        }
        return Piece(mapID: map, point: point, duration: duration, readings: readings)
    }

    /// Returns the pieces of a recording at the positions of its track, without positions whose standard deviation
    /// exceeds `limit` metres.
    ///
    /// - Parameter doubt: factor on the track's radii.
    func pieces(
        of recording: SurveyRecording, along track: SmoothedTrack, doubt: Double, atMost limit: Double
    ) -> [Piece] {
        guard let first = track.looks.first?.instant.seconds, let last = track.looks.last?.instant.seconds else {
            return []
        }
        var pieces: [Piece] = []
        // The end of the last piece, and the point at which it began.
        var lastEnd = -Double.infinity
        var anchor = MapPoint(x: 0, y: 0)
        for start in stride(from: first, to: last - window / 2, by: window) {
            let end = min(start + window, last)
            guard let look = track.look(at: Instant(seconds: (start + end) / 2)),
                look.probability >= leastProbability
            else { continue }
            let deviation = doubt * look.estimate.radius / PositionCovariance.radiusOfDeviation
            guard deviation <= limit else { continue }
            var piece = piece(
                recording, from: Instant(seconds: start), through: Instant(seconds: end), look.mapID,
                look.estimate.point, end - start)
            guard !piece.readings.isEmpty else { continue }
            piece.deviation = deviation
            if start - lastEnd < window / 2, pieces.last?.mapID == piece.mapID,
                anchor.distance(to: piece.point) < mergedWithin
            {
                pieces[pieces.count - 1].merge(piece)
            } else {
                pieces.append(piece)
                anchor = piece.point
            }
            lastEnd = end
        }
        return pieces
    }

    private static func lowerBound(_ sightings: [Sighting], _ instant: Instant) -> Int {
        sightings.indices.bisection { sightings[$0].instant >= instant }
    }

    /// Returns the position of a walker who moves straight and at constant speed between waypoints; nil on the way
    /// between two maps.
    private static func place(on walk: [SurveyRecording.Waypoint], at seconds: Double) -> (
        mapID: MapID, point: MapPoint
    )? {
        guard let after = walk.firstIndex(where: { $0.instant.seconds > seconds }) else {
            return walk.last.map { ($0.mapID, $0.point) }
        }
        guard after > 0 else { return (walk[0].mapID, walk[0].point) }
        return walk[after - 1].place(toward: walk[after], at: seconds)
    }
}

extension SurveyRecording.Waypoint {
    /// Maximum time in seconds between two waypoints of a walk.
    private static let longestLeg = 600.0

    /// Returns whether the time until the next waypoint is so long that it interrupts a walk: nobody knows where the device
    /// was.
    package func isInterrupted(before next: Self) -> Bool { instant.seconds(to: next.instant) > Self.longestLeg }
}

/// The fingerprints of a survey and their recordings.
struct SurveyedPlaces {
    /// The fingerprints, recording by recording.
    var fingerprints: [RadioMap.Fingerprint]
    /// The index of each place's recording, from 0.
    let recordings: [Int]
    /// The number of places of each recording.
    let sizes: [Int]

    init(_ fingerprints: [RadioMap.Fingerprint], recordings: [Int]) {
        precondition(fingerprints.count == recordings.count, "each place comes from a recording")
        self.fingerprints = fingerprints
        self.recordings = recordings
        var sizes = [Int](repeating: 0, count: (recordings.max() ?? -1) + 1)
        for recording in recordings { sizes[recording] += 1 }
        self.sizes = sizes
    }

    /// Share of the recordings that consist of a single place.
    var shareOfSingles: Double {
        let used = sizes.filter { $0 > 0 }
        return used.isEmpty ? 0 : Double(used.filter { $0 == 1 }.count) / Double(used.count)
    }

    /// Returns whether one place can predict another, left-out place: both are on the same map, but belong neither to
    /// the same walk nor to stays at the same point.
    func isApart(_ other: Int, from place: Int) -> Bool {
        guard fingerprints[other].mapID == fingerprints[place].mapID else { return false }
        if sizes[recordings[place]] > 1 { return recordings[other] != recordings[place] }
        return fingerprints[other].point.distance(to: fingerprints[place].point) > Self.samePoint
    }

    /// Returns the probability that a position of a new recording is within the surveyed area, in [0, 1).
    ///
    /// The estimate leaves recordings out and measures the distances from their places to the places of the other
    /// recordings. It adds one uncovered recording to the count (Laplace's rule of succession), so that few recordings
    /// never give full coverage.
    func coverage(length: Double) -> Double {
        var (covered, all) = (0.0, 0.0)
        for place in sample(500) {
            all += 1
            var nearest = Double.infinity
            let point = fingerprints[place].point
            for other in fingerprints.indices {
                let distance = distance(from: point, to: other)
                if distance < nearest, isApart(other, from: place) { nearest = distance }
            }
            covered += cmath_exp(-nearest * nearest / (2 * length * length))
        }
        guard all > 0 else { return 0 }
        return covered / all / (1 + 1 / Double(sizes.filter { $0 > 0 }.count))
    }

    /// Distance in metres below which two places count as the same point.
    private static let samePoint = 0.01

    /// Returns an evenly spaced sample of the places with ground truth: all of them, or about `limit`.
    func sample(_ limit: Int) -> [Int] {
        let known = fingerprints.indices.filter { fingerprints[$0].deviation == 0 }
        return stride(from: 0, to: known.count, by: max(1, known.count / limit)).map { known[$0] }
    }

    /// Returns the distance in metres from a point to a place, minus the place's uncertainty, at least 0.
    func distance(from point: MapPoint, to place: Int) -> Double {
        max(0, fingerprints[place].point.distance(to: point) - fingerprints[place].deviation)
    }
}

extension Array {
    /// Returns at most `limit` of the elements, evenly spaced.
    func thinned(to limit: Int) -> [Element] {
        let step = Swift.max(1, (count + limit - 1) / limit)
        return stride(from: 0, to: count, by: step).map { self[$0] }
    }
}

/// An estimator of the receiver offset of each device model, from the offsets of its recordings.
///
/// A model's offset is the mean over its recordings. The variance of the recordings within a model (another pocket,
/// another unit) is assumed equal for all models, as most have few recordings; its prior is worth a few recordings.
/// Source of the estimate with a conjugate prior: A. Gelman et al., *Bayesian Data Analysis*, 3rd edition, 2013,
/// section 2.6.
struct DeviceOffsets {
    /// The learned receiver of each model, by name.
    let receivers: [String: RadioMap.Receiver]

    /// Prior standard deviation in dB of the recordings within a model, such as a hand against a pocket.
    private static let usualDeviation = 2.0
    /// Number of recordings that the prior is worth.
    private static let usualCount = 2.0
    /// Lower bound of a receiver's standard deviation in dB, for another pocket, another unit of the model, or a wrong
    /// name. On ipin2023, a bound of 1.3 dB would reduce the error by 0.06 m. It would increase the error by 1.6 m if
    /// the device's true offset is 15 dB below the stated one, and by 0.4 m if it is 8 dB below.
    private static let leastDeviation = 3.0

    /// Estimates the offsets from recordings.
    ///
    /// - Parameters:
    ///   - devices: the device model of each recording; nil if unknown.
    ///   - offsets: the receiver offset of each recording relative to the mean of all, in dB.
    ///   - areDetermined: whether the survey determines the offsets. If not, an offset is known only if all recordings
    ///     have the same model; it is the mean of all recordings.
    init(_ devices: [String?], offsets: [Double], areDetermined: Bool) {
        var byDevice: [String: [Double]] = [:]
        for (device, offset) in zip(devices, offsets) {
            if let device { byDevice[device, default: []].append(offset) }
        }
        guard areDetermined || byDevice.count == 1 && !devices.contains(nil) else {
            receivers = [:]
            return
        }
        let means = byDevice.mapValues { $0.reduce(0, +) / Double($0.count) }
        var (count, squares) = (Self.usualCount, Self.usualCount * Self.usualDeviation * Self.usualDeviation)
        for (device, offsets) in byDevice.sorted(by: { $0.key < $1.key }) {
            let mean = means[device] ?? 0
            count += Double(offsets.count - 1)
            squares += offsets.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        }
        let variance = squares / count
        receivers = Dictionary(
            uniqueKeysWithValues: byDevice.map { device, offsets in
                // The variance of a new recording: its variance about the mean, plus the variance of the mean.
                let deviation = (variance * (1 + 1 / Double(offsets.count))).squareRoot()
                return (
                    device,
                    RadioMap.Receiver(
                        offset: min(max(means[device] ?? 0, -50), 50),
                        deviation: min(max(deviation, Self.leastDeviation), 50))
                )
            })
    }
}
