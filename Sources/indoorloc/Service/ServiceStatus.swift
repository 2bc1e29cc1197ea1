import IndoorLocalization
import VenuePackets

/// What a service tells its manager of itself: whether it is ready, and what it does.
struct ServiceStatus {
    /// Whether it was told already that the service is ready.
    private(set) var isReady = false
    private var state = LocalizationState.idle
    private var hasEnded = false
    private var positions = 0
    private var trouble: String?

    /// Takes in what a session tells; returns what the manager is to know.
    mutating func observe(_ content: SessionReplay.Output.Content) -> [ServiceManager.Message] {
        switch content {
        case .state(let state):
            hasEnded = state == .idle
            self.state = state
            trouble = nil
            return becomeReady(if: Self.isUp(state)) + [.status(text)]
        case .position:
            positions += 1
            return []
        case .error(let error):
            // A venue server that does not answer keeps a session from its venues, but the service is up and asks again.
            trouble = PrintableText.line(error.message)
            return becomeReady(if: !error.endsSession) + [.status(text)]
        case .outdoorPosition, .motion, .event, .interaction, .downloadedVenue: return []
        }
    }

    /// What the service does, in words.
    var text: String {
        let count = (positions == 1 ? "1 position" : "\(positions) positions") + (hasEnded ? "" : " so far")
        let what =
            switch state {
            case .idle where hasEnded: "ended"
            case .idle, .started: "starting"
            case .searchVenue: "looking for a venue"
            case .getPacket(let id, let progress): "fetching venue \(id): \(Int(progress * 100)) %"
            case .findFloor(let venue): "in \(venue.name), looking for the floor"
            case .localizationRunning(let running):
                "in \(running.venue.name), on \(running.venue.map(running.mapID)?.name ?? "map \(running.mapID)")"
            case .error(let error): error.message
            }
        return "\(what); \(count)" + (trouble.map { "; \($0)" } ?? "")
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
