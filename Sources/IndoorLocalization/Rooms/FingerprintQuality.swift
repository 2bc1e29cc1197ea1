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

    /// From 0 to 100.
    public let score: Double
    /// The share of the present beacons that were heard in the training; in [0, 1].
    public let coverage: Double
    /// Whether the room should be trained anew, or longer: the score is below 60.
    public var isBad: Bool { score < 60 }

    /// Rates a fingerprint as Crownstone's app does (crownstone-app, fingerprint score, 2021).
    ///
    /// Of 100 points it takes 50 if the device is unknown, one for each percent of the present beacons that is missing, 20
    /// if the samples are another device's, 20 without samples from a pocket, and up to 80 for fewer than 150 in hand.
    public init(of fingerprint: RoomFingerprint, in circumstances: Circumstances = Circumstances()) {
        coverage = fingerprint.coverage(of: circumstances.presentBeacons ?? [])
        var score = 100.0
        if !circumstances.isReceiverKnown { score -= 50 }
        score -= 100 * (1 - coverage)
        if !circumstances.isReceiverMatched { score -= 20 }
        let inHand = fingerprint.samples(in: .hand).count
        if !circumstances.hasPocketSamples && inHand == fingerprint.samples.count { score -= 20 }
        score -= 80 * (1 - min(1, Double(inHand) / Self.enoughSamples))
        self.score = max(0, score)
    }

    /// Samples in hand that are enough.
    private static let enoughSamples = 150.0
}
