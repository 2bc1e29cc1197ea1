import IndoorVocabulary
import VenueModel

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
    /// Whether people can record surveys on the page; nil if they can't.
    package var survey: Bool?
    /// Whether the server keeps a history of the beacons; nil if it doesn't.
    package var beaconHistory: Bool?
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

extension LiveMapVenue {
    /// Creates the description of a venue. Rooms without a shape are left out, because a map can't show them.
    ///
    /// - Parameter tiles: the Deep Zoom images of maps.
    package init(_ venue: Venue, tiles: [MapID: Tiles] = [:]) {
        self.init(
            id: venue.id.rawValue, name: venue.name, version: venue.version,
            maps: venue.maps.map { Map($0, tiles: tiles[$0.id]) },
            rooms: venue.rooms.compactMap { room in
                room.area.map { Area(id: room.id, name: room.name, mapID: room.mapID, area: $0) }
            },
            fences: venue.fences.map { Area(id: $0.id, name: $0.name, mapID: $0.mapID, area: $0.area) },
            pointsOfInterest: venue.pointsOfInterest.map {
                Point(
                    id: $0.id, name: $0.name, mapId: $0.mapID.rawValue, x: $0.point.x.rounded(decimals: 3),
                    y: $0.point.y.rounded(decimals: 3))
            },
            beacons: Self.beacons(of: venue))
    }

    /// Returns the beacons of a venue, then those whose place only the survey determined.
    private static func beacons(of venue: Venue) -> [Beacon] {
        let placed = venue.beacons.map { Beacon($0.identity, on: $0.mapID, at: $0.point) }
        let known = Set(venue.beacons.map(\.identity))
        let surveyed = venue.radioMap?.beacons.filter { !known.contains($0.identity) } ?? []
        return placed + surveyed.map { Beacon($0.identity, on: $0.mapID, at: $0.point) }
    }
}

extension LiveMapVenue.Map {
    fileprivate init(_ map: VenueMap, tiles: LiveMapVenue.Tiles?) {
        func lines(_ lines: [[MapPoint]]) -> [[Double]] { lines.map(LiveMapVenue.numbers) }
        self.init(
            id: map.id.rawValue, name: map.name, level: map.level, width: map.width, height: map.height,
            hasImage: map.imagePath != nil, tiles: tiles, walls: lines(map.walls), walkable: lines(map.walkable))
    }
}

extension LiveMapVenue.Area {
    fileprivate init(id: Int, name: String, mapID: MapID, area: Area) {
        self.init(id: id, name: name, mapId: mapID.rawValue)
        switch area {
        case .polygon(let corners): polygon = LiveMapVenue.numbers(corners)
        case .circle(let center, let radius):
            circle = LiveMapVenue.Circle(
                x: center.x.rounded(decimals: 3), y: center.y.rounded(decimals: 3), radius: radius.rounded(decimals: 3))
        }
    }
}

extension LiveMapVenue.Beacon {
    fileprivate init(_ identity: BeaconIdentity, on map: MapID, at point: MapPoint) {
        self.init(
            id: identity.description, mapId: map.rawValue, x: point.x.rounded(decimals: 3),
            y: point.y.rounded(decimals: 3))
    }
}

extension LiveMapVenue {
    /// Returns x, y, x, y, … of points, in millimetre steps.
    fileprivate static func numbers(_ points: [MapPoint]) -> [Double] {
        points.flatMap { [$0.x.rounded(decimals: 3), $0.y.rounded(decimals: 3)] }
    }
}

/// A source of the plan images of venues, for a live map.
public protocol LiveMapPlans: Sendable {
    /// Returns the image of a map's plan; nil without one.
    func image(of map: VenueMap, in venue: Venue) async -> LiveMapImage?
    /// Returns the geometry of a map's Deep Zoom image; nil without one.
    func tiles(of map: VenueMap, in venue: Venue) async -> LiveMapVenue.Tiles?
    /// Returns a tile of a map's Deep Zoom image; nil without one.
    ///
    /// - Parameters:
    ///   - level: the level of the image pyramid: 0 is a single pixel, and each level doubles width and height.
    ///   - column: the column of the tile, from 0.
    ///   - row: the row of the tile, from 0.
    func tile(of map: VenueMap, in venue: Venue, level: Int, column: Int, row: Int) async -> LiveMapImage?
}

/// The venues of a live map with their plans.
package struct LiveMapVenues: Sendable {
    package private(set) var list: [Venue]
    let plans: (any LiveMapPlans)?

    /// Creates the venues.
    package init(list: [Venue], plans: (any LiveMapPlans)?) { (self.list, self.plans) = (list, plans) }

    /// Adds a venue, or replaces one with the same ID. Returns whether this changes the list.
    mutating func add(_ venue: Venue) -> Bool {
        guard let index = list.firstIndex(where: { $0.id == venue.id }) else {
            list.append(venue)
            return true
        }
        guard list[index] != venue else { return false }
        list[index] = venue
        return true
    }

    /// Returns the descriptions of the venues.
    package func descriptions() async -> [LiveMapVenue] {
        var descriptions: [LiveMapVenue] = []
        for venue in list {
            var tiles: [MapID: LiveMapVenue.Tiles] = [:]
            for map in venue.maps { tiles[map.id] = await plans?.tiles(of: map, in: venue) }
            descriptions.append(LiveMapVenue(venue, tiles: tiles))
        }
        return descriptions
    }

    package func plan(venue: Int, map: Int) async -> LiveMapImage? {
        guard let (venue, map) = find(venue, map) else { return nil }
        return await plans?.image(of: map, in: venue)
    }

    package func tile(venue: Int, map: Int, level: Int, column: Int, row: Int) async -> LiveMapImage? {
        guard let (venue, map) = find(venue, map) else { return nil }
        return await plans?.tile(of: map, in: venue, level: level, column: column, row: row)
    }

    private func find(_ venue: Int, _ map: Int) -> (Venue, VenueMap)? {
        guard let venue = list.first(where: { $0.id.rawValue == venue }),
            let map = venue.map(MapID(rawValue: map))
        else { return nil }
        return (venue, map)
    }
}
