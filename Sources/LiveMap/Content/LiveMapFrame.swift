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
