import FoundationEssentials
import IndoorLocalization
import VenuePackets
import XCTest

/// A small file of OpenStreetMap, drawn in metres: x to the east, y to the north.
struct OSMFileUnderTest {
    /// Where x and y are 0.
    static let plane = LocalTangentPlane(origin: Coordinate(latitude: 48.1, longitude: 11.5))

    private var nodes: [String] = []
    private var ways: [String] = []
    private var ids: [MapPoint: Int] = [:]

    /// The text of the file. Each element is one line; the first one is line 2.
    var text: String { (["<osm version=\"0.6\">"] + nodes + ways + ["</osm>", ""]).joined(separator: "\n") }

    private static func tags(_ tags: [String: String]) -> String {
        tags.sorted { $0.key < $1.key }.map { "<tag k=\"\($0.key)\" v=\"\($0.value)\"/>" }.joined()
    }

    /// Adds a node, and returns its id. Ways through its place share it.
    @discardableResult mutating func node(_ x: Double, _ y: Double, _ tags: [String: String] = [:]) -> Int {
        let point = MapPoint(x: x, y: y)
        if let id = ids[point], tags.isEmpty { return id }
        let place = Self.plane.coordinate(east: x, north: y)
        let id = nodes.count + 1
        if ids[point] == nil { ids[point] = id }
        nodes.append(
            "<node id=\"\(id)\" lat=\"\(place.latitude)\" lon=\"\(place.longitude)\">\(Self.tags(tags))</node>")
        return id
    }

    @discardableResult mutating func way(_ points: [(Double, Double)], _ tags: [String: String]) -> Int {
        let references = points.map { "<nd ref=\"\(node($0.0, $0.1))\"/>" }.joined()
        let id = ways.count + 1
        ways.append("<way id=\"\(id)\">\(references)\(Self.tags(tags))</way>")
        return id
    }

    @discardableResult mutating func area(_ points: [(Double, Double)], _ tags: [String: String]) -> Int {
        way(points + points.prefix(1), tags)
    }

    /// Adds an element as text.
    mutating func add(_ text: String) { ways.append(text) }

    /// Imports the file.
    func imported(language: String? = nil) throws -> IMDFImport { try Self.imported(text, language: language) }

    /// Imports a file with this text.
    static func imported(_ text: String, language: String? = nil) throws -> IMDFImport {
        let path = FileManager.default.temporaryDirectory.path + "/osm-\(UUID().uuidString).osm"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(text.utf8).write(to: URL(filePath: path))
        return try OSMImporter(language: language).read(path)
    }

    /// The problems of a text, as the tool prints them; empty if there are none.
    static func problems(_ text: String) throws -> [String] {
        do {
            _ = try imported(text)
            return []
        } catch let error as OSMError {
            return error.problems.map(\.description)
        }
    }

    func problems() throws -> [String] { try Self.problems(text) }
}
