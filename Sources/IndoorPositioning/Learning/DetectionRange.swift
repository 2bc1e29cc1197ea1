import CMath
import IndoorVocabulary
import VenueModel

/// Finds the distance over which a survey's detection rates are averaged best, and how much path loss has a say in them.
///
/// Where a building's beacons are faint and its survey is thin, rates must come from far around; where survey points lie
/// close, that would blur what tells them apart. And where listeners stayed for seconds at each place, a beacon that nobody
/// heard is hardly heard there, whatever path loss expects; where they walked by, that is worth more. So places are left
/// out, and the numbers are taken with which the others tell best which beacons are heard there: those with the greatest
/// likelihood of the detections as draws from the beacons' shares, which is how the filter weighs them.
/// Source: M. Stone, *Cross-Validatory Choice and Assessment of Statistical Predictions*, Journal of the Royal Statistical
/// Society B 36(2), 1974.
struct DetectionRange {
    /// What the places around one that is left out heard.
    private struct Neighbor {
        var place: Int
        var squaredDistance: Double
        /// Variance of its place along each axis in m².
        var variance: Double
    }

    /// What the survey tells.
    struct Best: Hashable {
        /// Metres over which rates are averaged.
        var length: Double
        /// The detections that the rate expected from path loss weighs as much as.
        var priorDetections: Double
    }

    let model: SignalModel
    let beacons: [RadioMap.Beacon]
    let exponent: Double
    let floorDistance: FloorDistance
    let places: SurveyedPlaces

    /// The distances that are tried, in metres.
    static let lengths = [0.75, 1, 1.5, 2, 3, 4, 6, 8]
    /// The weights of path loss that are tried, in detections.
    static let priors = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1]
    /// Beyond so many lengths a place counts for nothing.
    private static let reach = 3.0
    /// So many places are left out, one at a time.
    private static let tests = 300

    /// The best numbers; nil if no place tells anything of another.
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
            let told = Self.lengths.flatMap { length in
                let heard = heard(by: neighbors, length: length)
                return Self.priors.map { score(place, heard, expected, priorDetections: $0) }
            }
            for (index, score) in told.enumerated() { scores[index] += score }
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

    /// The detections a second that path loss expects of a beacon at a place.
    private func rate(
        _ beacon: RadioMap.Beacon, at place: RadioMap.Fingerprint, _ curve: DetectionCurve
    ) -> Double {
        let rssi = model.expectedRSSI(of: beacon, exponent: exponent, at: place.point)
        let floors = Double(floorDistance.floors(from: beacon.mapID, to: place.mapID))
        return curve.rate(rssi: rssi - floors * model.floorLoss)
    }

    /// How long the neighbours listened, in seconds, and their detections by beacon; the nearer they are the more.
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

    /// What a place counts for that is spread over its neighbourhood and over where it may be.
    private static func weight(_ squaredDistance: Double, _ square: Double, _ variance: Double) -> Double {
        square / (square + variance) * cmath_exp(-squaredDistance / (2 * (square + variance)))
    }

    /// The logarithm of the likelihood of what a place heard, from what its neighbours did.
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
