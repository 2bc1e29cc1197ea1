import VenuePackets
import XCTest

final class JSONSyntaxTests: XCTestCase {
    func testTheMessageNamesLineAndColumn() {
        let cases = [
            ("", "line 1, column 1"),
            ("{\"id\": 7,\n \"name\": }", "line 2, column 10"),
            ("{\"id\": 7\n \"name\": 1}", "line 2, column 2"),
            ("{\"id\" 7}", "line 1, column 7"),
            ("{7: 7}", "line 1, column 2"),
            ("[1, 2", "line 1, column 6"),
            ("[1, 2}", "line 1, column 6"),
            ("[1] 2", "line 1, column 5"),
            ("[NaN]", "line 1, column 2"),
            ("[1., 2]", "line 1, column 4"),
            ("[-]", "line 1, column 3"),
            ("[trie]", "line 1, column 4"),
            ("[\"a\nb\"]", "line 1, column 4"),
            ("[\"\\x\"]", "line 1, column 4"),
            ("// comment\n[]", "line 1, column 1"),
        ]
        for (text, place) in cases {
            let problems = VenuePacketReader.parse(Array(text.utf8)).problems
            XCTAssertEqual(problems.map(\.path), ["$"], text)
            XCTAssertTrue(problems.first?.message.contains("at \(place);") ?? false, "\(text): \(problems)")
        }
    }

    func testADeeplyNestedDocumentIsRefused() {
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        for text in [deep, String(repeating: "{\"a\":", count: 100_000)] {
            XCTAssertEqual(VenuePacketReader.parse(Array(text.utf8)).problems.map(\.path), ["$"])
        }
    }

    func testBytesThatAreNotUTF8AreRefused() {
        XCTAssertEqual(VenuePacketReader.parse([0x22, 0xFF, 0x22]).problems.map(\.path), ["$"])
        XCTAssertEqual(VenuePacketReader.parse([0xFE, 0xFF, 0x00]).problems.map(\.path), ["$"])
    }

    func testValidJSONOfAnyKindIsNotASyntaxError() {
        for text in ["1", "-1.5e-3", "\"\\u00e4\\n\"", "[]", "{}", "[[], {}, [{\"a\": []}], null, true, false]"] {
            let message = VenuePacketReader.parse(Array(text.utf8)).problems.first?.message ?? ""
            XCTAssertFalse(message.contains("JSON"), "\(text): \(message)")
        }
    }

    func testATruncatedOrChangedDocumentNeverTraps() throws {
        let text =
            "{\"format\": \"x\", \"maps\": [{\"id\": 1, \"walls\": [[[0, 1e3], [-2.5, \"\\u00e4\"]]]}], \"a\": null}"
        let bytes = Array(text.utf8)
        for count in bytes.indices {
            XCTAssertFalse(VenuePacketReader.parse(Array(bytes.prefix(count))).problems.isEmpty, "\(count) bytes")
            for byte in [UInt8(0), 0x22, 0x2C, 0x5B, 0x7D, 0x80, 0xFF] {
                var changed = bytes
                changed[count] = byte
                XCTAssertFalse(VenuePacketReader.parse(changed).problems.isEmpty, "\(byte) at \(count)")
            }
        }
    }
}
