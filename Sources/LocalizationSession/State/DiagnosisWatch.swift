import IndoorVocabulary

/// The selection of the reasons that a session emits.
///
/// A session passes through many reasons before its first position. It emits a reason only if the reason has lasted for
/// `patience`, and the end of a reason only if it emitted that reason.
struct DiagnosisWatch: Hashable, Sendable {
    /// How long a reason for the absence of positions lasts before it is emitted.
    static let patience = Duration.seconds(5)

    /// The reason at the latest check.
    private(set) var reason = SessionDiagnosis.Reason.notRunning
    /// The instant since which the reason holds.
    private var since = Instant.zero
    /// The latest emitted problem; nil if there was none, or its end was emitted.
    private var emitted: SessionDiagnosis.Reason?
    /// The instant of the next check; nil if only an event can change the reason.
    var wakeAt: Instant?

    /// Creates the watch of a session that isn't running.
    init() {}

    /// Whether readings alone can't change the reason before the next tick: the session emits positions, and no problem
    /// was emitted.
    var isCalm: Bool { reason == .located && emitted == nil }

    /// The instant at which the reason is emitted if it lasts; nil if it is emitted already, or at once.
    var emissionDue: Instant? {
        guard case .brief = reason.urgency, emitted != reason else { return nil }
        return since.advanced(by: Self.patience)
    }

    /// Notes the current reason; returns whether to emit it.
    mutating func follow(_ current: SessionDiagnosis.Reason, at now: Instant) -> Bool {
        if current != reason {
            reason = current
            since = now
        }
        switch current.urgency {
        case .over:
            emitted = nil
            return false
        case .calm:
            defer { emitted = nil }
            return emitted != nil
        case .open:
            // A `proven` problem, such as a silence, can continue after a single beacon, so its end isn't emitted yet.
            guard let problem = emitted, case .brief = problem.urgency else { return false }
            emitted = nil
            return true
        case .brief where since.duration(to: now) < Self.patience: return false
        case .brief, .proven:
            defer { emitted = current }
            return emitted != current
        }
    }

    /// Moves the instants to a timeline with another origin.
    mutating func shift(by duration: Duration) {
        since = since.advanced(by: duration)
        wakeAt = wakeAt?.advanced(by: duration)
    }
}
