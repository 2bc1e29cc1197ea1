import CMath

/// Learns a venue's radio from survey recordings: where each beacon stands, how strong it is, and what every
/// surveyed place adds to that.
///
/// Log-distance path loss with a common exponent and a power for each beacon, and over it a Gaussian process for
/// each beacon and map. Source: B. Ferris, D. Hähnel, D. Fox, *Gaussian Processes for Signal Strength-Based Location
/// Estimation*, Robotics: Science and Systems, 2006.
public struct RadioMapLearner: Sendable {
    private let venue: Venue
    private let model: SignalModel
    private var fingerprints: [FingerprintCutter.Piece] = []

    /// More readings of one beacon on one map than this are thinned out before the cubic step.
    private static let readingLimit = 400

    /// Creates a learner for a venue; its maps and known beacons are used, not its radio map.
    public init(venue: Venue, model: SignalModel = SignalModel()) {
        self.venue = venue
        self.model = model
    }

    /// Takes in a recording; one without way points on the venue's maps adds nothing.
    public mutating func add(_ recording: SurveyRecording) {
        let maps = Set(venue.maps.map(\.id))
        fingerprints += FingerprintCutter().pieces(of: recording).filter { maps.contains($0.mapID) }
    }

    /// The radio map of all that was taken in; nil if there was no place at which a beacon was heard.
    public func finish() -> RadioMap? {
        let known = Dictionary(venue.beacons.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
        let identities = Set(fingerprints.flatMap(\.readings.keys)).sorted()
        guard !identities.isEmpty else { return nil }
        let indexes = Dictionary(uniqueKeysWithValues: identities.enumerated().map { ($1, $0) })
        var places = fingerprints.map { piece in
            RadioMap.Fingerprint(
                mapID: piece.mapID, point: piece.point, duration: piece.duration,
                readings: piece.readings.compactMap { identity, reading in
                    indexes[identity].map {
                        RadioMap.Reading(beacon: $0, rssi: reading.sum / Double(reading.count), count: reading.count)
                    }
                }.sorted { $0.beacon < $1.beacon })
        }
        var beacons = identities.enumerated().map { index, identity in
            locate(identity, index: index, known: known[identity], in: places)
        }
        let exponent = fitPathLoss(&beacons, places)
        let deviation = weigh(&places, beacons, exponent)
        return RadioMap(
            beacons: beacons, fingerprints: places, pathLossExponent: exponent, readingDeviation: deviation)
    }

    /// Where a beacon stands: as known, else the mean of where it was heard, weighted by amplitude.
    private func locate(
        _ identity: BeaconIdentity, index: Int, known: VenueBeacon?, in places: [RadioMap.Fingerprint]
    ) -> RadioMap.Beacon {
        if let known {
            return RadioMap.Beacon(
                identity: identity, mapID: known.mapID, point: known.point, z: known.z,
                power: known.measuredPower ?? model.defaultPower)
        }
        var sums: [MapID: (weight: Double, x: Double, y: Double)] = [:]
        for place in places {
            for reading in place.readings where reading.beacon == index {
                let weight = cmath_pow(10, reading.rssi / 20)
                let old = sums[place.mapID] ?? (0, 0, 0)
                sums[place.mapID] = (
                    old.weight + weight, old.x + weight * place.point.x, old.y + weight * place.point.y
                )
            }
        }
        let best = sums.max { ($0.value.weight, $1.key.rawValue) < ($1.value.weight, $0.key.rawValue) }
        guard let best else {
            return RadioMap.Beacon(
                identity: identity, mapID: MapID(rawValue: 0), point: MapPoint(x: 0, y: 0), power: model.defaultPower)
        }
        let point = MapPoint(x: best.value.x / best.value.weight, y: best.value.y / best.value.weight)
        return RadioMap.Beacon(identity: identity, mapID: best.key, point: point, power: model.defaultPower)
    }

    /// Fits the common exponent and each beacon's power by least squares; returns the exponent.
    ///
    /// Each beacon's mean is taken out before the slope is fitted, so that strong beacons don't tilt it. A beacon
    /// heard at few places leans on the mean power of all.
    private func fitPathLoss(_ beacons: inout [RadioMap.Beacon], _ places: [RadioMap.Fingerprint]) -> Double {
        var sums = [(count: Double, loss: Double, rssi: Double)](repeating: (0, 0, 0), count: beacons.count)
        var samples: [(beacon: Int, loss: Double, rssi: Double)] = []
        for place in places {
            for reading in place.readings where beacons[reading.beacon].mapID == place.mapID {
                let loss = unitLoss(beacons[reading.beacon], place.point)
                samples.append((reading.beacon, loss, reading.rssi))
                sums[reading.beacon].count += 1
                sums[reading.beacon].loss += loss
                sums[reading.beacon].rssi += reading.rssi
            }
        }
        var covariance = 0.0
        var variance = 0.0
        for sample in samples {
            let sum = sums[sample.beacon]
            let deviation = sample.loss - sum.loss / sum.count
            covariance += deviation * (sample.rssi - sum.rssi / sum.count)
            variance += deviation * deviation
        }
        // Exponents beyond these bounds come from walls or from beacons outside the surveyed area.
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

    /// The path loss from 1 m on for an exponent of 1, in dB and negative.
    private func unitLoss(_ beacon: RadioMap.Beacon, _ point: MapPoint) -> Double {
        model.pathLoss(
            power: 0, exponent: 1, planar: beacon.point.distance(to: point), height: model.heightDifference)
    }

    /// Solves the Gaussian process of each beacon and map, and writes the weights into the readings.
    ///
    /// - Returns: the deviation of readings from what the others predict; nil if there are too few.
    private func weigh(
        _ places: inout [RadioMap.Fingerprint], _ beacons: [RadioMap.Beacon], _ exponent: Double
    ) -> Double? {
        var surprise = Surprise(model: model)
        var groups: [MapID: [[(place: Int, reading: Int)]]] = [:]
        for (placeIndex, place) in places.enumerated() {
            for (readingIndex, reading) in place.readings.enumerated() {
                groups[place.mapID, default: Array(repeating: [], count: beacons.count)][reading.beacon]
                    .append((placeIndex, readingIndex))
            }
        }
        for (map, byBeacon) in groups.sorted(by: { $0.key < $1.key }) {
            for (index, all) in byBeacon.enumerated() where !all.isEmpty {
                let stride = (all.count + Self.readingLimit - 1) / Self.readingLimit
                let group = all.enumerated().filter { $0.offset % stride == 0 }.map(\.element)
                let loss = beacons[index].mapID == map ? 0 : model.floorLoss
                let residuals = group.map { entry in
                    places[entry.place].readings[entry.reading].rssi + loss
                        - beacons[index].power - exponent * unitLoss(beacons[index], places[entry.place].point)
                }
                guard let factor = factor(group, places) else { continue }
                let weights = factor.solve(residuals)
                surprise.add(weights, factor)
                for (entry, weight) in zip(group, weights) {
                    places[entry.place].readings[entry.reading].weight = weight
                }
            }
        }
        return surprise.deviation
    }

    /// Gathers how far readings lie from what the other readings of the same beacon predict.
    ///
    /// Leave-one-out residuals in closed form. Source: Rasmussen and Williams, 2006, eq. 5.12.
    private struct Surprise {
        let model: SignalModel
        var squares: [(actual: Double, expected: Double)] = []

        /// Readings of a group that tell too little of each other if there are fewer.
        private static let smallest = 8

        init(model: SignalModel) { self.model = model }

        mutating func add(_ weights: [Double], _ factor: Cholesky) {
            guard weights.count >= Self.smallest, squares.count < 4000 else { return }
            for (weight, precision) in zip(weights, factor.inverseDiagonal()) {
                squares.append((weight * weight / (precision * precision), 1 / precision))
            }
        }

        /// The deviation that makes the residuals as large as they are; nil if there are too few.
        var deviation: Double? {
            guard squares.count >= 50 else { return nil }
            let ratios = squares.map { ($0.actual / $0.expected).squareRoot() }.sorted()
            // 0.6745 is the median of the absolute value of a standard normal number.
            let stretch = ratios[ratios.count / 2] / 0.6745
            let expected = squares.map(\.expected).reduce(0, +) / Double(squares.count)
            let excess = (stretch * stretch - 1) * expected
            return max(0, model.surveyNoise * model.surveyNoise + excess).squareRoot()
        }
    }

    private func factor(_ group: [(place: Int, reading: Int)], _ places: [RadioMap.Fingerprint]) -> Cholesky? {
        let count = group.count
        var kernel = [Double](repeating: 0, count: count * count)
        let constant = model.powerDeviation * model.powerDeviation
        let amplitude = model.shadowing * model.shadowing
        for row in 0..<count {
            let point = places[group[row].place].point
            for column in 0...row {
                let distance = point.distance(to: places[group[column].place].point)
                kernel[row * count + column] = constant + amplitude * model.shadowingCorrelation(distance: distance)
            }
            let readings = places[group[row].place].readings[group[row].reading].count
            kernel[row * count + row] += model.surveyVariance(count: readings)
        }
        return Cholesky(kernel, order: count)
    }
}
