import CMath
import IndoorVocabulary
import VenueModel

/// The places of a survey with what was heard there, and which recording each comes from.
struct SurveyedPlaces {
    /// The places, recording by recording.
    var fingerprints: [RadioMap.Fingerprint]
    /// Which recording each place comes from, from 0.
    let recordings: [Int]
    /// How many places each recording has.
    let sizes: [Int]

    init(_ fingerprints: [RadioMap.Fingerprint], recordings: [Int]) {
        precondition(fingerprints.count == recordings.count, "each place comes from a recording")
        self.fingerprints = fingerprints
        self.recordings = recordings
        var sizes = [Int](repeating: 0, count: (recordings.max() ?? -1) + 1)
        for recording in recordings { sizes[recording] += 1 }
        self.sizes = sizes
    }

    /// Share of the recordings that are of a single place.
    var shareOfSingles: Double {
        let used = sizes.filter { $0 > 0 }
        return used.isEmpty ? 0 : Double(used.filter { $0 == 1 }.count) / Double(used.count)
    }

    /// Whether one place may tell what to expect at another one that is left out: they are of the same map, and neither of
    /// the same walk nor of stays at the same point.
    func isApart(_ other: Int, from place: Int) -> Bool {
        guard fingerprints[other].mapID == fingerprints[place].mapID else { return false }
        if sizes[recordings[place]] > 1 { return recordings[other] != recordings[place] }
        return fingerprints[other].point.distance(to: fingerprints[place].point) > Self.samePoint
    }

    /// How probable it is that another recording goes where this survey knows the radio, in [0, 1).
    ///
    /// Recordings are left out, and it is seen how near their places come to the others'. One more recording, which goes
    /// anywhere, is counted with them (Laplace's rule of succession), so that few recordings are never taken for all.
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

    /// Places nearer to each other than this, in metres, are one.
    private static let samePoint = 0.01

    /// Some of the places that are known for sure, evenly spread: all, or about `limit`.
    func sample(_ limit: Int) -> [Int] {
        let known = fingerprints.indices.filter { fingerprints[$0].deviation == 0 }
        return stride(from: 0, to: known.count, by: max(1, known.count / limit)).map { known[$0] }
    }

    /// How far a point may be from a place, in metres, as far as that is known.
    func distance(from point: MapPoint, to place: Int) -> Double {
        max(0, fingerprints[place].point.distance(to: point) - fingerprints[place].deviation)
    }
}
