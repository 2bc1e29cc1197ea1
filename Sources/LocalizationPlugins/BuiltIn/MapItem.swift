import IndoorVocabulary
import VenueModel

/// An item of a map view, as an encodable value. It replaces the previous item of its kind.
///
/// Its JSON is an object with the kind as its only key, as Swift encodes enumerations: `{"position": {"_0": {"mapID":
/// 1, …}}}`. Places are in metres from the plan's top left corner, x to the right and y down.
public enum MapItem: Hashable, Sendable, Codable {
    /// The plan of the map that the device is on.
    case plan(Plan)
    /// The position of the device.
    case position(Place)
    /// The heading of the device, in degrees clockwise from the plan's top.
    case heading(Double)
    /// The latest positions of the device on this map, the oldest first.
    case trail([Place])
    /// The route to the goal, on all maps; empty without one.
    case route([Place])
    /// The points of interest of the venue, on all maps.
    case points([Label])
    /// The beacons of the venue, on all maps.
    case beacons([Label])
    /// Another device and its place; a device without a place has left.
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
        /// The width in metres.
        public var width: Double
        /// The height in metres.
        public var height: Double
        /// The path of the image in the packet; nil without one.
        public var imagePath: String?
        /// The walls as lines of points, each with two numbers.
        public var walls: [[[Double]]]

        /// Creates the plan of a map.
        package init(_ map: VenueMap, of venue: VenueID) {
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
        /// The 68 % radius in metres; nil if the place has none.
        public var radius: Double?

        /// Creates a place.
        package init(mapID: MapID, point: MapPoint, radius: Double? = nil) {
            self.mapID = mapID.rawValue
            x = point.x
            y = point.y
            self.radius = radius
        }
    }

    /// A place with a name.
    public struct Label: Hashable, Sendable, Codable {
        /// The identifier among the items of its kind: a number, a beacon's identity, the name of a device.
        public var id: String
        /// The name to display.
        public var name: String
        /// The place; nil if it no longer has one.
        public var place: Place?

        /// Creates a place with a name.
        package init(id: String, name: String, place: Place?) {
            self.id = id
            self.name = name
            self.place = place
        }
    }
}
