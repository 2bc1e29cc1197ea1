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

    public var mode: Mode
    /// The identifier of the run of the session, which differs after each restart; constant without a live session. The
    /// frames and events of another run have other instants.
    public var run: String
    /// The name of the recording or of the service.
    public var title: String
    /// The instant of the first and the last frame in seconds; nil for a live session.
    public var start: Double?
    public var end: Double?
    /// Whether the page may submit marks of the ground truth.
    public var acceptsMarks: Bool
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
        public var id: Int
        public var name: String
        public var level: Int
        /// The size in metres.
        public var width: Double
        public var height: Double
        /// Whether `plan?venue=V&map=M` has an image.
        public var hasImage: Bool
        /// The Deep Zoom tiles, at `tile?venue=V&map=M&level=L&column=C&row=R`; nil without tiles.
        public var tiles: Tiles?
        public var walls: [[Double]]
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

    /// A Deep Zoom image.
    public struct Tiles: Codable, Hashable, Sendable {
        /// The size of the whole image in pixels.
        public var width: Int
        public var height: Int
        public var tileSize: Int
        public var overlap: Int
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
        public var id: Int
        public var name: String
        public var mapId: Int
        public var polygon: [Double]?
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

    public struct Circle: Codable, Hashable, Sendable {
        public var x: Double
        public var y: Double
        public var radius: Double

        /// Creates a circle.
        public init(x: Double, y: Double, radius: Double) {
            self.x = x
            self.y = y
            self.radius = radius
        }
    }

    public struct Beacon: Codable, Hashable, Sendable {
        /// `UUID/major/minor`.
        public var id: String
        public var mapId: Int
        public var x: Double
        public var y: Double

        /// Creates a beacon.
        public init(id: String, mapId: Int, x: Double, y: Double) {
            self.id = id
            self.mapId = mapId
            self.x = x
            self.y = y
        }
    }

    public struct Point: Codable, Hashable, Sendable {
        public var id: Int
        public var name: String
        public var mapId: Int
        public var x: Double
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

    public var id: Int
    public var name: String
    public var version: Int
    public var maps: [Map]
    public var rooms: [Area]
    public var fences: [Area]
    public var pointsOfInterest: [Point]
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
