import IndoorVocabulary

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
