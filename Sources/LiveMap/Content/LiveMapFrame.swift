/// What a live map shows of a session at one instant.
///
/// The property names are the names in JSON. Lengths are in metres from the plan's top left corner, y down.
public struct LiveMapFrame: Codable, Hashable, Sendable {
    /// A point on a map.
    public struct Place: Codable, Hashable, Sendable {
        public var mapId: Int
        public var x: Double
        public var y: Double
    }

    /// The estimated position.
    public struct Estimate: Codable, Hashable, Sendable {
        /// The instant of the estimate, in seconds of the session.
        public var t: Double
        public var mapId: Int
        public var x: Double
        public var y: Double
        /// The 68 % radius in metres.
        public var radius: Double
        /// Degrees clockwise from the plan's top; nil if unknown.
        public var course: Double?
        /// Metres per second; nil if unknown.
        public var speed: Double?
        /// The name of the room; nil outside of rooms.
        public var label: String?
        /// The probability of the map, in [0, 1]; nil if unknown.
        public var floorCertainty: Double?
    }

    /// The probability of one map.
    public struct Level: Codable, Hashable, Sendable {
        public var mapId: Int
        public var probability: Double
    }

    /// The particles on one map.
    public struct Particles: Codable, Hashable, Sendable {
        public var mapId: Int
        /// Base64 of pairs of little-endian UInt16: x and y, in 1/65535 of the map's width and height.
        public var points: String
    }

    /// A beacon that was heard in the last seconds.
    public struct Beacon: Codable, Hashable, Sendable {
        /// `UUID/major/minor`.
        public var id: String
        /// The latest RSSI in dBm.
        public var rssi: Double
        /// Seconds since the latest reading.
        public var age: Double
        /// The RSSI in dBm that the radio map or the path-loss law expects at the estimate; nil if unknown.
        public var expected: Double?
        /// The standard deviation of the expected RSSI in dB; nil if unknown.
        public var deviation: Double?
        /// Whether the beacon belongs to the venue.
        public var isKnown: Bool
    }

    /// The reason for the absence of a position; see `SessionDiagnosis`.
    public struct Diagnosis: Codable, Hashable, Sendable {
        /// The identifier of the reason, such as `unknownBeacons`.
        public var reason: String
        /// The reason in words.
        public var text: String
        /// What the user can do; nil if nothing.
        public var help: String?
        /// The identities of unknown beacons; empty for other reasons.
        public var beacons: [String]
    }

    /// The number of the frame, which increases within a session.
    public var id: Int
    /// The instant in seconds of the session.
    public var t: Double
    /// The name of the session's state, as `LocalizationState.name` has it.
    public var state: String
    /// The state in words.
    public var text: String
    public var venueId: Int?
    /// The map that the session has chosen; nil while the floor is unknown.
    public var mapId: Int?
    public var estimate: Estimate?
    public var levels: [Level]
    public var particles: [Particles]
    public var beacons: [Beacon]
    /// The remaining route to the goal; empty without a goal.
    public var route: [Place]
    /// The ground truth; nil if the recording has none.
    public var truth: Place?
    /// The distance in metres between estimate and ground truth on the same map; nil if unknown.
    public var error: Double?
    /// Nil while positions are emitted.
    public var diagnosis: Diagnosis?
}

/// An event on the time line.
public struct LiveMapEvent: Codable, Hashable, Sendable {
    /// The kinds of events.
    public enum Kind: String, Codable, Hashable, Sendable {
        case state
        /// The device changed its floor.
        case floor
        /// The device entered or left a room or a fence.
        case area
        case interaction
        case error
        /// The reason for the absence of a position changed.
        case diagnosis
        /// The user marked the ground truth.
        case mark
    }

    /// The number of the event; frames and events have one sequence of numbers.
    public var id: Int
    /// The instant in seconds of the session.
    public var t: Double
    public var kind: Kind
    /// The event in words.
    public var text: String
    public var mapId: Int?
}
