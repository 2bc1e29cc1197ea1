import IndoorVocabulary
import VenueModel

/// The device came to a venue or a floor plan, or went from it.
public enum VisitEvent: Hashable, Sendable {
    /// The device is in the venue, whose packet is there.
    case enterVenue(Venue)
    /// The device is in the venue no more, or nobody watches.
    case exitVenue(Venue)
    /// The device is on the floor.
    case enterFloorPlan(FloorPlan)
    /// The device is on another floor, or out of the venue.
    case exitFloorPlan(FloorPlan)

    /// Whether the device came in; otherwise it went out.
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

    /// The floor plan; nil if it is about a venue.
    public var floorPlan: FloorPlan? {
        switch self {
        case .enterFloorPlan(let plan), .exitFloorPlan(let plan): plan
        case .enterVenue, .exitVenue: nil
        }
    }
}

/// Tells from a session's states where the device came and went. Each entry has one exit, and floors lie within venues.
package struct VisitMachine: Sendable {
    private var venue: Venue?
    private var plan: FloorPlan?

    /// Creates a machine that believes the device in no venue.
    package init() {}

    /// Takes in the session's next state.
    package mutating func handle(_ state: LocalizationState) -> [VisitEvent] {
        switch state {
        case .idle, .started, .searchVenue, .getPacket, .error: move(to: nil, nil)
        // While a floor is looked for, the one before is as good as any.
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
