import IndoorLocalization
import VenuePackets
import XCTest

final class JSONLimitsTests: XCTestCase {
    func testADocumentReportsAtMostAThousandProblems() {
        let beacons = Array(repeating: "{}", count: 2_000).joined(separator: ",")
        let text = """
            {"format": "indoor-localization-venue", "formatVersion": 1, "id": 1, "name": "a", "version": 1,
            "maps": [{"id": 1, "name": "", "level": 0, "widthMeters": 9, "heightMeters": 9}], "beacons": [\(beacons)]}
            """
        let problems = VenuePacketReader.parse(Array(text.utf8)).problems
        XCTAssertEqual(problems.count, 1_001)
        XCTAssertEqual(problems.last?.message, "has 7000 more problems; correct the others first")
    }

    func testTooManyEntriesAreOneProblem() {
        for (key, limit) in [
            ("maps", 1_000), ("beacons", 30_000), ("anchors", 30_000), ("rooms", 30_000), ("pois", 30_000),
            ("events", 30_000), ("interactions", 30_000),
        ] {
            XCTAssertEqual(
                arrayProblems("{\"\(key)\": \(list("{}", limit + 1))}", at: "$.\(key)"),
                ["has \(limit + 1) entries, more than the limit of \(limit); divide it"])
        }
    }

    func testTooManyNodesOrEdgesAreOneProblem() {
        for (key, other) in [("nodes", "edges"), ("edges", "nodes")] {
            XCTAssertEqual(
                arrayProblems(
                    "{\"paths\": {\"\(key)\": \(list("{}", 50_001)), \"\(other)\": []}}", at: "$.paths.\(key)"),
                ["has 50001 entries, more than the limit of 50000; divide it"])
        }
    }

    private func list(_ element: String, _ count: Int) -> String {
        "[" + Array(repeating: element, count: count).joined(separator: ",") + "]"
    }

    /// The problems of an array itself.
    private func arrayProblems(_ text: String, at path: String) -> [String] {
        VenuePacketReader.parse(Array(text.utf8)).problems.filter { $0.path == path }.map(\.message)
    }

    func testAVenueKeepsAThousandSettings() throws {
        // No similar setting is searched for a key of this length.
        let long = String(repeating: "k", count: 101)
        let settings = (0...1_000).map { "\"\(long)\($0)\": 1" }.joined(separator: ",")
        let text = """
            {"format": "indoor-localization-venue", "formatVersion": 1, "id": 1, "name": "a", "version": 1,
            "maps": [{"id": 1, "name": "", "level": 0, "widthMeters": 9, "heightMeters": 9}], "beacons": [],
            "settings": {\(settings)}}
            """
        let (venue, problems) = VenuePacketReader.parse(Array(text.utf8))
        XCTAssertEqual(try XCTUnwrap(venue, "\(problems.prefix(3))").settings.count, 1_000)
    }

    func testAPolygonWithTooManyCornersIsRefused() {
        func messages(_ count: Int) -> [String] {
            let corners = (1..<count).map { "[\($0), \($0 % 2)]" } + ["[\(count), 1000]"]
            return arrayProblems(
                "{\"maps\": [{\"walkable\": [[\(corners.joined(separator: ","))]]}]}", at: "$.maps[0].walkable[0]")
        }
        XCTAssertEqual(messages(5_000), [])
        XCTAssertEqual(messages(5_001), ["has 5001 corners; simplify it to 5000 at most"])
    }

    /// Each polygon is right by itself.
    func testPolygonsWithTooManyCornersInTotalAreRefused() {
        let count = 4_000
        let corners = (0..<count).map { "[\($0), \($0 % 2)]" } + ["[\(count), 1000]"]
        let polygon = "[" + corners.joined(separator: ",") + "]"
        let text = "{\"maps\": [{\"walkable\": [" + Array(repeating: polygon, count: 20).joined(separator: ",") + "]}]}"
        let messages = VenuePacketReader.parse(Array(text.utf8)).problems.map(\.message)
        XCTAssertEqual(messages.count { $0.contains("too many corners to be checked") }, 2, "\(messages)")
    }
}
