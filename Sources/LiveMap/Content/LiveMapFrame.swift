import IndoorVocabulary
import LocalizationSession
import TextFormats
import VenueModel

/// The data that a live map shows of a session at one instant.
///
/// The property names are the names in JSON. Lengths are in metres from the plan's top left corner, y down.
public struct LiveMapFrame: Codable, Hashable, Sendable {
    /// A point on a map.
    public struct Place: Codable, Hashable, Sendable {
        /// The identifier of the map.
        public var mapId: Int
        /// The distance from the left edge of the plan in metres.
        public var x: Double
        /// The distance from the top edge of the plan in metres.
        public var y: Double

        /// Creates a place.
        public init(mapId: Int, x: Double, y: Double) {
            self.mapId = mapId
            self.x = x
            self.y = y
        }
    }

    /// The estimated position.
    package struct Estimate: Codable, Hashable, Sendable {
        /// The instant of the estimate, in seconds of the session.
        package var t: Double
        /// The identifier of the map.
        package var mapId: Int
        /// The distance from the left edge of the plan in metres.
        package var x: Double
        /// The distance from the top edge of the plan in metres.
        package var y: Double
        /// The 68 % radius in metres.
        package var radius: Double
        /// The direction of motion in degrees clockwise from the plan's top, in [0, 360); nil if unknown.
        package var course: Double?
        /// The speed in metres per second; nil if unknown.
        package var speed: Double?
        /// The name of the room; nil outside of rooms.
        package var label: String?
        /// The probability of the map, in [0, 1]; nil if unknown.
        package var floorCertainty: Double?

        /// Creates an estimate.
        package init(
            t: Double, mapId: Int, x: Double, y: Double, radius: Double, course: Double? = nil, speed: Double? = nil,
            label: String? = nil, floorCertainty: Double? = nil
        ) {
            self.t = t
            self.mapId = mapId
            self.x = x
            self.y = y
            self.radius = radius
            self.course = course
            self.speed = speed
            self.label = label
            self.floorCertainty = floorCertainty
        }
    }

    /// The probability of one map.
    package struct Level: Codable, Hashable, Sendable {
        /// The identifier of the map.
        package var mapId: Int
        /// The probability that the device is on the map, in [0, 1].
        package var probability: Double

        /// Creates the probability of a map.
        package init(mapId: Int, probability: Double) {
            self.mapId = mapId
            self.probability = probability
        }
    }

    /// The particles on one map.
    package struct Particles: Codable, Hashable, Sendable {
        /// The identifier of the map.
        package var mapId: Int
        /// Base64 of pairs of little-endian UInt16: x and y, in 1/65535 of the map's width and height.
        package var points: String

        /// Creates the particles of a map.
        package init(mapId: Int, points: String) {
            self.mapId = mapId
            self.points = points
        }
    }

    /// A beacon that was heard in the last seconds.
    package struct Beacon: Codable, Hashable, Sendable {
        /// The identity as `UUID/major/minor`.
        package var id: String
        /// The latest RSSI in dBm.
        package var rssi: Double
        /// The time since the latest reading in seconds.
        package var age: Double
        /// The RSSI in dBm that the radio map or the path-loss law expects at the estimate; nil if unknown.
        package var expected: Double?
        /// The standard deviation of the expected RSSI in dB; nil if unknown.
        package var deviation: Double?
        /// Whether the beacon belongs to the venue.
        package var isKnown: Bool

        /// Creates a beacon.
        package init(
            id: String, rssi: Double, age: Double, expected: Double? = nil, deviation: Double? = nil, isKnown: Bool
        ) {
            self.id = id
            self.rssi = rssi
            self.age = age
            self.expected = expected
            self.deviation = deviation
            self.isKnown = isKnown
        }
    }

    /// The reason for the absence of a position; see `SessionDiagnosis`.
    package struct Diagnosis: Codable, Hashable, Sendable {
        /// The identifier of the reason, such as `unknownBeacons`.
        package var reason: String
        /// The reason in words.
        package var text: String
        /// Advice for the user; nil if there is none.
        package var help: String?
        /// The identities of unknown beacons; empty for other reasons.
        package var beacons: [String]

        /// Creates a diagnosis.
        package init(reason: String, text: String, help: String? = nil, beacons: [String] = []) {
            self.reason = reason
            self.text = text
            self.help = help
            self.beacons = beacons
        }
    }

    /// The number of the frame, which increases within a session.
    package var id: Int
    /// The instant in seconds of the session.
    package var t: Double
    /// The name of the session's state, as `LocalizationState.name` has it.
    package var state: String
    /// The state in words.
    package var text: String
    /// The identifier of the venue; nil outside of venues.
    package var venueId: Int?
    /// The map that the session has chosen; nil while the floor is unknown.
    package var mapId: Int?
    /// The latest position; nil before the first one in a venue.
    package var estimate: Estimate?
    /// The probabilities of the venue's maps, which sum to 1; empty if unknown.
    ///
    /// This property and the next two are nil, and absent in JSON, for an earlier frame if the content no longer stores
    /// them.
    package var levels: [Level]?
    /// A part of the particles, by map; empty if the session has none.
    package var particles: [Particles]?
    /// The beacons that the session received in the last seconds.
    package var beacons: [Beacon]?
    /// The remaining route to the goal; empty without a goal.
    package var route: [Place]
    /// The ground truth; nil if the recording has none.
    package var truth: Place?
    /// The distance in metres between estimate and ground truth on the same map; nil if unknown.
    package var error: Double?
    /// The reason for the absence of a position; nil while positions are emitted.
    package var diagnosis: Diagnosis?

    /// Creates a frame.
    package init(
        id: Int, t: Double, state: String, text: String, venueId: Int? = nil, mapId: Int? = nil,
        estimate: Estimate? = nil, levels: [Level]? = [], particles: [Particles]? = [], beacons: [Beacon]? = [],
        route: [Place] = [], truth: Place? = nil, error: Double? = nil, diagnosis: Diagnosis? = nil
    ) {
        self.id = id
        self.t = t
        self.state = state
        self.text = text
        self.venueId = venueId
        self.mapId = mapId
        self.estimate = estimate
        self.levels = levels
        self.particles = particles
        self.beacons = beacons
        self.route = route
        self.truth = truth
        self.error = error
        self.diagnosis = diagnosis
    }
}

/// An event on the time line.
package struct LiveMapEvent: Codable, Hashable, Sendable {
    /// The kinds of events.
    package enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        /// The session's state changed.
        case state
        /// The device changed its floor.
        case floor
        /// The device entered or left a room or a fence.
        case area
        /// The device approached or left an interaction.
        case interaction
        /// The session reported an error.
        case error
        /// The reason for the absence of a position changed.
        case diagnosis
        /// The user marked the ground truth.
        case mark
    }

    /// The number of the event; frames and events have one sequence of numbers.
    package var id: Int
    /// The instant in seconds of the session.
    package var t: Double
    /// The kind of the event.
    package var kind: Kind
    /// The event in words.
    package var text: String
    /// The identifier of the map on which the event happened; nil for an event without a map.
    package var mapId: Int?

    /// Creates an event.
    package init(id: Int, t: Double, kind: Kind, text: String, mapId: Int? = nil) {
        self.id = id
        self.t = t
        self.kind = kind
        self.text = text
        self.mapId = mapId
    }
}

extension LiveMapFrame {
    /// Creates the frame of a session's snapshot.
    ///
    /// Lengths are rounded to centimetres, probabilities to 0.0001, RSSI and ages to 0.1. A particle off the plan is
    /// moved to the nearest edge of the plan.
    /// - Parameters:
    ///   - snapshot: the snapshot of the session.
    ///   - id: the number of the frame.
    ///   - t: the instant of the snapshot in seconds of the session; nil for the snapshot's own instant.
    ///   - route: the remaining route.
    package init(
        _ snapshot: SessionSnapshot, id: Int, t: Double? = nil, route: [Place] = []
    ) {
        let now = snapshot.instant
        let t = t ?? now.seconds
        let venue = snapshot.state.venue
        self.init(
            id: id, t: t.rounded(decimals: 3), state: snapshot.state.name, text: SessionWords.text(of: snapshot.state),
            venueId: snapshot.state.venueID?.rawValue, mapId: snapshot.state.mapID?.rawValue, route: route,
            diagnosis: snapshot.diagnosis.flatMap(Diagnosis.init))
        estimate = snapshot.position.map { Estimate($0, t: t - $0.instant.seconds(to: now)) }
        levels = snapshot.maps.map {
            Level(mapId: $0.mapID.rawValue, probability: $0.probability.rounded(decimals: 4))
        }
        particles = venue.map { Particles.sheets(of: snapshot.particles, in: $0) } ?? []
        beacons = snapshot.beacons.map { Beacon($0, at: now) }
    }

    /// Sets the ground truth, and the error: the distance between the estimate and the ground truth at the instant of
    /// the estimate.
    ///
    /// - Parameter place: returns the ground truth at an instant in seconds of the session; nil if it is unknown.
    package mutating func setTruth(_ place: (_ seconds: Double) -> Place?) {
        truth = place(t)
        error = nil
        guard let estimate, let truth = place(estimate.t), truth.mapId == estimate.mapId else { return }
        let point = MapPoint(x: estimate.x, y: estimate.y)
        error = point.distance(to: MapPoint(x: truth.x, y: truth.y)).rounded(decimals: 2)
    }
}

extension LiveMapFrame.Diagnosis {
    /// Creates the diagnosis of a session; nil for a session that emits positions or has just begun to search.
    package init?(_ diagnosis: SessionDiagnosis) {
        guard diagnosis.reason.isProblem else { return nil }
        self.init(
            reason: diagnosis.reason.rawValue, text: diagnosis.description, help: diagnosis.help,
            beacons: diagnosis.unknownBeacons.map(\.description))
    }
}

extension LiveMapFrame.Place {
    /// Creates a place on a map, rounded to centimetres.
    public init(mapID: MapID, point: MapPoint) {
        self.init(mapId: mapID.rawValue, x: point.x.rounded(decimals: 2), y: point.y.rounded(decimals: 2))
    }
}

extension LiveMapFrame.Estimate {
    /// Creates the estimate of a position.
    ///
    /// - Parameter t: the instant of the position in seconds of the session.
    package init(_ position: Position, t: Double) {
        self.init(
            t: t.rounded(decimals: 3), mapId: position.mapID.rawValue, x: position.x.rounded(decimals: 2),
            y: position.y.rounded(decimals: 2), radius: position.radius.rounded(decimals: 2),
            course: position.course.map { $0.rounded(decimals: 1) },
            speed: position.speed.map { $0.rounded(decimals: 2) }, label: position.label,
            floorCertainty: position.floorCertainty.map { $0.rounded(decimals: 4) })
    }
}

extension LiveMapFrame.Particles {
    /// Returns the particles of each map of a venue, in the venue's order; maps without particles are left out.
    static func sheets(of particles: [SessionSnapshot.Particle], in venue: Venue) -> [Self] {
        guard !particles.isEmpty else { return [] }
        return venue.maps.compactMap { map in
            var bytes: [UInt8] = []
            for particle in particles where particle.mapID == map.id {
                for number in [share(particle.point.x, of: map.width), share(particle.point.y, of: map.height)] {
                    bytes += [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
                }
            }
            return bytes.isEmpty ? nil : Self(mapId: map.id.rawValue, points: Base64Text.text(of: bytes))
        }
    }

    private static func share(_ length: Double, of whole: Double) -> UInt16 {
        guard whole > 0, length.isFinite else { return 0 }
        return UInt16((min(max(length / whole, 0), 1) * 65_535).rounded())
    }
}

extension LiveMapFrame.Beacon {
    fileprivate init(_ beacon: SessionSnapshot.Beacon, at now: Instant) {
        self.init(
            id: beacon.identity.description, rssi: beacon.rssi.rounded(decimals: 1),
            age: max(0, beacon.instant.seconds(to: now)).rounded(decimals: 1),
            expected: beacon.expectedRSSI.map { $0.rounded(decimals: 1) },
            deviation: beacon.deviation.map { $0.rounded(decimals: 1) }, isKnown: beacon.isKnown)
    }
}

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
