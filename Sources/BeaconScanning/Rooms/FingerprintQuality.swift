import IndoorVocabulary

/// How much can be expected of a room's fingerprint.
public struct FingerprintQuality: Hashable, Sendable {
    /// Around the samples: what a fingerprint itself does not tell.
    public struct Circumstances: Hashable, Sendable {
        /// The region's beacons at present; nil to count none as missing.
        public var presentBeacons: Set<BeaconIdentity>?
        /// Whether it is known which kind of device took the samples.
        public var isReceiverKnown = true
        /// Whether the samples are this device's own, or were fitted to it.
        public var isReceiverMatched = true
        /// Whether there are samples with the device in a pocket elsewhere, beside those of the fingerprint.
        public var hasPocketSamples = false

        /// Creates the circumstances of this device's own samples in hand.
        public init() {}
    }

    /// What the score takes points off for.
    public enum Deduction: String, Hashable, Sendable, CaseIterable {
        /// It is not known which kind of device took the samples.
        case receiver
        /// Beacons that are present were not heard: one point for each percent of them.
        case beacons
        /// The samples are another device's, and were not fitted to this one.
        case match
        /// There are no samples from a pocket.
        case pocket
        /// There are fewer than 150 samples in hand.
        case samples
    }

    /// What keeps a room from being told, as was measured.
    public enum Shortcoming: String, Hashable, Sendable, CaseIterable {
        /// There are fewer than ``FingerprintQuality/neededSamples``: it should be trained longer.
        case samples
        /// Fewer than ``FingerprintQuality/neededBeacons`` beacons were heard at once in more than a fifth of the samples:
        /// beacons should be placed nearer, since a classifier answers to no scan of so few.
        case beacons
    }

    /// From 0 to 100, as Crownstone's app tells it.
    public let score: Double
    /// What the score takes off, in points; what costs nothing is left out.
    public let deductions: [Deduction: Double]
    /// What keeps the room from being told; empty where nothing does.
    public let shortcomings: [Shortcoming]
    /// The share of the present beacons that were heard in the training; in [0, 1].
    public let coverage: Double
    /// The share of the samples with as many beacons as an answer takes; in [0, 1].
    public let answerableShare: Double
    /// Whether Crownstone's app calls it bad: the score is below 60.
    ///
    /// It takes almost two minutes in hand, and all beacons of the house heard in each room, to reach 60; rooms are told
    /// well with less. Whether the training is enough is told by ``isSufficient``.
    public var isBad: Bool { score < 60 }
    /// Whether the training is enough to tell the room: it has no shortcomings.
    public var isSufficient: Bool { shortcomings.isEmpty }

    /// Samples that are enough, half a minute of them.
    ///
    /// Measured with 13 rooms of a house and three phones (crownstone/localization-improvement): the adaptive classifier
    /// tells 70 to 77 % of the scans right with 10 samples a room, 75 and 82 % with 15, 79 and 84 % with 20, 84 and 85 %
    /// with 30, 89 and 91 % with 60, and 89 and 91 % with 90; with another phone's samples and with the same phone's, the
    /// lower one first.
    public static let neededSamples = 30
    /// Beacons that a scan must hold for an answer of the classifiers.
    public static let neededBeacons = 3

    /// Rates a fingerprint as Crownstone's app does (crownstone-app, fingerprint score, 2021), and tells what is missing.
    ///
    /// Of 100 points it takes 50 if the device is unknown, one for each percent of the present beacons that is missing, 20
    /// if the samples are another device's, 20 without samples from a pocket, and up to 80 for fewer than 150 in hand.
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
        // In one order, so that the sum is the same each time.
        score = max(0, Deduction.allCases.reduce(100) { $0 - (points[$1] ?? 0) })
        let answerable = samples.count { $0.rssi.count >= Self.neededBeacons }
        answerableShare = samples.isEmpty ? 0 : Double(answerable) / Double(samples.count)
        shortcomings =
            (samples.count < Self.neededSamples ? [.samples] : [])
            + (answerableShare < Self.neededShare ? [.beacons] : [])
    }

    /// Samples in hand for which the score takes nothing.
    private static let fullSamples = 150.0
    /// The share of the samples in which enough beacons must be heard.
    private static let neededShare = 0.8
}
