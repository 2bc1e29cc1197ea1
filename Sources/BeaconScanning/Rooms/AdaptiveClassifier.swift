import CMath
import IndoorVocabulary

/// A room classifier that continuously estimates this receiver's offset from the receiver of the training.
///
/// The classifier is a hidden Markov model: the device stays in a room for about `meanStay`, its receiver keeps its
/// offset, and each scan updates the joint probability of room and offset (L. R. Rabiner, *A Tutorial on Hidden Markov
/// Models*, 1989). Consecutive scans have correlated errors, because a person hardly moves within a second. The
/// classifier therefore uses only a share of the evidence of each scan, and a larger share of the first scans at a
/// place. A change-point test detects from the RSSI alone that the device has moved to another place (E. S. Page,
/// *Continuous Inspection Schemes*, 1954). After a change, all rooms are equally probable, so that earlier scans don't
/// delay the new room. The memory of rooms can be turned off; the classifier then still learns the offset.
public struct AdaptiveClassifier: Classifier {
    /// The settings of an adaptive classifier.
    public struct Settings: Hashable, Sendable {
        /// The minimum number of known beacons in a scan for an answer; 1 or more.
        package var minimumBeacons = 3
        /// Whether earlier scans contribute to the estimate of the room; if false, each scan is classified by itself.
        public var remembersRooms = true
        /// The approximate time that a device stays in a room, between changes that the change-point test doesn't
        /// detect; above 0 s. With a shorter time, the classifier reports such changes sooner, but also more false
        /// changes.
        public var meanStay = Duration.seconds(90)
        /// The approximate time that a device stays among the trained rooms, or elsewhere; above 0 s.
        ///
        /// It is much longer than the stay in one room: the signal in an untrained room is similar to that in its
        /// neighbours, and only minutes of scans distinguish them.
        package var meanVisit = Duration.seconds(3600)
        /// The weight of a scan's evidence relative to the previous scans; above 0, at most 1.
        ///
        /// The default is about a thirtieth. Bodies cause fading of about 5 dB that lasts for seconds. A place also
        /// differs from the trained places by about 3 dB, which no further scan averages out. A minute of scans
        /// therefore has the information of about two scans. With a larger share, the classifier is wrong more often.
        package var evidenceShare = 0.03
        /// The weight of the evidence of the first scan at a place; from `evidenceShare` to 1.
        ///
        /// The first scan is independent of the earlier ones. The n-th scan has 1/n of this weight, but at least
        /// `evidenceShare`.
        public var firstEvidenceShare = 0.35
        /// The log likelihood ratio at which the classifier accepts that the device is at another place, in nats; above
        /// 0, or infinity to turn the change-point test off. With a smaller ratio, it reports changes sooner, but also
        /// more false changes.
        public var changeThreshold = 6.0
        /// The standard deviation in dB of the receiver's offset before the first scan; above 0.
        package var offsetDeviation = 8.0
        /// The probability that the device is in none of the trained rooms before the first scan; in [0, 1), 0 to
        /// exclude it.
        public var elsewhereProbability = 0.02

        /// Creates the settings with their defaults.
        public init() {}
    }

    private let settings: Settings
    private let model: RoomSignalModel
    /// The prior probability of each state: the same for all rooms, followed by the state outside all rooms.
    private let statePrior: [Double]
    private let offsetPrior: [Double]
    /// The probability of each pair of offset and state, ordered like the model's likelihoods.
    private var belief: [Double]
    private var latest: Instant?
    private var place: PlaceChangeTest

    /// Creates a classifier from a training set.
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

    /// The learned offset in dB: the RSSI of this receiver minus the RSSI of the receiver of the training.
    package var receiverOffset: Double {
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

    /// The weight of the evidence of the current scan.
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

    /// The probability per scan that the offset drifts by a step of its grid (once in about 50 scans), and that the
    /// receiver is a different one.
    private static let (drift, renewal) = (0.02, 0.001)
    /// The minimum time between scans in seconds. The scans of a batch have the same instant, although they are about a
    /// second apart.
    private static let shortestStep = 1.0

    /// Updates the probabilities for the elapsed time: the device may have changed rooms, left all of them, or
    /// returned.
    ///
    /// - Parameters:
    ///   - elapsed: the time since the previous scan, in seconds.
    ///   - changeRatio: the likelihood ratio of the scan at another place to the same place; infinite if the test has
    ///     detected a change, so that all rooms are equally probable.
    private mutating func predict(over elapsed: Double, changeRatio: Double) {
        let count = statePrior.count
        let elsewhere = count - 1
        func staying(_ mean: Duration) -> Double {
            settings.remembersRooms ? cmath_exp(-elapsed / max(1e-3, mean.seconds)) : 0
        }
        let (expected, onVisit) = (staying(settings.meanStay), staying(settings.meanVisit))
        // Bayes' rule, with the expected stay and the result of the change-point test.
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
