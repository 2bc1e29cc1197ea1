import IndoorVocabulary
import VenueModel
import VenuePackets

/// A venue that begins with the images of its plans, without beacons, rooms and walls.
///
///     let scale = try PlanScale(from: PixelPoint(x: 30, y: 30), to: PixelPoint(x: 1050, y: 30), meters: 34)
///     let floor = try PlanDrawing(readingImage: "ground.png", scale: scale)
///     try NewVenue(name: "Library", drawings: [floor]).write(toFolder: "library")
public struct NewVenue: Hashable, Sendable {
    /// The content of the packet's document.
    public let venue: Venue
    /// The plans in the order of the venue's maps.
    public let drawings: [PlanDrawing]
    /// The checked document of the venue.
    private let document: [UInt8]

    /// Creates a venue of which each drawing is a map, with the ids 1, 2, 3, ….
    ///
    /// With control points of the drawings, the venue also has a centre and a radius.
    /// - Parameters:
    ///   - id: the number of the venue; nil computes it from the name.
    ///   - name: the display name.
    ///   - drawings: the floors, at least one, each of a different level.
    /// - Throws: `PlanDrawingError` if two drawings have the same level, or with all rules of a packet that the venue
    ///   breaks, such as contradictory control points.
    public init(id: VenueID? = nil, name: String, drawings: [PlanDrawing]) throws(PlanDrawingError) {
        var levels: Set<Int> = []
        for drawing in drawings where !levels.insert(drawing.level).inserted {
            throw PlanDrawingError("two plans have level \(drawing.level); each floor of a venue has one plan")
        }
        let maps = drawings.enumerated().map { $1.map(id: MapID(rawValue: $0 + 1)) }
        let place = Self.place(of: maps)
        var numbers = IMDFNumbers()
        venue = Venue(
            id: id ?? VenueID(rawValue: numbers.number(of: "venue", for: name)), name: name,
            coordinate: place?.center, radius: place?.radius, maps: maps)
        self.drawings = drawings
        do throws(VenuePacketError) { document = try VenuePacketWriter().document(of: venue) } catch {
            let problems = error.problems.filter { $0.severity == .error }
            throw PlanDrawingError(
                "no packet can have this venue: " + problems.map { "\($0.path) \($0.message)" }.joined(separator: "; "))
        }
    }

    /// Returns the document of a venue with one empty floor of 20 by 15 m, to which a person adds the image.
    ///
    /// - Throws: `VenuePacketError` if no packet can have this name.
    package static func emptyDocument(named name: String) throws(VenuePacketError) -> [UInt8] {
        var numbers = IMDFNumbers()
        let map = VenueMap(
            id: MapID(rawValue: 1), name: PlanDrawing.name(ofLevel: 0), level: 0, width: 20, height: 15)
        let venue = Venue(
            id: VenueID(rawValue: numbers.number(of: "venue", for: name)), name: name, maps: [map])
        return try VenuePacketWriter().document(of: venue)
    }

    /// The centre of the first georeferenced map, and the radius in metres that contains the maps around it.
    private static func place(of maps: [VenueMap]) -> (center: Coordinate, radius: Double)? {
        var center: Coordinate?
        var radius = 0.0
        for map in maps {
            guard let georeference = map.georeference,
                let transform = try? GeoTransform(georeference, width: map.width, height: map.height)
            else { continue }
            let middle = center ?? transform.coordinate(at: MapPoint(x: map.width / 2, y: map.height / 2))
            center = middle
            for (x, y) in [(0, 0), (map.width, 0), (0, map.height), (map.width, map.height)] {
                radius = max(radius, middle.distance(to: transform.coordinate(at: MapPoint(x: x, y: y))))
            }
        }
        return center.map { ($0, max(1, radius.rounded(.up))) }
    }

    /// The paths of the files within the packet.
    package var paths: [String] { drawings.map(\.path) + [PacketPath.venueFile] }

    /// Writes the packet into a folder, which is created if it is missing. The document is written last.
    ///
    /// - Throws: `VenuePacketError` if a file can't be written.
    public func write(toFolder folder: String) throws(VenuePacketError) { try write(toFolder: folder, keeping: []) }

    /// Writes the packet as ``write(toFolder:)``, except the images at these paths within the packet.
    package func write(toFolder folder: String, keeping kept: Set<String>) throws(VenuePacketError) {
        for drawing in drawings where !kept.contains(drawing.path) {
            try VenuePacketWriter.write(drawing.image.bytes, to: folder + "/" + drawing.path)
        }
        try VenuePacketWriter.write(document, to: folder + "/" + PacketPath.venueFile)
    }
}

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

    fileprivate static func name(ofLevel level: Int) -> String {
        level == 0 ? "Ground floor" : level > 0 ? "Floor \(level)" : "Basement \(-level)"
    }

    /// Returns whether a point is on the image, also on its edge.
    package func contains(_ pixel: PixelPoint) -> Bool {
        (0...Double(width)).contains(pixel.x) && (0...Double(height)).contains(pixel.y)
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

/// The scale of a plan's image: two of its points and the distance between them in the building.
public struct PlanScale: Hashable, Sendable {
    /// Metres in the building per pixel of the image.
    public let metersPerPixel: Double
    /// The two points of the image.
    package let points: [PixelPoint]
    /// The relative change of all distances, in (0, 1], if one of the points is wrong by one pixel.
    package let errorPerPixel: Double

    /// Creates a scale.
    ///
    /// - Parameters:
    ///   - first: a point of the image.
    ///   - second: another point of the image, as far from the first as possible: an error of one pixel at a point
    ///     changes all distances by 1 / (number of pixels between the points).
    ///   - meters: the distance between the points in the building, above 0.
    /// - Throws: `PlanDrawingError` if the points are less than one pixel apart, or a number isn't finite or above 0.
    public init(from first: PixelPoint, to second: PixelPoint, meters: Double) throws(PlanDrawingError) {
        let (x, y) = (second.x - first.x, second.y - first.y)
        let pixels = (x * x + y * y).squareRoot()
        guard pixels >= 1 else {
            throw PlanDrawingError("the two points of the scale are less than one pixel apart; give points far apart")
        }
        guard meters > 0, meters.isFinite, pixels.isFinite else {
            throw PlanDrawingError(
                "the distance of the scale is \(meters) m; give a number above 0, and points of the image")
        }
        points = [first, second]
        metersPerPixel = meters / pixels
        errorPerPixel = 1 / pixels
    }

    /// Returns the point of the map at a point of the image.
    package func point(at pixel: PixelPoint) -> MapPoint {
        MapPoint(x: pixel.x * metersPerPixel, y: pixel.y * metersPerPixel)
    }
}

/// An image or a scale from which no map can be made.
public struct PlanDrawingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem and its remedy.
    public let description: String

    init(_ description: String) { self.description = PrintableText.line(description) }
}
