import IndoorVocabulary

/// A venue, with the content of its packet.
public struct Venue: Hashable, Sendable {
    /// The ID of the venue.
    public var id: VenueID
    /// The display name.
    public var name: String
    /// The version, which increases with each edition of the packet.
    public var version: Int
    /// The venue's centre; nil if it is not georeferenced.
    public var coordinate: Coordinate?
    /// The radius in metres around `coordinate` that contains the venue; nil if unknown.
    public var radius: Double?
    /// The floor plans, one per floor.
    public var maps: [VenueMap]
    /// The beacons with a known place.
    public var beacons: [VenueBeacon]
    /// The fixed receivers, which receive tags. A session of a device ignores them.
    public var receivers: [VenueReceiver]
    /// The anchors, to which a device can measure its distance.
    public var anchors: [VenueAnchor]
    /// The rooms. The name of a room labels the positions within it.
    public var rooms: [Room]
    /// The points of interest.
    public var pointsOfInterest: [PointOfInterest]
    /// The geofences.
    public var fences: [Fence]
    /// The interactions with beacons and places.
    public var interactions: [Interaction]
    /// The graph of walkable paths; nil if there is none.
    public var paths: PathGraph?
    /// The settings of this venue as written in its packet, with dotted, nested or mixed keys.
    public var settings: [String: JSONValue]
    /// The radio map from a survey; nil if there is none.
    public var radioMap: RadioMap?

    /// Creates a venue from its parts without checking them.
    public init(
        id: VenueID, name: String, version: Int = 1, coordinate: Coordinate? = nil, radius: Double? = nil,
        maps: [VenueMap], beacons: [VenueBeacon] = [], receivers: [VenueReceiver] = [],
        anchors: [VenueAnchor] = [], rooms: [Room] = [], pointsOfInterest: [PointOfInterest] = [], fences: [Fence] = [],
        interactions: [Interaction] = [],
        paths: PathGraph? = nil, settings: [String: JSONValue] = [:], radioMap: RadioMap? = nil
    ) {
        self.id = id
        self.name = name
        self.version = version
        self.coordinate = coordinate
        self.radius = radius
        self.maps = maps
        self.beacons = beacons
        self.receivers = receivers
        self.anchors = anchors
        self.rooms = rooms
        self.pointsOfInterest = pointsOfInterest
        self.fences = fences
        self.interactions = interactions
        self.paths = paths
        self.settings = settings
        self.radioMap = radioMap
    }

    /// Returns the map with an ID; nil if the venue doesn't have it. The time is linear in the number of maps.
    public func map(_ id: MapID) -> VenueMap? { maps.first { $0.id == id } }
}

/// A short description, for printed states and errors that contain a venue.
extension Venue: CustomStringConvertible {
    /// The name, ID and version. Use `dump` for the full content.
    public var description: String { "\(name) (venue \(id), version \(version))" }
}

// The content of a venue on one of its maps. The result is empty for an unknown map.
extension Venue {
    /// Returns the rooms of a map in the order of the packet, including those without a shape.
    public func rooms(on map: MapID) -> [Room] { rooms.filter { $0.mapID == map } }

    /// Returns the geofences of a map in the order of the packet.
    public func fences(on map: MapID) -> [Fence] { fences.filter { $0.mapID == map } }

    /// Returns the beacons of a map in the order of the packet.
    public func beacons(on map: MapID) -> [VenueBeacon] { beacons.filter { $0.mapID == map } }

    /// Returns the points of interest of a map in the order of the packet.
    public func pointsOfInterest(on map: MapID) -> [PointOfInterest] { pointsOfInterest.filter { $0.mapID == map } }

    /// Returns the nodes of the path graph on a map in the order of the packet.
    public func pathNodes(on map: MapID) -> [PathGraph.Node] { paths?.nodes.filter { $0.mapID == map } ?? [] }

    /// Returns the control points of a map; empty for a map with a centre and bearing.
    public func controlPoints(on map: MapID) -> [Georeference.ControlPoint] {
        guard case .controlPoints(let points) = self.map(map)?.georeference else { return [] }
        return points
    }
}

/// The plan of one floor.
public struct VenueMap: Hashable, Sendable {
    /// The ID of the map within its venue.
    public var id: MapID
    /// The display name.
    public var name: String
    /// The ordinal of the floor: 0 for the ground floor, negative below.
    public var level: Int
    /// Width of the plan in metres, above 0.
    public var width: Double
    /// Height of the plan in metres, above 0.
    public var height: Double
    /// Width of the plan's image in pixels; nil without an image.
    public var widthPixels: Int?
    /// Height of the plan's image in pixels; nil without an image.
    public var heightPixels: Int?
    /// Metres above the ground floor; nil if unknown.
    public var elevation: Double?
    /// Path of the plan's image within the packet.
    public var imagePath: String?
    /// Path of the Deep Zoom tiles within the packet.
    public var tilesPath: String?
    /// The georeference of the plan; nil if unknown.
    public var georeference: Georeference?
    /// The walls as polylines, which users can't cross.
    public var walls: [[MapPoint]]
    /// The walkable areas as polygons; empty if users can walk everywhere.
    public var walkable: [[MapPoint]]

    /// Creates a map from its parts without checking them.
    public init(
        id: MapID, name: String, level: Int, width: Double, height: Double, widthPixels: Int? = nil,
        heightPixels: Int? = nil, elevation: Double? = nil, imagePath: String? = nil, tilesPath: String? = nil,
        georeference: Georeference? = nil, walls: [[MapPoint]] = [], walkable: [[MapPoint]] = []
    ) {
        self.id = id
        self.name = name
        self.level = level
        self.width = width
        self.height = height
        self.widthPixels = widthPixels
        self.heightPixels = heightPixels
        self.elevation = elevation
        self.imagePath = imagePath
        self.tilesPath = tilesPath
        self.georeference = georeference
        self.walls = walls
        self.walkable = walkable
    }

    /// Returns whether a point is on the plan, also on its edge.
    package func contains(_ point: MapPoint) -> Bool {
        point.x >= 0 && point.y >= 0 && point.x <= width && point.y <= height
    }

    /// Returns the point in pixels of the plan's image; nil if the image size is unknown.
    public func pixel(at point: MapPoint) -> PixelPoint? {
        guard let widthPixels, let heightPixels, width > 0, height > 0 else { return nil }
        return PixelPoint(x: point.x / width * Double(widthPixels), y: point.y / height * Double(heightPixels))
    }
}

// The frames of a plan: metres on the map, pixels of its image, and coordinates on Earth.
extension VenueMap {
    /// Returns the point on the map in metres; nil if the image size is unknown.
    public func point(at pixel: PixelPoint) -> MapPoint? {
        guard let widthPixels, let heightPixels, widthPixels > 0, heightPixels > 0 else { return nil }
        return MapPoint(x: pixel.x / Double(widthPixels) * width, y: pixel.y / Double(heightPixels) * height)
    }

    /// Returns the coordinate of a pixel; nil if the image size or the georeference is unknown.
    ///
    /// Each call fits the control points again. For many points, store the result of `geoTransform()`.
    /// - Throws: `GeoreferenceError` if the georeference is invalid.
    public func coordinate(at pixel: PixelPoint) throws(GeoreferenceError) -> Coordinate? {
        guard let transform = try geoTransform(), let point = point(at: pixel) else { return nil }
        return transform.coordinate(at: point)
    }

    /// Returns the pixel at a coordinate, which can be beyond the edges of the image; nil if the image size or the
    /// georeference is unknown.
    ///
    /// Each call fits the control points again. For many points, store the result of `geoTransform()`.
    /// - Throws: `GeoreferenceError` if the georeference is invalid.
    public func pixel(at coordinate: Coordinate) throws(GeoreferenceError) -> PixelPoint? {
        guard let transform = try geoTransform() else { return nil }
        return pixel(at: transform.point(at: coordinate))
    }

    /// Returns the transform between the map and coordinates; nil without a georeference.
    ///
    /// Store the result for repeated use, because each call fits the control points again.
    /// - Throws: `GeoreferenceError` if the georeference is invalid.
    public func geoTransform() throws(GeoreferenceError) -> GeoTransform? {
        guard let georeference else { return nil }
        return try GeoTransform(georeference, width: width, height: height)
    }
}
