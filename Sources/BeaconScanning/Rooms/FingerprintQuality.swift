import IndoorVocabulary

/// The quality of a room's fingerprint.
public struct FingerprintQuality: Hashable, Sendable {
    /// The circumstances of a recording that the samples of a fingerprint don't contain.
    public struct Circumstances: Hashable, Sendable {
        /// The region's current beacons; nil to treat none as missing.
        public var presentBeacons: Set<BeaconIdentity>?
        /// Whether the kind of device that recorded the samples is known.
        public var isReceiverKnown = true
        /// Whether this device recorded the samples, or the samples were converted for it.
        public var isReceiverMatched = true
        /// Whether there are pocket samples in addition to those of the fingerprint.
        public var hasPocketSamples = false

        /// Creates the circumstances of samples that this device recorded in a hand.
        public init() {}
    }

    /// A reason for a deduction from the score.
    package enum Deduction: String, Hashable, Sendable, CaseIterable {
        /// The kind of device that recorded the samples is unknown.
        case receiver
        /// The training has not received all current beacons: one point for each percent of them that is missing.
        case beacons
        /// Another device recorded the samples, and they were not converted for this device.
        case match
        /// There are no samples from a pocket.
        case pocket
        /// There are fewer than 150 samples in hand.
        case samples
    }

    /// A reason, derived from measurements, why a classifier can't recognize a room reliably.
    public enum Shortcoming: String, Hashable, Sendable, CaseIterable {
        /// There are fewer than 30 samples: train the room longer.
        case samples
        /// More than a fifth of the samples have fewer than 3 beacons: place beacons
        /// nearer, because a classifier gives no answer for a scan with so few beacons.
        case beacons
    }

    /// The score from 0 to 100, as in Crownstone's app.
    public let score: Double
    /// The deductions from the score, in points; deductions of 0 are left out.
    package let deductions: [Deduction: Double]
    /// The reasons why a classifier can't recognize the room reliably; empty if there are none.
    public let shortcomings: [Shortcoming]
    /// The share of the current beacons that were received in the training; in [0, 1].
    package let coverage: Double
    /// The share of the samples with enough beacons for an answer; in [0, 1].
    package let answerableShare: Double
    /// Whether Crownstone's app rates the fingerprint as bad: a score below 60.
    ///
    /// A score of 60 takes almost two minutes of samples in a hand, and all beacons of the house received in each room.
    /// Classifiers recognize rooms well with fewer samples; see ``isSufficient``.
    package var isBad: Bool { score < 60 }
    /// Whether the training is sufficient to recognize the room: it has no shortcomings.
    public var isSufficient: Bool { shortcomings.isEmpty }

    /// The sufficient number of samples: half a minute of recording.
    ///
    /// Measured with 13 rooms of a house and three phones (crownstone/localization-improvement). The adaptive
    /// classifier classifies 70 to 77 % of the scans correctly with 10 samples per room, 75 and 82 % with 15, 79 and 84
    /// % with 20, 84 and 85 % with 30, 89 and 91 % with 60, and 89 and 91 % with 90; the two figures, the lower one
    /// first, are for samples from another phone and from the same phone.
    package static let neededSamples = 30
    /// The minimum number of beacons in a scan for an answer of the classifiers.
    package static let neededBeacons = 3

    /// Rates a fingerprint in the same way as Crownstone's app (crownstone-app, fingerprint score, 2021), and
    /// determines its shortcomings.
    ///
    /// From 100 points, the score loses 50 if the device is unknown, one for each percent of the current beacons that
    /// is missing, 20 if another device recorded the samples, 20 without samples from a pocket, and up to 80 for fewer
    /// than 150 samples in a hand.
    public init(of fingerprint: RoomFingerprint, in circumstances: Circumstances = Circumstances()) {
        let samples = fingerprint.samples
        let inHand = fingerprint.samples(in: .hand).count
        let hasPocket = circumstances.hasPocketSamples || inHand < samples.count
        coverage = fingerprint.coverage(of: circumstances.presentBeacons ?? [])
        let points: [Deduction: Double] = [
            .receiver: circumstances.isReceiverKnown ? 0 : 50, .beacons: 100 * (1 - coverage),
            .match: circumstances.isReceiverMatched ? 0 : 20, .pocket: hasPocket ? 0 : 20,
            .samples: 80 * (1 - min(1, Double(inHand) / Self.fullSamples)),
        ]
        deductions = points.filter { $0.value > 0 }
        // Add in a fixed order, so that the rounded sum is always the same.
        score = max(0, Deduction.allCases.reduce(100) { $0 - (points[$1] ?? 0) })
        let answerable = samples.count { $0.rssi.count >= Self.neededBeacons }
        answerableShare = samples.isEmpty ? 0 : Double(answerable) / Double(samples.count)
        shortcomings =
            (samples.count < Self.neededSamples ? [.samples] : [])
            + (answerableShare < Self.neededShare ? [.beacons] : [])
    }

    /// The number of samples in a hand without a deduction.
    private static let fullSamples = 150.0
    /// The minimum share of the samples that have enough beacons.
    private static let neededShare = 0.8
}
