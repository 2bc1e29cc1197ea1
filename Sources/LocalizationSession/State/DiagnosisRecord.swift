import IndoorVocabulary

/// The observations of a session that only its diagnosis needs.
struct DiagnosisRecord: Hashable, Sendable {
    var watch = DiagnosisWatch()
    var evidence = SearchEvidence()
    /// The latest failure of the pending request; nil if it hasn't failed.
    var requestFailure: LocalizationError?
    /// The latest event of the radio that isn't a rest; nil before the first one.
    var radio: RadioEvent?
    /// The failure of the scan after that event; nil if it hasn't failed.
    var scanFailure: LocalizationError?

    /// Creates the record of a session that begins.
    init() {}
}
