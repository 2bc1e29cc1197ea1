import IndoorLocalization
import VenuePackets

/// The status that a service reports to its manager.
struct ServiceStatus {
    /// Whether the service was reported as ready.
    private(set) var isReady = false
    private var state = LocalizationState.idle
    private var hasEnded = false
    private var positions = 0
    private var trouble: String?
    /// The reason for the absence of positions; nil while there is none.
    private var diagnosis: SessionDiagnosis?
    /// The problem that the session reported last; nil after its end. It can outlast a change of the state.
    private var reported: SessionDiagnosis.Reason?

    /// Updates the status with an output of the session; returns the messages for the manager.
    mutating func observe(_ content: SessionReplay.Output.Content) -> [ServiceManager.Message] {
        switch content {
        case .state(let state):
            hasEnded = state == .idle
            self.state = state
            trouble = nil
            diagnosis = nil
            if state.isOver { reported = nil }
            return becomeReady(if: Self.isUp(state)) + [.status(text)]
        case .position:
            positions += 1
            return []
        case .error(let error):
            // A service whose venue server can't be reached is ready: it tries again.
            trouble = PrintableText.line(error.message)
            return becomeReady(if: !error.endsSession) + [.status(text)]
        case .diagnosis(let diagnosis):
            // The diagnosis explains the error.
            trouble = nil
            self.diagnosis = diagnosis.reason.isProblem ? diagnosis : nil
            reported = self.diagnosis?.reason
            return [.status(text)]
        case .outdoorPosition, .motion, .event, .interaction, .downloadedVenue: return []
        }
    }

    /// The status in words.
    var text: String {
        let count = (positions == 1 ? "1 position" : "\(positions) positions") + (hasEnded ? "" : " so far")
        let what =
            switch state {
            case .idle where hasEnded: "ended"
            case .idle, .started: "starting"
            case .searchVenue: "searching for a venue"
            case .getPacket(let id, let progress): "fetching venue \(id): \(Int(progress * 100)) %"
            case .findFloor(let venue): "in \(venue.name), finding the floor"
            case .localizationRunning(let running):
                "in \(running.venue.name), on \(running.venue.map(running.mapID)?.name ?? "map \(running.mapID)")"
            case .error(let error): error.message
            }
        let reasons = [diagnosis.map { PrintableText.line($0.clause) }, trouble].compactMap(\.self)
        return (["\(what); \(count)"] + reasons).joined(separator: "; ")
    }

    /// Whether the state has changed since the session reported a problem, which may still exist.
    var isOutdated: Bool { reported != nil && diagnosis == nil }

    /// Renews the details of the reported problem, such as its duration.
    mutating func renew(_ current: SessionDiagnosis) {
        if current.reason == reported { diagnosis = current } else if isOutdated { reported = nil }
    }

    private mutating func becomeReady(if isUp: Bool) -> [ServiceManager.Message] {
        guard isUp, !isReady else { return [] }
        isReady = true
        return [.ready]
    }

    private static func isUp(_ state: LocalizationState) -> Bool {
        switch state {
        case .idle, .started, .error: false
        case .searchVenue, .getPacket, .findFloor, .localizationRunning: true
        }
    }
}
