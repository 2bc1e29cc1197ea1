import IndoorVocabulary
import LocalizationSession
import VenueModel

/// The states and events of a session in words, for a display.
enum SessionWords {
    /// Returns the words for a state.
    static func text(of state: LocalizationState) -> String {
        switch state {
        case .idle: "No session is running"
        case .started: "Fetching the list of venues"
        case .searchVenue: "Searching for a venue"
        case .getPacket(let id, let progress): "Downloading the packet of venue \(id): \(Int(progress * 100)) %"
        case .findFloor(let venue): "In \(venue.name), searching for the floor"
        case .localizationRunning(let running): "In \(running.venue.name), \(floor(of: running))"
        case .error(let error): "The session ended with an error: \(error.message)"
        }
    }

    /// Returns the words for an event of the time line. They omit the progress, because it soon becomes outdated.
    static func eventText(of state: LocalizationState) -> String {
        guard case .getPacket(let id, _) = state else { return text(of: state) }
        return "Downloading the packet of venue \(id)"
    }

    /// Returns the name of a map; its number without a name.
    static func floor(of running: RunningState) -> String {
        guard let map = running.map else { return "map \(running.mapID)" }
        return map.name.isEmpty ? "map \(map.id)" : map.name
    }

    /// Returns the words for an entry or an exit.
    static func text(of event: LocalizationEvent) -> String {
        switch event.kind {
        case .enterFence(let fence): "Entered the fence \(fence.name)"
        case .exitFence(let fence): "Left the fence \(fence.name)"
        case .enterRoom(let room): "Entered the room \(room.name)"
        case .exitRoom(let room): "Left the room \(room.name)"
        case .enterGeofence(let fence): "Entered the geofence \(fence.name)"
        case .exitGeofence(let fence): "Left the geofence \(fence.name)"
        }
    }

    /// Returns the words for an interaction.
    static func text(of event: InteractionEvent) -> String {
        event.isEntry
            ? "Interaction: approached \(event.interaction.name)" : "Interaction: left \(event.interaction.name)"
    }
}

/// The conversion of a session's outputs to the events of a live map.
struct SessionEvents: Sendable {
    /// An event without its number and instant.
    struct Content: Hashable, Sendable {
        var kind: LiveMapEvent.Kind
        var text: String
        var mapId: Int?
    }

    /// The words for the latest state.
    private var latest: String?
    /// The latest map on which positions were estimated, with its venue.
    private var floor: (venue: VenueID, map: MapID)?

    /// Returns the events of an output; empty for an output that the time line doesn't show.
    ///
    /// A state is an event when its words change.
    mutating func events(of output: SessionOutput.Content) -> [Content] {
        switch output {
        case .state(let state): events(of: state)
        case .event(let event): [Content(kind: .area, text: SessionWords.text(of: event), mapId: Self.map(of: event))]
        case .interaction(let event): [Content(kind: .interaction, text: SessionWords.text(of: event))]
        case .error(let error): [Content(kind: .error, text: error.description)]
        case .diagnosis(let diagnosis): [Content(kind: .diagnosis, text: diagnosis.description)]
        case .position, .outdoorPosition, .motion, .downloadedVenue: []
        }
    }

    private mutating func events(of state: LocalizationState) -> [Content] {
        let text = SessionWords.eventText(of: state)
        guard text != latest else { return [] }
        latest = text
        var events = [Content(kind: .state, text: text, mapId: state.mapID?.rawValue)]
        guard case .localizationRunning(let running) = state else { return events }
        if let floor, floor.venue == running.venueID, floor.map != running.mapID {
            let text = "Changed the floor to \(SessionWords.floor(of: running))"
            events.append(Content(kind: .floor, text: text, mapId: running.mapID.rawValue))
        }
        floor = (running.venueID, running.mapID)
        return events
    }

    private static func map(of event: LocalizationEvent) -> Int? {
        event.room?.mapID.rawValue ?? event.fence?.mapID.rawValue
    }
}
