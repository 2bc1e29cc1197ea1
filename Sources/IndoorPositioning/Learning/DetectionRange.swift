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
