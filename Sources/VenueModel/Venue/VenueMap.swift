import IndoorVocabulary

/// The plan of one floor.
public struct VenueMap: Hashable, Sendable {
    /// The number that names the map within its venue.
    public var id: MapID
    /// The name for people.
    public var name: String
    /// Ordinal of the floor: 0 is the ground floor, negative below.
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
    /// How the plan lies on Earth; nil if unknown.
    public var georeference: Georeference?
    /// Polylines that nobody walks through.
    public var walls: [[MapPoint]]
    /// Polygons within which people walk; empty means everywhere.
    public var walkable: [[MapPoint]]

    /// Creates a map from its parts, unchecked.
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

    /// The same point in the plan's pixels; nil if the image's size is unknown.
    public func pixel(at point: MapPoint) -> PixelPoint? {
        guard let widthPixels, let heightPixels, width > 0, height > 0 else { return nil }
        return PixelPoint(x: point.x / width * Double(widthPixels), y: point.y / height * Double(heightPixels))
    }
}
