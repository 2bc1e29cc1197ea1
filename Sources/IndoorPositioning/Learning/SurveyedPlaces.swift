import CMath
import IndoorVocabulary
import VenueModel

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
