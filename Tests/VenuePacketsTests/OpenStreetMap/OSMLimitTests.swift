import FoundationEssentials
import Glibc
import IndoorLocalization
import XCTest

@testable import VenuePackets

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
