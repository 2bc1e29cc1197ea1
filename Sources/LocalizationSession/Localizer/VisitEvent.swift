import IndoorVocabulary
import VenueModel

/// An entry into or an exit from a venue or a floor plan.
public struct VisitEvent: Hashable, Sendable {
    /// The kinds of entries and exits.
    public enum Content: Hashable, Sendable {
        /// The device entered the venue: a beacon of it was received, or a position inside is known.
        case enterVenue(Venue)
        /// The device left the venue, or the session ended.
        case exitVenue(Venue)
        /// The device is on the floor of this plan.
        case enterFloorPlan(FloorPlan)
        /// The device went to another floor, or left the venue.
        case exitFloorPlan(FloorPlan)
    }

    /// The instant at which the session detected the entry or exit, on the timeline of ``SessionOutput/instant``.
    public var instant: Instant
    /// The entry or exit, with the venue or the floor plan.
    public var content: Content

    /// Creates an event.
    package init(instant: Instant, content: Content) {
        self.instant = instant
        self.content = content
    }

    /// Whether the event is an entry; otherwise it is an exit.
    public var isEntry: Bool {
        switch content {
        case .enterVenue, .enterFloorPlan: true
        case .exitVenue, .exitFloorPlan: false
        }
    }

    /// The venue's number.
    public var venueID: VenueID {
        switch content {
        case .enterVenue(let venue), .exitVenue(let venue): venue.id
        case .enterFloorPlan(let plan), .exitFloorPlan(let plan): plan.venueID
        }
    }

    /// The floor plan; nil for a venue event.
    public var floorPlan: FloorPlan? {
        switch content {
        case .enterFloorPlan(let plan), .exitFloorPlan(let plan): plan
        case .enterVenue, .exitVenue: nil
        }
    }
}

/// A state of a session with the instant at which it began.
package struct DatedState: Hashable, Sendable {
    var instant: Instant
    var state: LocalizationState
}

/// The detection of visits from the states of a session. Each entry has one exit, and floor visits lie within venue
/// visits.
package struct VisitMachine: Sendable {
    private var venue: Venue?
    private var plan: FloorPlan?

    /// Creates a machine for a device outside of all venues.
    package init() {}

    /// Returns the events that the next state of the session causes.
    package mutating func handle(_ state: LocalizationState, at instant: Instant) -> [VisitEvent] {
        changes(state).map { VisitEvent(instant: instant, content: $0) }
    }

    private mutating func changes(_ state: LocalizationState) -> [VisitEvent.Content] {
        switch state {
        case .idle, .started, .searchVenue, .getPacket, .error: move(to: nil, nil)
        // While the session searches for the floor, the last floor plan stays valid.
        case .findFloor(let found): move(to: found, found.id == venue?.id ? plan : nil)
        case .localizationRunning(let running): move(to: running.venue, running.venue.floorPlan(running.mapID))
        }
    }

    private mutating func move(to newVenue: Venue?, _ newPlan: FloorPlan?) -> [VisitEvent.Content] {
        var events: [VisitEvent.Content] = []
        let staysInVenue = venue?.id == newVenue?.id
        if let plan, !staysInVenue || plan.mapID != newPlan?.mapID { events.append(.exitFloorPlan(plan)) }
        if let venue, !staysInVenue { events.append(.exitVenue(venue)) }
        if let newVenue, !staysInVenue { events.append(.enterVenue(newVenue)) }
        if let newPlan, !staysInVenue || plan?.mapID != newPlan.mapID { events.append(.enterFloorPlan(newPlan)) }
        (venue, plan) = (newVenue, newPlan)
        return events
    }
}
