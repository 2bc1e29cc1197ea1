import IndoorVocabulary

/// The evidence that an expected beacon is silent.
struct SilenceRecord: Sendable {
    /// Index in the signal field.
    let beacon: Int
    /// The logarithm of the odds that the beacon is silent.
    var odds = BeaconRecord.prior
    /// The instant from which the silence is known; nil before.
    var since: Instant?
}
