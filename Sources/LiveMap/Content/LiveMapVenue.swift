/// The venues of a live map and the kind of its session. The property names are the names in JSON.
public struct LiveMapOverview: Codable, Hashable, Sendable {
    /// The kinds of sessions.
    public enum Mode: String, Codable, Hashable, Sendable, CaseIterable {
        /// A running session.
        case live
        /// A recording that was played.
        case recording
        /// A radio map without a session.
        case radioMap
    }

    /// The kind of the session.
    public var mode: Mode
    /// The identifier of the run of the session, which differs after each restart; constant without a live session. The
    /// frames and events of another run have other instants.
    public var run: String
    /// The name of the recording or of the service.
    public var title: String
    /// The instant of the first frame in seconds; nil for a live session or without frames.
    public var start: Double?
    /// The instant of the last frame in seconds; nil for a live session or without frames.
    public var end: Double?
    /// Whether the page may submit marks of the ground truth.
    public var acceptsMarks: Bool
    /// The venues whose plans the page can show.
    public var venues: [LiveMapVenue]

    /// Creates an overview.
    public init(
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
    public struct Map: Codable, Hashable, Sendable {
        /// The identifier, which is unique within the venue.
        public var id: Int
        /// The name of the map.
        public var name: String
        /// The ordinal of the floor; 0 is the ground floor.
        public var level: Int
        /// The width of the plan in metres.
        public var width: Double
        /// The height of the plan in metres.
        public var height: Double
        /// Whether `plan?venue=V&map=M` has an image.
        public var hasImage: Bool
        /// The Deep Zoom tiles, at `tile?venue=V&map=M&level=L&column=C&row=R`; nil without tiles.
        public var tiles: Tiles?
        /// The walls as polylines.
        public var walls: [[Double]]
        /// The walkable areas as polygons; empty if unknown.
        public var walkable: [[Double]]

        /// Creates a map.
        public init(
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
    public struct Area: Codable, Hashable, Sendable {
        /// The identifier, which is unique among the rooms or the fences of the venue.
        public var id: Int
        /// The name of the area.
        public var name: String
        /// The identifier of the map.
        public var mapId: Int
        /// The corners as x, y, x, y, … in metres; nil for a circle.
        public var polygon: [Double]?
        /// The circle; nil for a polygon.
        public var circle: Circle?

        /// Creates an area.
        public init(id: Int, name: String, mapId: Int, polygon: [Double]? = nil, circle: Circle? = nil) {
            self.id = id
            self.name = name
            self.mapId = mapId
            self.polygon = polygon
            self.circle = circle
        }
    }

    /// A circle on a map.
    public struct Circle: Codable, Hashable, Sendable {
        /// The distance of the centre from the left edge of the plan in metres.
        public var x: Double
        /// The distance of the centre from the top edge of the plan in metres.
        public var y: Double
        /// The radius in metres.
        public var radius: Double

        /// Creates a circle.
        public init(x: Double, y: Double, radius: Double) {
            self.x = x
            self.y = y
            self.radius = radius
        }
    }

    /// A beacon with a known place.
    public struct Beacon: Codable, Hashable, Sendable {
        /// The identity as `UUID/major/minor`.
        public var id: String
        /// The identifier of the map.
        public var mapId: Int
        /// The distance from the left edge of the plan in metres.
        public var x: Double
        /// The distance from the top edge of the plan in metres.
        public var y: Double

        /// Creates a beacon.
        public init(id: String, mapId: Int, x: Double, y: Double) {
            self.id = id
            self.mapId = mapId
            self.x = x
            self.y = y
        }
    }

    /// A point of interest.
    public struct Point: Codable, Hashable, Sendable {
        /// The identifier, which is unique among the points of interest of the venue.
        public var id: Int
        /// The name of the point.
        public var name: String
        /// The identifier of the map.
        public var mapId: Int
        /// The distance from the left edge of the plan in metres.
        public var x: Double
        /// The distance from the top edge of the plan in metres.
        public var y: Double

        /// Creates a point.
        public init(id: Int, name: String, mapId: Int, x: Double, y: Double) {
            self.id = id
            self.name = name
            self.mapId = mapId
            self.x = x
            self.y = y
        }
    }

    /// The identifier of the venue.
    public var id: Int
    /// The name of the venue.
    public var name: String
    /// The version of the venue packet.
    public var version: Int
    /// The maps, in the order of the venue packet.
    public var maps: [Map]
    /// The rooms that have a shape.
    public var rooms: [Area]
    /// The fences.
    public var fences: [Area]
    /// The points of interest.
    public var pointsOfInterest: [Point]
    /// The beacons whose place the venue packet or the survey determined.
    public var beacons: [Beacon]

    /// Creates a venue.
    public init(
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
