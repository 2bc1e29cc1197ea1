import FoundationEssentials
import Glibc
import IndoorLocalization
import TemporaryFiles
import VenuePackets
import XCTest
@testable import VenueExchange

/// Files that cannot be imported: each problem has its line and its element.
final class OSMProblemTests: XCTestCase {
    private typealias File = OSMFileUnderTest

    private static let square = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)]

    /// A file with a room; the room is on line 6.
    private func room(_ tags: [String: String] = [:]) -> File {
        var file = File()
        file.area(Self.square, ["indoor": "room", "level": "0"].merging(tags) { $1 })
        return file
    }

    // MARK: Elements

    func testProblemsNameTheLineAndTheElement() throws {
        XCTAssertEqual(try room().problems(), [])
        XCTAssertEqual(
            try room(["level": "ground"]).problems(),
            ["line 6: way/1: its level is \"ground\"; give levels within ±1000, such as 0, 0;1 or -1-3"])
        XCTAssertEqual(
            try room(["repeat_on": "2-1"]).problems(),
            ["line 6: way/1: its repeat_on is \"2-1\"; give levels within ±1000, such as 0, 0;1 or -1-3"])
        var open = File()
        open.way(Self.square, ["indoor": "room", "level": "0"])
        XCTAssertEqual(
            try open.problems(), ["line 6: way/1: its outline is not closed; end the way at its first node"])
        var incomplete = room()
        incomplete.add(
            "<way id=\"2\"><nd ref=\"1\"/><nd ref=\"2\"/><nd ref=\"77\"/><nd ref=\"1\"/><tag k=\"indoor\" v=\"area\"/>"
                + "<tag k=\"level\" v=\"0\"/></way>")
        XCTAssertEqual(
            try incomplete.problems(),
            ["line 7: way/2: its node 77 is not in the file; extract the file with all nodes of its ways"])
    }

    func testAllProblemsAreReportedInOnePass() throws {
        var file = room(["level": "x"])
        file.add("<node id=\"x\" lat=\"1\" lon=\"2\"/>")
        file.add("<node id=\"90\" lat=\"91\" lon=\"2\"/>")
        file.add("<node id=\"91\" lon=\"2\"/>")
        file.add("<node id=\"1\" lat=\"1\" lon=\"2\"/>")
        file.add("<way id=\"9\"><nd/><tag k=\"a\" v=\"1\"/><tag k=\"a\" v=\"2\"/><tag k=\"b\"/></way>")
        XCTAssertEqual(
            try file.problems(),
            [
                "line 7: node: its id is \"x\"; give a whole number",
                "line 8: node/90: lat 91.0, lon 2.0 is not a place; give degrees in [-90, 90] and [-180, 180]",
                "line 9: node/91: its lat is missing; give degrees",
                "line 10: node/1: its id is already used by another node",
                "line 11: way/9: a <nd> has no ref; give the id of an element",
                "line 11: way/9: it has the tag a twice; keep one", "line 11: way/9: a <tag> has no k or no v",
            ])
    }

    func testBeaconsWithInvalidNumbersAreProblems() throws {
        let tags = [
            "indoormark": "beacon", "level": "0", "beacon:uuid": "123456789", "beacon:major": "1",
            "beacon:minor": "70000",
        ]
        var file = room()
        file.node(5, 5, tags)
        XCTAssertEqual(
            try file.problems(),
            [
                "line 6: node/5: its beacon:uuid is \"123456789\"; give 32 hexadecimal digits as 8-4-4-4-12",
                "line 6: node/5: its beacon:minor is \"70000\"; give a whole number in [0, 65535]",
            ])
        var twice = room()
        let valid = tags.merging([
            "beacon:uuid": "f7826da6-4fa2-4e98-8024-bc5b71e0893e", "beacon:minor": "7",
        ]) { $1 }
        twice.node(5, 5, valid)
        twice.node(6, 6, valid)
        XCTAssertEqual(try twice.problems().count, 1)
        XCTAssertTrue(try twice.problems()[0].hasPrefix("line 7: node/6: another beacon has the identity"))
        var strong = room()
        strong.node(5, 5, valid.merging(["beacon:measured": "59"]) { $1 })
        XCTAssertEqual(
            try strong.problems(), ["line 6: node/5: its beacon:measured is \"59\"; give dBm at 1 m in [-127, 20]"])
    }

    func testAFileWithoutAnIndoorMapIsRefused() throws {
        var file = File()
        file.area(Self.square, ["building": "yes"])
        XCTAssertEqual(try file.problems().count, 1)
        XCTAssertTrue(try file.problems()[0].contains("it has no indoor=room, indoor=area or indoor=corridor"))
    }

    func testFilesOfSeveralPlacesAreRefused() throws {
        var file = room()
        file.add("<node id=\"80\" lat=\"10\" lon=\"10\"/><node id=\"81\" lat=\"10.1\" lon=\"10\"/>")
        file.add("<node id=\"82\" lat=\"10.1\" lon=\"10.1\"/>")
        file.add(
            "<way id=\"2\"><nd ref=\"80\"/><nd ref=\"81\"/><nd ref=\"82\"/><nd ref=\"80\"/>"
                + "<tag k=\"indoor\" v=\"area\"/><tag k=\"level\" v=\"0\"/></way>")
        XCTAssertEqual(try file.problems().count, 1)
        XCTAssertTrue(try file.problems()[0].contains("more than 20 km apart; extract one venue"))
    }

    func testAMultipolygonThatStaysOpenIsAProblem() throws {
        var file = room()
        file.way([(20, 0), (30, 0), (30, 10)], [:])
        file.add(
            "<relation id=\"1\"><member type=\"way\" ref=\"2\" role=\"outer\"/><tag k=\"type\" v=\"multipolygon\"/>"
                + "<tag k=\"indoor\" v=\"area\"/><tag k=\"level\" v=\"0\"/></relation>")
        XCTAssertEqual(
            try file.problems(),
            ["line 11: relation/1: its ways do not form closed rings; connect them end to end"])
    }

    func testDeletedElementsAreNotImported() throws {
        var file = room(["name": "kept"])
        file.add(
            "<way id=\"2\" action=\"delete\"><nd ref=\"1\"/><tag k=\"indoor\" v=\"room\"/><tag k=\"level\" v=\"x\"/></way>"
        )
        XCTAssertEqual(try file.imported().venue.rooms.map(\.name), ["kept"])
    }

    // MARK: XML

    func testMalformedXMLIsAProblemOfItsLine() throws {
        for (text, line, part) in [
            ("", 1, "no element found"), ("PK\u{3}\u{4}", 1, "not well-formed (invalid token)"),
            ("<osm>\n<node id=1/>", 2, "not well-formed"), ("<osm>\n\n<node id=\"1\"", 3, "unclosed token"),
            ("<osm>\n</way>", 2, "mismatched tag"), ("<osm>\n<way id=\"1\">\n</osm>", 3, "mismatched tag"),
            ("<osm>\n", 2, "no element found"), ("<osm/>\n<osm/>", 2, "junk after document element"),
            ("<osm>\n<tag k=\"a\" k=\"b\"/></osm>", 2, "duplicate attribute"),
            ("<osm>\n<tag k=\"a<b\"/></osm>", 2, "not well-formed"), ("<osm>\n<!-- ", 2, "unclosed token"),
            ("<osm>\n<tag k=\"&#0;\"/></osm>", 2, "reference to invalid character number"),
            ("<osm>\n<tag k=\"a & b\"/></osm>", 2, "not well-formed"), ("<html/>", 1, "the root is <html>"),
            ("<?xml version='1.0' encoding='EBCDIC'?>\n<osm/>", 1, "unknown encoding"),
        ] {
            let problems = try File.problems(text)
            XCTAssertEqual(problems.count, 1, text)
            XCTAssertTrue(problems[0].hasPrefix("line \(line): "), "\(text): \(problems[0])")
            XCTAssertTrue(problems[0].contains(part), "\(text): \(problems[0])")
        }
    }

    func testEntitiesOfADocumentTypeNeverExpand() throws {
        var bomb = "<!DOCTYPE osm [<!ENTITY e0 \"aaaaaaaaaa\">"
        for level in 1...9 {
            bomb += "<!ENTITY e\(level) \"\(String(repeating: "&e\(level - 1);", count: 10))\">"
        }
        for text in [
            bomb + "]>\n<osm><node id=\"&e9;\"/></osm>",
            "<!DOCTYPE osm [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>\n<osm><tag k=\"&e;\"/></osm>",
            "<!DOCTYPE osm SYSTEM \"http://example.com/osm.dtd\">\n<osm/>",
        ] {
            XCTAssertEqual(
                try File.problems(text),
                ["line 1: a document type declaration is not supported; remove it"])
        }
        let unknown = try File.problems("<osm>\n<tag k=\"&e9;\" v=\"\"/></osm>")
        XCTAssertEqual(
            unknown,
            [
                "line 2: it is not well-formed XML: undefined entity; correct it there, "
                    + "or export the file again"
            ]
        )
    }

    func testDeepAndLongDocumentsAreRefused() throws {
        let deep = try File.problems("<osm>" + String(repeating: "<a>", count: 100_000))
        XCTAssertEqual(deep, ["line 1: more than 16 elements are nested"])
        let long = try File.problems("<osm><tag k=\"" + String(repeating: "a", count: 20_000) + "\"/></osm>")
        XCTAssertEqual(long, ["line 1: the value of k is longer than 16384 bytes"])
        let wide = try File.problems("<osm><tag " + (0..<100).map { "a\($0)='' " }.joined() + "/></osm>")
        XCTAssertEqual(wide, ["line 1: <tag> has more than 64 attributes"])
        let many = "<osm>" + String(repeating: "<node id=\"1\" lat=\"1\" lon=\"1\"/>\n", count: 1_100) + "</osm>"
        XCTAssertEqual(try File.problems(many).count, 1_000, "the list of problems is limited")
    }

    func testASpaceOnManyLevelsHasALimit() throws {
        var file = File()
        for x in 0..<30 {
            let x = Double(x) * 10
            file.area(
                [(x, 0), (x + 10, 0), (x + 10, 10), (x, 10)], ["indoor": "area", "level": "-1000-1000"])
        }
        let problems = try file.problems()
        XCTAssertEqual(problems.count, 6, "\(problems)")
        XCTAssertTrue(problems.allSatisfy { $0.contains("exceeds the limit of 50000 spaces and walls") })
        XCTAssertEqual(
            try room(["level": "-1000-1000"]).problems(),
            ["it has 2001 levels, more than the limit of 1000; correct the tags level"])
    }

    func testCharactersAndEntitiesAreReplaced() throws {
        let text = room(["name": "Caf&#xE9; &lt;A&amp;B&gt; &quot;&apos;"]).text
        let venue = try File.imported("\u{FEFF}<?xml version=\"1.0\"?>\r\n<!-- a > b --><?note?>" + text).venue
        XCTAssertEqual(venue.rooms.map(\.name), ["Café <A&B> \"'"])
    }

    func testOtherEncodingsAreRead() throws {
        let text = "<?xml version='1.0' encoding='ISO-8859-1'?>" + room(["name": "Caf&#xE9; \u{E9}"]).text
        let path = try temporaryFolder() + "/latin.osm"
        try Data(text.unicodeScalars.map { UInt8($0.value) }).write(to: URL(filePath: path))
        XCTAssertEqual(try OSMImporter().read(path).venue.rooms.map(\.name), ["Café é"])
    }

    func testALargeFileIsReadInParts() throws {
        var file = File()
        for number in 0..<900 {
            let x = Double(number) * 4
            file.area(
                [(x, 0), (x + 4, 0), (x + 4, 4), (x, 4)], ["indoor": "room", "level": "0", "name": "R\(number)"])
        }
        XCTAssertEqual(try file.imported().venue.rooms.map(\.name), (0..<900).map { "R\($0)" })
    }

    func testAMissingFileIsAProblem() {
        XCTAssertThrowsError(try OSMImporter().read("/no/such.osm")) { error in
            XCTAssertEqual(
                "\(error)",
                "/no/such.osm is not a usable OpenStreetMap file:\n  it cannot be read: No such file or directory")
        }
    }
}

/// The sizes and numbers that an `.osm` file may have.
final class OSMLimitTests: XCTestCase {
    private typealias File = OSMFileUnderTest

    /// A file with a room on level 0.
    private func room() -> File {
        var file = File()
        file.area([(0, 0), (10, 0), (10, 10), (0, 10)], ["indoor": "room", "level": "0"])
        return file
    }

    func testAFileAboveTheLimitIsRefused() throws {
        let path = try temporaryFolder() + "/long.osm"
        try Data().write(to: URL(filePath: path))
        XCTAssertEqual(truncate(path, (32 << 20) + 1), 0)
        XCTAssertThrowsError(try OSMImporter().read(path)) { error in
            XCTAssertTrue(
                "\(error)".contains("it has 33554433 bytes, more than the limit of 33554432 bytes"), "\(error)")
        }
    }

    func testTheElementsOfAFileAreLimited() {
        let nodes = (1...4).map { "<node id=\"\($0)\" lat=\"1\" lon=\"1\"/>\n" }.joined()
        let text = Array("<osm>\n\(nodes)</osm>".utf8)
        XCTAssertEqual(OSMDocument(text, mostElements: 4).problems.map(\.description), [])
        XCTAssertEqual(
            OSMDocument(text, mostElements: 3).problems.map(\.description),
            ["line 5: node/4: the file has more than 3 elements; extract the building only"])
        XCTAssertEqual(OSMDocument.Limit.elements, 300_000)
    }

    func testTheWaysOfAMultipolygonAreLimited() throws {
        func problems(_ count: Int) throws -> [String] {
            var file = room()
            let members = String(repeating: "<member type=\"way\" ref=\"1\" role=\"outer\"/>", count: count)
            file.add("<relation id=\"1\">\(members)<tag k=\"type\" v=\"multipolygon\"/></relation>")
            return try file.problems()
        }
        XCTAssertEqual(try problems(2_000), [], "the relation is of no indoor map")
        XCTAssertEqual(
            try problems(2_001), ["line 7: relation/1: it has more than 2000 members; simplify it"])
    }

    func testTheCornersOfAllSpacesAreLimited() throws {
        var file = File()
        let circle = (0..<1_250).map { number in
            let angle = Double(number) / 1_250 * 2 * .pi
            return (100 * cos(angle), 100 * sin(angle))
        }
        file.area(circle, ["indoor": "area", "level": "0-499"])
        let problems = try file.problems()
        XCTAssertEqual(problems.count, 1, "\(problems)")
        XCTAssertTrue(
            problems.first?.hasSuffix("way/1: it exceeds the limit of 500000 corners; extract fewer buildings")
                ?? false,
            "\(problems)")
    }

    func testTheStopsOfElevatorsAreLimited() throws {
        func problems(_ levels: String...) throws -> [String] {
            var file = room()
            for level in levels { file.node(5, 5, ["highway": "elevator", "level": level]) }
            return try file.problems()
        }
        XCTAssertEqual(try problems("0-599", "0-399"), [])
        XCTAssertEqual(
            try problems("0-599", "0-400"),
            ["line 7: node/6: it exceeds the limit of 1000 stairs and elevators; extract fewer buildings"])
    }
}
