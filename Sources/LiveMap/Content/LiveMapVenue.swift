/// The venues of a live map and the kind of its session. The property names are the names in JSON.
package struct LiveMapOverview: Codable, Hashable, Sendable {
    /// The kinds of sessions.
    package enum Mode: String, Codable, Hashable, Sendable, CaseIterable {
        /// A running session.
        case live
        /// A recording that was played.
        case recording
        /// A radio map without a session.
        case radioMap
    }

    /// The kind of the session.
    package var mode: Mode
    /// The identifier of the run of the session, which differs after each restart; constant without a live session. The
    /// frames and events of another run have other instants.
    package var run: String
    /// The name of the recording or of the service.
    package var title: String
    /// The instant of the first frame in seconds; nil for a live session or without frames.
    package var start: Double?
    /// The instant of the last frame in seconds; nil for a live session or without frames.
    package var end: Double?
    /// Whether the page may submit marks of the ground truth.
    package var acceptsMarks: Bool
    /// The venues whose plans the page can show.
    package var venues: [LiveMapVenue]

    /// Creates an overview.
    package init(
        mode: Mode, run: String = "1", title: String, start: Double? = nil, end: Double? = nil, acceptsMarks: Bool,
        venues: [LiveMapVenue] = []
    ) {
        self.mode = mode
        self.run = run
        self.title = title
        self.start = start
        self.end = end
        self.acceptsMarks = acceptsMarks
        self.venues = venues
    }
}

/// A venue of a live map.
public struct LiveMapVenue: Codable, Hashable, Sendable {
    /// The plan of one floor. Polylines and polygons are lists of x, y, x, y, … in metres.
    package struct Map: Codable, Hashable, Sendable {
        /// The identifier, which is unique within the venue.
        package var id: Int
        /// The name of the map.
        package var name: String
        /// The ordinal of the floor; 0 is the ground floor.
        package var level: Int
        /// The width of the plan in metres.
        package var width: Double
        /// The height of the plan in metres.
        package var height: Double
        /// Whether `plan?venue=V&map=M` has an image.
        package var hasImage: Bool
        /// The Deep Zoom tiles, at `tile?venue=V&map=M&level=L&column=C&row=R`; nil without tiles.
        package var tiles: Tiles?
        /// The walls as polylines.
        package var walls: [[Double]]
        /// The walkable areas as polygons; empty if unknown.
        package var walkable: [[Double]]

        /// Creates a map.
        package init(
            id: Int, name: String, level: Int, width: Double, height: Double, hasImage: Bool, tiles: Tiles? = nil,
            walls: [[Double]] = [], walkable: [[Double]] = []
        ) {
            self.id = id
            self.name = name
            self.level = level
            self.width = width
            self.height = height
            self.hasImage = hasImage
            self.tiles = tiles
            self.walls = walls
            self.walkable = walkable
        }
    }

    /// The geometry of a Deep Zoom image.
    public struct Tiles: Codable, Hashable, Sendable {
        /// The width of the whole image in pixels.
        public var width: Int
        /// The height of the whole image in pixels.
        public var height: Int
        /// The side of a tile without its overlap in pixels.
        public var tileSize: Int
        /// The number of pixels that a tile repeats of each neighbour.
        public var overlap: Int
        /// The file name extension of the tiles, such as `png`.
        public var format: String

        /// Creates a tiled image.
        public init(width: Int, height: Int, tileSize: Int, overlap: Int, format: String) {
            self.width = width
            self.height = height
            self.tileSize = tileSize
            self.overlap = overlap
            self.format = format
        }
    }

    /// A room or a fence: a polygon, or a circle.
    package struct Area: Codable, Hashable, Sendable {
        /// The identifier, which is unique among the rooms or the fences of the venue.
        package var id: Int
        /// The name of the area.
        package var name: String
        /// The identifier of the map.
        package var mapId: Int
        /// The corners as x, y, x, y, … in metres; nil for a circle.
        package var polygon: [Double]?
        /// The circle; nil for a polygon.
        package var circle: Circle?

        /// Creates an area.
        package init(id: Int, name: String, mapId: Int, polygon: [Double]? = nil, circle: Circle? = nil) {
            self.id = id
            self.name = name
            self.mapId = mapId
            self.polygon = polygon
            self.circle = circle
        }
    }

    /// A circle on a map.
    package struct Circle: Codable, Hashable, Sendable {
        /// The distance of the centre from the left edge of the plan in metres.
        package var x: Double
        /// The distance of the centre from the top edge of the plan in metres.
        package var y: Double
        /// The radius in metres.
        package var radius: Double

        /// Creates a circle.
        package init(x: Double, y: Double, radius: Double) {
            self.x = x
            self.y = y
            self.radius = radius
        }
    }

    /// A beacon with a known place.
    package struct Beacon: Codable, Hashable, Sendable {
        /// The identity as `UUID/major/minor`.
        package var id: String
        /// The identifier of the map.
        package var mapId: Int
        /// The distance from the left edge of the plan in metres.
        package var x: Double
        /// The distance from the top edge of the plan in metres.
        package var y: Double

        /// Creates a beacon.
        package init(id: String, mapId: Int, x: Double, y: Double) {
            self.id = id
            self.mapId = mapId
            self.x = x
            self.y = y
        }
    }

    /// A point of interest.
    package struct Point: Codable, Hashable, Sendable {
        /// The identifier, which is unique among the points of interest of the venue.
        package var id: Int
        /// The name of the point.
        package var name: String
        /// The identifier of the map.
        package var mapId: Int
        /// The distance from the left edge of the plan in metres.
        package var x: Double
        /// The distance from the top edge of the plan in metres.
        package var y: Double

        /// Creates a point.
        package init(id: Int, name: String, mapId: Int, x: Double, y: Double) {
            self.id = id
            self.name = name
            self.mapId = mapId
            self.x = x
            self.y = y
        }
    }

    /// The identifier of the venue.
    package var id: Int
    /// The name of the venue.
    package var name: String
    /// The version of the venue packet.
    package var version: Int
    /// The maps, in the order of the venue packet.
    package var maps: [Map]
    /// The rooms that have a shape.
    package var rooms: [Area]
    /// The fences.
    package var fences: [Area]
    /// The points of interest.
    package var pointsOfInterest: [Point]
    /// The beacons whose place the venue packet or the survey determined.
    package var beacons: [Beacon]

    /// Creates a venue.
    package init(
        id: Int, name: String, version: Int, maps: [Map] = [], rooms: [Area] = [], fences: [Area] = [],
        pointsOfInterest: [Point] = [], beacons: [Beacon] = []
    ) {
        self.id = id
        self.name = name
        self.version = version
        self.maps = maps
        self.rooms = rooms
        self.fences = fences
        self.pointsOfInterest = pointsOfInterest
        self.beacons = beacons
    }
}
