import IndoorVocabulary
import VenueModel

/// An entry into or an exit from a venue or a floor plan.
public enum VisitEvent: Hashable, Sendable {
    /// The device entered the venue, and the session has its packet.
    case enterVenue(Venue)
    /// The device left the venue, or the session ended.
    case exitVenue(Venue)
    /// The device is on the floor of this plan.
    case enterFloorPlan(FloorPlan)
    /// The device went to another floor, or left the venue.
    case exitFloorPlan(FloorPlan)

    /// Whether the event is an entry; otherwise it is an exit.
    public var isEntry: Bool {
        switch self {
        case .enterVenue, .enterFloorPlan: true
        case .exitVenue, .exitFloorPlan: false
        }
    }

    /// The venue's number.
    public var venueID: VenueID {
        switch self {
        case .enterVenue(let venue), .exitVenue(let venue): venue.id
        case .enterFloorPlan(let plan), .exitFloorPlan(let plan): plan.venueID
        }
    }

    /// The floor plan; nil for a venue event.
    public var floorPlan: FloorPlan? {
        switch self {
        case .enterFloorPlan(let plan), .exitFloorPlan(let plan): plan
        case .enterVenue, .exitVenue: nil
        }
    }
}

/// The detection of visits from the states of a session. Each entry has one exit, and floor visits lie within venue
/// visits.
package struct VisitMachine: Sendable {
    private var venue: Venue?
    private var plan: FloorPlan?

    /// Creates a machine for a device outside of all venues.
    package init() {}

    /// Returns the events that the next state of the session causes.
    package mutating func handle(_ state: LocalizationState) -> [VisitEvent] {
        switch state {
        case .idle, .started, .searchVenue, .getPacket, .error: move(to: nil, nil)
        // While the session searches for the floor, the last floor plan stays valid.
        case .findFloor(let found): move(to: found, found.id == venue?.id ? plan : nil)
        case .localizationRunning(let running): move(to: running.venue, running.venue.floorPlan(running.mapID))
        }
    }

    private mutating func move(to newVenue: Venue?, _ newPlan: FloorPlan?) -> [VisitEvent] {
        var events: [VisitEvent] = []
        let staysInVenue = venue?.id == newVenue?.id
        if let plan, !staysInVenue || plan.mapID != newPlan?.mapID { events.append(.exitFloorPlan(plan)) }
        if let venue, !staysInVenue { events.append(.exitVenue(venue)) }
        if let newVenue, !staysInVenue { events.append(.enterVenue(newVenue)) }
        if let newPlan, !staysInVenue || plan?.mapID != newPlan.mapID { events.append(.enterFloorPlan(newPlan)) }
        (venue, plan) = (newVenue, newPlan)
        return events
    }
}
