import CMath

/// Finds the distance over which a survey's detection rates are averaged best.
///
/// Where a building's beacons are faint and its survey is thin, rates must come from far around; where survey points lie
/// close, that would blur what tells them apart. So places are left out, and the distance is taken at which the others tell
/// best which beacons are heard there: the one with the greatest likelihood of the detections as draws from the beacons'
/// shares, which is how the filter weighs them.
/// Source: M. Stone, *Cross-Validatory Choice and Assessment of Statistical Predictions*, Journal of the Royal Statistical
/// Society B 36(2), 1974.
struct DetectionRange {
    /// What the places around one that is left out heard.
    private struct Neighbor {
        var place: Int
        var squaredDistance: Double
    }

    /// What is expected of a beacon where nobody listened.
    private struct Expectation {
        /// Detections a second.
        var rate: Double
        /// How many seconds of listening that counts as.
        var seconds: Double
    }

    let model: SignalModel
    let beacons: [RadioMap.Beacon]
    let exponent: Double
    let floorDistance: FloorDistance
    let places: SurveyedPlaces

    /// The distances that are tried, in metres.
    static let lengths = [0.75, 1, 1.5, 2, 3, 4, 6, 8]
    /// Beyond so many lengths a place counts for nothing.
    private static let reach = 3.0
    /// So many places are left out, one at a time.
    private static let tests = 300

    /// The best distance in metres; nil if no place tells anything of another.
    func bestLength() -> Double? {
        let curve = DetectionCurve(
            of: beacons, places.fingerprints, exponents: beacons.map { _ in exponent }, model: model)
        var scores = [Double](repeating: 0, count: Self.lengths.count)
        var isTold = false
        for place in places.sample(Self.tests) {
            let neighbors = neighbors(of: place)
            guard !neighbors.isEmpty, !places.fingerprints[place].readings.isEmpty else { continue }
            isTold = true
            let expectations = beacons.map { expectation($0, at: places.fingerprints[place], curve) }
            for (index, length) in Self.lengths.enumerated() {
                scores[index] += score(place, neighbors, expectations, length: length)
            }
        }
        return isTold ? zip(scores, Self.lengths).max { $0.0 < $1.0 }?.1 : nil
    }

    private func neighbors(of place: Int) -> [Neighbor] {
        let point = places.fingerprints[place].point
        let farthest = Self.reach * (Self.lengths.last ?? 0)
        return places.fingerprints.indices.compactMap { other in
            let distance = places.fingerprints[other].point.distance(to: point)
            guard distance < farthest, places.isApart(other, from: place) else { return nil }
            return Neighbor(place: other, squaredDistance: distance * distance)
        }
    }

    private func expectation(
        _ beacon: RadioMap.Beacon, at place: RadioMap.Fingerprint, _ curve: DetectionCurve
    ) -> Expectation {
        let level = model.level(of: beacon, exponent: exponent, at: place.point)
        let floors = Double(floorDistance.floors(from: beacon.mapID, to: place.mapID))
        let rate = curve.rate(level: level - floors * model.floorLoss)
        return Expectation(rate: rate, seconds: min(model.ratePriorDetections / rate, model.ratePrior))
    }

    /// The logarithm of the likelihood of what a place heard, from what its neighbours did.
    private func score(
        _ place: Int, _ neighbors: [Neighbor], _ expectations: [Expectation], length: Double
    ) -> Double {
        var listening = 0.0
        var heard = [Double](repeating: 0, count: beacons.count)
        for neighbor in neighbors where neighbor.squaredDistance < Self.reach * Self.reach * length * length {
            let weight = cmath_exp(-neighbor.squaredDistance / (2 * length * length))
            let fingerprint = places.fingerprints[neighbor.place]
            let seconds = min(fingerprint.duration, model.rateDurationCap)
            listening += weight * seconds
            let share = weight * seconds / fingerprint.duration
            for reading in fingerprint.readings { heard[reading.beacon] += share * Double(reading.count) }
        }
        let unheard = model.unheardRate(of: beacons.count)
        for (beacon, expected) in expectations.enumerated() {
            let detections = heard[beacon] + expected.rate * expected.seconds
            heard[beacon] = max(unheard, detections / (listening + expected.seconds))
        }
        let all = heard.reduce(0, +)
        let fingerprint = places.fingerprints[place]
        let independent = max(1, min(fingerprint.duration, model.rateDurationCap) / model.correlationTime)
        return fingerprint.readings.reduce(0) { sum, reading in
            sum + min(Double(reading.count), independent) * cmath_log(heard[reading.beacon] / all)
        }
    }
}
