import IndoorVocabulary
import VenueModel

/// The image of a floor's plan, from which a map of a new venue is made.
public struct PlanDrawing: Hashable, Sendable {
    /// The image.
    package let image: PlanImage
    /// Width of the image in pixels.
    package let width: Int
    /// Height of the image in pixels.
    package let height: Int
    /// The scale.
    public let scale: PlanScale
    private let format: PictureFormat
    /// The ordinal of the floor: 0 for the ground floor, negative below.
    public var level: Int
    /// The name of the map.
    public var name: String
    /// Points of the image with their coordinates: none, or at least two.
    public var controlPoints: [ControlPoint] = []

    /// A point of the image with its coordinate.
    public struct ControlPoint: Hashable, Sendable {
        /// The point of the image.
        package var pixel: PixelPoint
        /// The same place on Earth.
        package var coordinate: Coordinate

        /// Creates a control point.
        public init(pixel: PixelPoint, coordinate: Coordinate) {
            self.pixel = pixel
            self.coordinate = coordinate
        }
    }

    /// Creates the drawing of a floor from a PNG, JPEG, GIF or WebP file.
    ///
    /// - Parameters:
    ///   - path: the file, of at most 512 MiB.
    ///   - scale: the scale of the image.
    ///   - level: the ordinal of the floor.
    ///   - name: the name of the map; nil for a name such as "Ground floor", "Floor 1" or "Basement 1".
    /// - Throws: `PlanDrawingError` if the file can't be read, or isn't an image of a known size.
    public init(readingImage path: String, scale: PlanScale, level: Int = 0, name: String? = nil)
        throws(PlanDrawingError)
    {
        let bytes: [UInt8]
        do throws(BoundedFileError) { bytes = try BoundedFile.read(path, limit: InputLimits.standard.image) } catch {
            throw PlanDrawingError("\(path) \(error)")
        }
        try self.init(bytes, named: path, scale: scale, level: level, name: name)
    }

    init(_ bytes: [UInt8], named path: String, scale: PlanScale, level: Int, name: String?) throws(PlanDrawingError) {
        guard let format = PictureFormat(of: bytes), let size = PictureSize(of: bytes) else {
            throw PlanDrawingError(
                "\(path) is not a PNG, JPEG, GIF or WebP image, or its header is damaged; export the drawing as PNG")
        }
        self.format = format
        image = PlanImage(bytes, named: path)
        (width, height) = (size.width, size.height)
        self.scale = scale
        self.level = level
        self.name = name ?? Self.name(ofLevel: level)
    }

    private static func name(ofLevel level: Int) -> String {
        level == 0 ? "Ground floor" : level > 0 ? "Floor \(level)" : "Basement \(-level)"
    }

    /// Returns whether both images have the same size and scale, so that the same control points can apply to both.
    package func hasFrame(of other: PlanDrawing) -> Bool {
        width == other.width && height == other.height && scale.metersPerPixel == other.scale.metersPerPixel
    }

    /// The path of the image in a packet.
    var path: String { "plans/level\(level).\(format.ending)" }

    /// Returns the map of the floor.
    func map(id: MapID) -> VenueMap {
        let points = controlPoints.map { point in
            Georeference.ControlPoint(point: scale.point(at: point.pixel).rounded, coordinate: point.coordinate)
        }
        let size = scale.point(at: PixelPoint(x: Double(width), y: Double(height))).rounded
        return VenueMap(
            id: id, name: name, level: level, width: size.x, height: size.y, widthPixels: width, heightPixels: height,
            imagePath: path, georeference: points.isEmpty ? nil : .controlPoints(points))
    }
}

extension MapPoint {
    /// The point to the millimetre, which is far below the precision of a drawing.
    fileprivate var rounded: MapPoint { MapPoint(x: Self.round(x), y: Self.round(y)) }

    private static func round(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
}
