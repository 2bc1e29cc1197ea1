import IndoorVocabulary
import VenueModel

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
    public func write(toFolder folder: String) throws(VenuePacketError) {
        for drawing in drawings {
            try VenuePacketWriter.write(drawing.image.bytes, to: folder + "/" + drawing.path)
        }
        try VenuePacketWriter.write(document, to: folder + "/" + PacketPath.venueFile)
    }
}
