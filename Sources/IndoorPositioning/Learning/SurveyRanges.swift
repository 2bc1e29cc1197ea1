import CMath
import IndoorVocabulary
import VenueModel

/// An estimator of the averaging distance of a survey's detection rates and of the weight of the path-loss prediction.
///
/// In a building with weak beacons and a sparse survey, the rates must be averaged over a large distance. In a dense
/// survey, a large distance would remove the differences between places. If the surveyor stayed for seconds at each
/// place, a missing detection is reliable, regardless of the path-loss prediction; if the surveyor walked past, the
/// prediction deserves more weight. Both parameters are determined by cross-validation: they maximize the likelihood of
/// the detections at left-out places, as draws from the beacons' shares of the detection rate, given the other places.
/// The filter uses the same likelihood. Source: M. Stone, *Cross-Validatory Choice and Assessment of Statistical
/// Predictions*, Journal of the Royal Statistical Society B 36(2), 1974.
struct DetectionRange {
    /// A place near the left-out place.
    private struct Neighbor {
        var place: Int
        var squaredDistance: Double
        /// Variance of the place's position along each axis in m².
        var variance: Double
    }

    /// The estimated parameters.
    struct Best: Hashable {
        /// The averaging distance of the rates in metres.
        var length: Double
        /// The weight of the rate that path loss predicts, as a number of detections.
        var priorDetections: Double
    }

    let model: SignalModel
    let beacons: [RadioMap.Beacon]
    let exponent: Double
    let floorDistance: FloorDistance
    let places: SurveyedPlaces

    /// The candidate distances in metres.
    static let lengths = [0.75, 1, 1.5, 2, 3, 4, 6, 8]
    /// The candidate weights of the path-loss prediction, in detections.
    static let priors = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1]
    /// Distance, as a number of lengths, above which a place has no weight.
    private static let reach = 3.0
    /// Number of places that are left out, one at a time.
    private static let tests = 300

    /// Returns the best parameters; nil if no place carries information about another.
    func best() -> Best? {
        let curve = DetectionCurve(
            of: beacons, places.fingerprints, exponents: beacons.map { _ in exponent }, model: model)
        let choices = Self.lengths.flatMap { length in
            Self.priors.map { Best(length: length, priorDetections: $0) }
        }
        var scores = [Double](repeating: 0, count: choices.count)
        var isDetermined = false
        for place in places.sample(Self.tests) {
            let neighbors = neighbors(of: place)
            guard !neighbors.isEmpty, !places.fingerprints[place].readings.isEmpty else { continue }
            isDetermined = true
            let expected = beacons.map { rate($0, at: places.fingerprints[place], curve) }
            let choiceScores = Self.lengths.flatMap { length in
                let heard = heard(by: neighbors, length: length)
                return Self.priors.map { score(place, heard, expected, priorDetections: $0) }
            }
            for (index, score) in choiceScores.enumerated() { scores[index] += score }
        }
        return isDetermined ? zip(scores, choices).max { $0.0 < $1.0 }?.1 : nil
    }

    private func neighbors(of place: Int) -> [Neighbor] {
        let point = places.fingerprints[place].point
        let farthest = Self.reach * (Self.lengths.last ?? 0)
        return places.fingerprints.indices.compactMap { other in
            let distance = places.fingerprints[other].point.distance(to: point)
            guard distance < farthest, places.isApart(other, from: place) else { return nil }
            let deviation = places.fingerprints[other].deviation
            return Neighbor(place: other, squaredDistance: distance * distance, variance: deviation * deviation)
        }
    }

    /// Returns the detections per second that path loss predicts for a beacon at a place.
    private func rate(
        _ beacon: RadioMap.Beacon, at place: RadioMap.Fingerprint, _ curve: DetectionCurve
    ) -> Double {
        let rssi = model.expectedRSSI(of: beacon, exponent: exponent, at: place.point)
        let floors = Double(floorDistance.floors(from: beacon.mapID, to: place.mapID))
        return curve.rate(rssi: rssi - floors * model.floorLoss)
    }

    /// Returns the listening time of the neighbors in seconds and their detections by beacon, weighted by proximity.
    private func heard(by neighbors: [Neighbor], length: Double) -> (seconds: Double, detections: [Double]) {
        var listening = 0.0
        var heard = [Double](repeating: 0, count: beacons.count)
        for neighbor in neighbors where neighbor.squaredDistance < Self.reach * Self.reach * length * length {
            let square = length * length
            let weight = Self.weight(neighbor.squaredDistance, square, neighbor.variance)
            let fingerprint = places.fingerprints[neighbor.place]
            let seconds = min(fingerprint.duration, model.rateDurationCap)
            listening += weight * seconds
            let share = weight * seconds / fingerprint.duration
            for reading in fingerprint.readings { heard[reading.beacon] += share * Double(reading.count) }
        }
        return (listening, heard)
    }

    /// Returns the weight of a place whose kernel is widened by the uncertainty of its position.
    private static func weight(_ squaredDistance: Double, _ square: Double, _ variance: Double) -> Double {
        square / (square + variance) * cmath_exp(-squaredDistance / (2 * (square + variance)))
    }

    /// Returns the log-likelihood of a place's detections given those of its neighbors.
    private func score(
        _ place: Int, _ heard: (seconds: Double, detections: [Double]), _ expected: [Double], priorDetections: Double
    ) -> Double {
        let unheard = model.unheardRate(of: beacons.count)
        let rates = zip(heard.detections, expected).map { detections, rate in
            let seconds = min(priorDetections / rate, model.ratePrior)
            return max(unheard, (detections + rate * seconds) / (heard.seconds + seconds))
        }
        let all = rates.reduce(0, +)
        let fingerprint = places.fingerprints[place]
        let independent = max(1, min(fingerprint.duration, model.rateDurationCap) / model.correlationTime)
        return fingerprint.readings.reduce(0) { sum, reading in
            sum + min(Double(reading.count), independent) * cmath_log(rates[reading.beacon] / all)
        }
    }
}

/// An estimator of the width of the survey prior, from the distances between the survey's own walks.
///
/// The estimator leaves places out and selects the width and the share far from all places that maximize the
/// probability of the left-out places. Walks that repeat the same routes give a small width and a small share.
/// Scattered points give a large width. Points of a regular grid, which are all equally far from each other, give a
/// large share.
/// Source: M. Stone, *Cross-Validatory Choice and Assessment of Statistical Predictions*, Journal of the Royal
/// Statistical Society B 36(2), 1974.
struct SupportRange {
    /// The estimated parameters.
    struct Result: Hashable {
        /// See `SignalModel.supportWidth`.
        var width: Double
        /// See `SignalModel.unsupportedShare`.
        var share: Double
    }

    /// Part of the venue's area and its distance from the survey.
    private struct Ring {
        /// Distance from the survey in metres.
        var distance: Double
        /// Area in square metres.
        var area: Double
    }

    /// The grid of each map.
    let grids: [MapID: MapGrid]
    let places: SurveyedPlaces

    /// The candidate widths in metres. The first one is the accuracy with which people follow a line.
    static let widths = [0.75, 1, 1.5, 2, 3, 4, 6]
    /// The candidate shares.
    static let shares = [0.01, 0.02, 0.05, 0.1, 0.2, 0.4]
    /// Distance, as a number of widths, above which a cell or a place is far from the survey.
    private static let reach = 3.0
    /// Number of places that are left out, one at a time.
    private static let tests = 500

    /// Returns the best pair; nil if no place carries information about another.
    func best() -> Result? {
        let nearest = places.sample(Self.tests).compactMap(distanceToOthers)
        let rings = rings()
        guard !nearest.isEmpty, !rings.isEmpty else { return nil }
        var best: (score: Double, result: Result)?
        for width in Self.widths {
            for share in Self.shares {
                let area = rings.reduce(0) { $0 + Self.weight($1.distance, width, share) * $1.area }
                let score = nearest.reduce(0) { $0 + cmath_log(Self.weight($1, width, share) / area) }
                if score > best?.score ?? -.infinity { best = (score, Result(width: width, share: share)) }
            }
        }
        return best?.result
    }

    private static func weight(_ distance: Double, _ width: Double, _ share: Double) -> Double {
        share + (1 - share) * cmath_exp(-distance * distance / (2 * width * width))
    }

    /// Returns the distance from a place to the nearest place that can predict it; nil without such a place on its map.
    private func distanceToOthers(_ place: Int) -> Double? {
        let point = places.fingerprints[place].point
        var nearest: Double?
        for other in places.fingerprints.indices {
            let distance = places.distance(from: point, to: other)
            if distance < nearest ?? .infinity, places.isApart(other, from: place) { nearest = distance }
        }
        return nearest
    }

    /// Returns the cells of the surveyed maps.
    private func rings() -> [Ring] {
        let farthest = Self.reach * (Self.widths.last ?? 0)
        var rings: [Ring] = []
        for (map, points) in Dictionary(grouping: places.fingerprints, by: \.mapID).sorted(by: { $0.key < $1.key }) {
            guard let grid = grids[map] else { continue }
            var distances = [Double](repeating: .infinity, count: grid.count)
            for place in points {
                let block = grid.block(around: place.point, radius: farthest + place.deviation)
                for row in block.rows {
                    for column in block.columns {
                        let cell = row * grid.columns + column
                        let distance = grid.center(of: cell).distance(to: place.point) - place.deviation
                        distances[cell] = min(distances[cell], max(0, distance))
                    }
                }
            }
            rings += distances.map { Ring(distance: $0, area: grid.cellSize * grid.cellSize) }
        }
        return rings
    }
}
