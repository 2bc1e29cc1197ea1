import CMath
import IndoorVocabulary

/// Tells rooms by their likelihood, and learns meanwhile by how much this receiver reads above or below the trained one.
///
/// A hidden Markov model: the device stays in a room for about `meanStay`, its receiver keeps its offset, and both are
/// weighed together by what is heard (L. R. Rabiner, *A Tutorial on Hidden Markov Models*, 1989). Scans in a row err
/// alike, since nobody moves much within a second; so each counts with a share of its evidence only, the first ones at
/// a place with more of it. A change-point test tells from the RSSI alone when the device has gone to another place
/// (E. S. Page, *Continuous Inspection Schemes*, 1954): all rooms are alike then, and what was heard elsewhere holds
/// none of them back. The memory of rooms can be turned off; the offset is learned all the same.
public struct AdaptiveClassifier: Classifier {
    /// How a classifier weighs what it hears.
    public struct Settings: Hashable, Sendable {
        /// With fewer known beacons in a scan, there is no answer; 1 or more.
        public var minimumBeacons = 3
        /// Whether earlier scans count for the room; else each scan is taken by itself.
        public var remembersRooms = true
        /// How long a device stays in a room, about, between changes that the change-point test does not detect; above
        /// 0 s. Shorter, and such changes are told sooner, also false ones.
        public var meanStay = Duration.seconds(90)
        /// How long a device stays among the trained rooms, or elsewhere, about; above 0 s.
        ///
        /// Much longer than in one of them: an untrained room is heard much like its neighbours, and only what is heard
        /// for minutes tells them apart.
        public var meanVisit = Duration.seconds(3600)
        /// How much of a scan's evidence counts beside that of the scans before; above 0, at most 1.
        ///
        /// A thirtieth or so: beside the fading of some 5 dB, which bodies let last for seconds, a place lies off the
        /// trained ones by some 3 dB that no further scan averages out; a minute of scans is worth about two. A larger
        /// share is wrong more often.
        public var evidenceShare = 0.03
        /// How much of the evidence of the first scan at a place counts; from `evidenceShare` to 1.
        ///
        /// Nothing was heard there before that it could repeat. Of the n-th scan counts the n-th part of this, until
        /// that is less than `evidenceShare`.
        public var firstEvidenceShare = 0.35
        /// The log likelihood ratio at which the device is believed to be at another place, in nats; above 0, or
        /// infinity to turn the change-point test off. Smaller, and changes are told sooner, also false ones.
        public var changeThreshold = 6.0
        /// By how much receivers differ: the standard deviation in dB of the offset before anything was heard; above 0.
        public var offsetDeviation = 8.0
        /// How likely the device is in none of the trained rooms, before anything was heard; in [0, 1), 0 to exclude it.
        public var elsewhereProbability = 0.02

        /// Creates the settings with their defaults.
        public init() {}
    }

    private let settings: Settings
    private let model: RoomSignalModel
    /// How likely each state is without anything heard: the rooms alike, and none of them.
    private let statePrior: [Double]
    private let offsetPrior: [Double]
    /// How likely each pair of offset and state is, ordered like the model's likelihoods.
    private var belief: [Double]
    private var latest: Instant?
    private var place: PlaceChangeTest

    /// Learns a training set.
    public init(_ training: RoomTrainingSet, settings: Settings = Settings()) {
        self.settings = settings
        model = RoomSignalModel(training)
        let roomCount = Double(max(1, model.stateCount - 1))
        let elsewhere = min(max(0, settings.elsewhereProbability), 0.99)
        statePrior = model.names.map { _ in (1 - elsewhere) / roomCount } + [elsewhere]
        let weights = RoomSignalModel.offsets.map { offset in
            let z = offset / max(0.1, settings.offsetDeviation)
            return cmath_exp(-z * z / 2)
        }
        let total = weights.reduce(0, +)
        offsetPrior = weights.map { $0 / total }
        belief = offsetPrior.flatMap { [statePrior] offset in statePrior.map { $0 * offset } }
        place = Self.placeTest(model, settings)
    }

    private static func placeTest(_ model: RoomSignalModel, _ settings: Settings) -> PlaceChangeTest {
        PlaceChangeTest(
            beaconCount: model.beaconCount, deviation: model.scatter, threshold: settings.changeThreshold)
    }

    /// By how many dB this receiver reads above the trained one, as far as it was learned.
    public var receiverOffset: Double {
        zip(RoomSignalModel.offsets, offsetBelief).reduce(0) { $0 + $1.0 * $1.1 }
    }

    public mutating func classify(_ scan: RoomScan) -> RoomEstimate? {
        guard let heard = model.known(of: scan, atLeast: settings.minimumBeacons) else { return nil }
        let elapsed = latest.map { max(Self.shortestStep, $0.duration(to: scan.instant).seconds) } ?? 0
        latest = scan.instant
        let change = place.observe(heard, after: elapsed)
        predict(over: elapsed, changeRatio: cmath_exp(change))
        let logarithms = model.logLikelihoods(of: heard)
        let share = settings.remembersRooms ? evidenceShare : 1
        guard let best = zip(logarithms, belief).lazy.filter({ $0.1 > 0 }).map(\.0).max() else { return nil }
        for index in belief.indices { belief[index] *= cmath_exp((logarithms[index] - best) * share) }
        let total = belief.reduce(0, +)
        for index in belief.indices { belief[index] /= total }
        var candidates = zip(model.names, stateBelief).map { RoomEstimate.Candidate(room: $0, probability: $1) }
        if statePrior[model.names.count] > 0 {
            candidates.append(.init(room: nil, probability: stateBelief[model.names.count]))
        }
        return RoomEstimate(instant: scan.instant, candidates: candidates)
    }

    public mutating func forgetRooms() {
        belief = offsetBelief.flatMap { [statePrior] offset in statePrior.map { $0 * offset } }
        latest = nil
        place = Self.placeTest(model, settings)
    }

    /// How much of the evidence of the present scan counts.
    private var evidenceShare: Double {
        max(settings.evidenceShare, settings.firstEvidenceShare / Double(max(1, place.scanCount)))
    }

    private var offsetBelief: [Double] {
        let count = statePrior.count
        return RoomSignalModel.offsets.indices.map { belief[($0 * count)..<(($0 + 1) * count)].reduce(0, +) }
    }

    private var stateBelief: [Double] {
        statePrior.indices.map { state in
            stride(from: state, to: belief.count, by: statePrior.count).reduce(0) { $0 + belief[$1] }
        }
    }

    /// The offset may drift by a step of the grid in some 50 scans, and now and then the device is another one.
    private static let (drift, renewal) = (0.02, 0.001)
    /// Scans of a batch, all of one instant, still are about a second apart.
    private static let shortestStep = 1.0

    /// Lets time pass: the device may have changed the room, or have left all of them, or come back.
    ///
    /// - Parameters:
    ///   - elapsed: the time since the scan before, in seconds.
    ///   - changeRatio: by how much likelier the scan is at another place than at the same one; infinite if the device
    ///     is believed to be at another one, so that it may be in any room alike.
    private mutating func predict(over elapsed: Double, changeRatio: Double) {
        let count = statePrior.count
        let elsewhere = count - 1
        func staying(_ mean: Duration) -> Double {
            settings.remembersRooms ? cmath_exp(-elapsed / max(1e-3, mean.seconds)) : 0
        }
        let (expected, onVisit) = (staying(settings.meanStay), staying(settings.meanVisit))
        // Bayes: what is expected of a stay, and what the change-point test found.
        let inRoom =
            expected > 0 && changeRatio.isFinite
            ? expected / (expected + (1 - expected) * max(1, changeRatio)) : 0
        let offsets = offsetBelief
        let anyRoom = statePrior[..<elsewhere].reduce(0, +)
        var moved = belief
        for offset in offsets.indices {
            let first = offset * count
            let inside = max(0, offsets[offset] - belief[first + elsewhere])
            for state in 0..<count {
                let entered = state == elsewhere ? 0 : (1 - inRoom) * inside * statePrior[state] / max(anyRoom, 1e-300)
                let stayed = state == elsewhere ? belief[first + state] : inRoom * belief[first + state] + entered
                moved[first + state] = onVisit * stayed + (1 - onVisit) * offsets[offset] * statePrior[state]
            }
        }
        let last = offsets.count - 1
        for offset in offsets.indices {
            for state in 0..<count {
                let neighbors = moved[max(0, offset - 1) * count + state] + moved[min(last, offset + 1) * count + state]
                let drifted = (1 - Self.drift) * moved[offset * count + state] + Self.drift / 2 * neighbors
                belief[offset * count + state] =
                    (1 - Self.renewal) * drifted + Self.renewal * offsetPrior[offset] * statePrior[state]
            }
        }
    }
}
