import ForeignRecordings
import Foundation
import IndoorLocalization
import ScanRecording
import XCTest

/// The numbers of elements that a recording of another program may have.
final class ForeignLimitTests: XCTestCase {
    func testTheColumnsOfACSVFileAreLimited() throws {
        func text(_ count: Int) -> String {
            let columns = ["time", "mac", "rssi"] + (3..<count).map { "c\($0)" }
            let values = ["1", "C0:00:00:00:00:01", "-60"] + Array(repeating: "", count: count - 3)
            return [columns, values].map { $0.joined(separator: ",") + "\n" }.joined()
        }
        XCTAssertNil(try failure(text(1_000), as: .csv))
        XCTAssertEqual(
            try failure(text(1_001), as: .csv),
            "file:1: the line has more than 1000 columns. Split the file, or check that its format is csv.")
    }

    func testTheInterfacesOfASectionAreLimited() throws {
        func block(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
            let length: [UInt8] = [UInt8(body.count + 12), 0, 0, 0]
            return type == 0x0A
                ? [0x0A, 0x0D, 0x0D, 0x0A] + length + body + length : [type, 0, 0, 0] + length + body + length
        }
        func capture(_ count: Int) -> [UInt8] {
            // The byte order, version 1.0, and an unknown length of the section.
            let section = block(0x0A, [0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0] + Array(repeating: 0xFF, count: 8))
            let interface = block(1, [201, 0, 0, 0, 0, 0, 0, 0])
            return section + Array(repeating: interface, count: count).joined()
        }
        XCTAssertNil(try failure(capture(1_000), as: .pcap))
        XCTAssertNil(try failure(capture(1_000) + capture(1_000), as: .pcap), "a section has interfaces of its own")
        XCTAssertEqual(
            try failure(capture(1_001), as: .pcap)?.contains("the packet has more than 1000 interfaces. Split"), true)
    }

    func testTheReadingsOfAnArrayAreLimited() throws {
        let sample = String(
            decoding: try Data(contentsOf: URL(filePath: ForeignFixture.path("bleak.jsonl"))), as: UTF8.self)
        let object = try XCTUnwrap(sample.split(separator: "\n").first)
        /// The readings of an array of objects; the limit is three.
        func readings(_ count: Int) throws(ForeignProblem) -> Int {
            var rest = Array(("[" + Array(repeating: object, count: count).joined(separator: ",\n") + "]").utf8)
            var decoder = ForeignDecoder(format: .bleak, settings: ForeignRecordingSettings(), mostInArray: 3)
            var readings = 0
            while true {
                switch try decoder.next() {
                case .entry(.measurement): readings += 1
                case .entry: break
                case .needsMore:
                    decoder.fill { bytes in
                        bytes += rest
                        rest = []
                    }
                case .end: return readings
                }
            }
        }
        XCTAssertEqual(try readings(3), 3)
        XCTAssertThrowsError(try readings(4)) { error in
            let problem = error as? ForeignProblem
            XCTAssertEqual(problem?.problem, .tooMany(what: "readings in an array", limit: 3))
            XCTAssertEqual(problem?.endsFile, true)
        }
    }
}
