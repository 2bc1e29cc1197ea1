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

    /// Places nearer to each other than this, in metres, are one.
    private static let samePoint = 0.01

    /// Some of the places, evenly spread: all, or about `limit`.
    func sample(_ limit: Int) -> StrideTo<Int> {
        stride(from: 0, to: fingerprints.count, by: max(1, fingerprints.count / limit))
    }
}
