import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import TemporaryFiles
import VenueExchange
import VenuePackets
import XCTest

/// A small archive of one level, drawn in metres: x to the east, y to the north.
struct ArchiveUnderTest {
    /// Where x and y are 0.
    static let plane = LocalTangentPlane(origin: Coordinate(latitude: 48.1, longitude: 11.5))

    /// The GeoJSON files by name.
    var files: [String: String] = [:]
    private var features: [String: [String]] = [:]

    init(isOutdoor: Bool = false, side: Double = 30) {
        files["manifest.json"] = #"{"version": "1.0.0", "language": "en", "created": "2026-01-01T00:00:00Z"}"#
        let square = Self.box(0, 0, side, side)
        add("venue", "v", "Polygon", "[\(Self.ring(square))]", #""name": {"en": "Test"}"#)
        add(
            "level", "l", "Polygon", "[\(Self.ring(square))]",
            #""name": {"en": "L"}, "ordinal": 0, "outdoor": \#(isOutdoor), "building_ids": []"#)
    }

    /// Adds a unit of these rings.
    mutating func unit(_ id: String, _ category: String, _ rings: [(Double, Double)]..., more: String = "") {
        let text = "[" + rings.map(Self.ring).joined(separator: ",") + "]"
        add("unit", id, "Polygon", text, #""category": "\#(category)", "level_id": "l"\#(more)"#)
    }

    mutating func opening(_ id: String, _ points: (Double, Double)...) {
        let line = "[" + points.map(Self.position).joined(separator: ",") + "]"
        add("opening", id, "LineString", line, #""category": "pedestrian", "level_id": "l""#)
    }

    mutating func add(_ type: String, _ id: String, _ geometry: String, _ coordinates: String, _ properties: String) {
        features[type, default: []].append(
            #"{"type": "Feature", "id": "\#(id)", "feature_type": "\#(type)", "geometry": "#
                + #"{"type": "\#(geometry)", "coordinates": \#(coordinates)}, "properties": {\#(properties)}}"#)
        let all = features[type, default: []].joined(separator: ",\n")
        files["\(type).geojson"] = #"{"type": "FeatureCollection", "features": [\#(all)]}"#
    }

    static func box(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> [(Double, Double)] {
        [(x1, y1), (x2, y1), (x2, y2), (x1, y2)]
    }

    static func ring(_ points: [(Double, Double)]) -> String {
        "[" + (points + points.prefix(1)).map(position).joined(separator: ",") + "]"
    }

    static func position(_ point: (Double, Double)) -> String {
        let coordinate = plane.coordinate(east: point.0, north: point.1)
        return "[\(coordinate.longitude),\(coordinate.latitude)]"
    }
}

extension XCTestCase {
    func importing(_ archive: ArchiveUnderTest, _ importer: IMDFImporter = IMDFImporter()) throws -> IMDFImport {
        let folder = try temporaryFolder()
        try write(archive.files, to: folder)
        return try importer.read(folder)
    }

    /// The problems of an archive, a line each; none if it is accepted.
    func problems(of archive: ArchiveUnderTest) throws -> [String] {
        let folder = try temporaryFolder()
        try write(archive.files, to: folder)
        do throws(IMDFError) {
            _ = try IMDFImporter(isStrict: true).read(folder)
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    /// The problems of the museum with a text of one file replaced.
    func problemsOfMuseum(_ file: String, replacing text: String, with other: String) throws -> [String] {
        let museum = try FixtureFolder("imdf/museum")
        let folder = try temporaryFolder()
        for path in try museum.files() {
            let name = String(path.dropFirst(museum.path.count + 1))
            var content = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
            if name == file {
                XCTAssertTrue(content.contains(text), "\(file) does not hold \(text)")
                content = content.replacing(text, with: other, maxReplacements: 1)
            }
            try write([name: content], to: folder)
        }
        do throws(IMDFError) {
            _ = try IMDFImporter(isStrict: true).read(folder)
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }
}

/// A map that was imported, asked in the metres of an archive under test.
struct ImportedPlan {
    let map: VenueMap
    private let transform: GeoTransform
    private let plane: LocalTangentPlane
    private let walls: WallIndex
    /// The turn of the drawing's x axis from east, clockwise in radians, as cosine and sine.
    private let turn: (cosine: Double, sine: Double)

    init(_ map: VenueMap, plane: LocalTangentPlane = ArchiveUnderTest.plane, turnDegrees: Double = 0) throws {
        self.map = map
        self.plane = plane
        transform = try XCTUnwrap(map.geoTransform())
        walls = WallIndex(walls: map.walls)
        turn = (cos(turnDegrees * .pi / 180), sin(turnDegrees * .pi / 180))
    }

    func point(_ x: Double, _ y: Double) -> MapPoint {
        transform.point(
            at: plane.coordinate(east: x * turn.cosine + y * turn.sine, north: y * turn.cosine - x * turn.sine))
    }

    /// Whether a wall stands between two places.
    func blocks(_ from: (Double, Double), _ to: (Double, Double)) -> Bool {
        let (start, end) = (point(from.0, from.1), point(to.0, to.1))
        return walls.blocks(fromX: Float(start.x), y: Float(start.y), toX: Float(end.x), y: Float(end.y))
    }

    /// Metres of all walls together.
    var wallLength: Double {
        map.walls.reduce(0) { sum, wall in
            sum + zip(wall, wall.dropFirst()).reduce(0) { $0 + $1.0.distance(to: $1.1) }
        }
    }

    /// Square metres within all walkable polygons together.
    var walkableArea: Double { map.walkable.reduce(0) { $0 + Area.polygon($1).squareMeters } }

    func isWalkable(_ x: Double, _ y: Double) -> Bool {
        map.walkable.contains { Area.polygon($0).contains(point(x, y)) }
    }
}
