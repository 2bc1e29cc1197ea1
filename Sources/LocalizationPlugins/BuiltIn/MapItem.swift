import IndoorVocabulary
import VenueModel

/// One thing that a map view shows, as a value that can be encoded; each takes the place of the one of its kind before.
///
/// As JSON, an object with the name of its kind as its only key: `{"position": {"_0": {"mapID": 1, …}}}`, as Swift encodes
/// enumerations. Places are metres from the plan's top left corner, x to the right and y down.
public enum MapItem: Hashable, Sendable, Codable {
    /// The plan of the map that the device is on.
    case plan(Plan)
    /// Where the device is.
    case position(Place)
    /// Where the device points, in degrees clockwise from the plan's top.
    case heading(Double)
    /// Where the device was on this map lately, the oldest first.
    case trail([Place])
    /// The way to the goal, on all maps; empty without one.
    case route([Place])
    /// The points of interest of the venue, on all maps.
    case points([Label])
    /// The beacons of the venue, on all maps.
    case beacons([Label])
    /// Another device, and where it is; without a place, it is gone.
    case tag(Label)

    /// A plan.
    public struct Plan: Hashable, Sendable, Codable {
        /// The number of the venue.
        public var venueID: Int
        /// The number of the map.
        public var mapID: Int
        /// The name of the floor.
        public var name: String
        /// Ordinal of the floor.
        public var level: Int
        /// Metres.
        public var width: Double
        /// Metres.
        public var height: Double
        /// The picture's path in the packet; nil without one.
        public var imagePath: String?
        /// Walls as lines of points, each of two numbers.
        public var walls: [[[Double]]]

        /// Creates the plan of a map.
        public init(_ map: VenueMap, of venue: VenueID) {
            venueID = venue.rawValue
            mapID = map.id.rawValue
            name = map.name
            level = map.level
            width = map.width
            height = map.height
            imagePath = map.imagePath
            walls = map.walls.map { $0.map { [$0.x, $0.y] } }
        }
    }

    /// A place on a map.
    public struct Place: Hashable, Sendable, Codable {
        /// The number of the map.
        public var mapID: Int
        /// Metres to the right of the plan's left edge.
        public var x: Double
        /// Metres below the plan's top edge.
        public var y: Double
        /// 68 % radius in metres; nil where that is of no meaning.
        public var radius: Double?

        /// Creates a place.
        public init(mapID: MapID, point: MapPoint, radius: Double? = nil) {
            self.mapID = mapID.rawValue
            x = point.x
            y = point.y
            self.radius = radius
        }
    }

    /// A place with a name.
    public struct Label: Hashable, Sendable, Codable {
        /// What tells it from others of its kind: a number, a beacon's identity, the name of a device.
        public var id: String
        /// What people read.
        public var name: String
        /// Where it is; nil if it is nowhere any more.
        public var place: Place?

        /// Creates a place with a name.
        public init(id: String, name: String, place: Place?) {
            self.id = id
            self.name = name
            self.place = place
        }
    }
}
