import IndoorLocalization
import VenuePackets
import XCTest

final class JSONLimitsTests: XCTestCase {
    private func tree(_ text: String, limits: InputLimits = .standard) throws -> JSONTree {
        try JSONTree(Array(text.utf8), limits: limits)
    }

    private func message(_ text: String, limits: InputLimits = .standard) -> String? {
        do {
            _ = try tree(text, limits: limits)
            return nil
        } catch {
            return (error as? JSONSyntaxError)?.message
        }
    }

    func testEveryKindOfValueIsRead() throws {
        let text = """
            \u{FEFF}{"a": [0, -0.5, 12.25e-1, 123456789012345678901234567890, true, false, null, ""],
             "\\u00e4\\n\\ud83d\\ude00": "\\"\\\\\\/\\b\\f\\t\\r ü😀", "b": {}, "c": []}
            """
        let tree = try tree(text)
        XCTAssertEqual(
            tree["a"],
            .array([
                .number(0), .number(-0.5), .number(1.225), .number(1.2345678901234568e29), .bool(true),
                .bool(false), .null, .string(""),
            ]))
        XCTAssertEqual(tree["ä\n😀"], .string("\"\\/\u{8}\u{C}\t\r ü😀"))
        XCTAssertEqual(tree["b"], .object([:]))
        XCTAssertEqual(tree["c"], .array([]))
    }

    func testADecimalNumberIsTheNearestDouble() throws {
        for text in ["0.1", "13.37", "-52.520008", "999999999999999", "0.000001", "1e22", "123456.789012345", "5e-324"]
        {
            XCTAssertEqual(try tree(text), .number(Double(text) ?? .nan), text)
        }
    }

    func testAValueThatCannotBeRepresentedIsUnreadableAndNotASyntaxError() throws {
        for text in ["1e999", "\"\\ud800\"", "\"\\udc00 \\ud800\""] {
            XCTAssertEqual(try tree(text), .unreadable, text)
        }
    }

    func testTheFirstValueOfADuplicateKeyIsUsed() throws {
        XCTAssertEqual(try tree(#"{"a": 1, "a": 2}"#), .object(["a": .number(1)]))
    }

    func testTextThatIsNearlyJSONIsReportedWithItsPosition() {
        let cases = [
            ("[1,]", "line 1, column 4"), ("{\"a\": 1,}", "line 1, column 9"), ("[01]", "line 1, column 3"),
            ("['a']", "line 1, column 2"), ("\"\\u12\"", "line 1, column 6"), ("[1]\n]", "line 2, column 1"),
            ("{\"\\ud800\": 1}", "line 1, column 2"), ("[.5]", "line 1, column 2"), ("[1e]", "line 1, column 4"),
        ]
        for (text, place) in cases {
            XCTAssertEqual(message(text), "is not JSON at \(place); correct it there", text)
        }
    }

    func testTheDepthIsLimited() {
        let deepest = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        XCTAssertNil(message(deepest))
        XCTAssertEqual(
            message("[" + deepest + "]"), "is nested deeper than 64 levels at line 1, column 65; correct it there")
        XCTAssertEqual(
            message(String(repeating: "{\"a\":", count: 100_000)),
            "is nested deeper than 64 levels at line 1, column 321; correct it there")
    }

    /// Two arrays, one object, its key and its value, and a number.
    func testTheNumberOfValuesIsLimited() {
        var limits = InputLimits()
        limits.jsonValues = 6
        XCTAssertNil(message("[[], {\"a\": 1}, 2]", limits: limits))
        XCTAssertEqual(
            message("[[], {\"a\": 1},\n2, 3]", limits: limits),
            "has more than 6 values and keys, the next at line 2, column 4; correct it there")
    }

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
