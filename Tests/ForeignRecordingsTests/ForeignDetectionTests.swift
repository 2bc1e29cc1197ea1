import ForeignRecordings
import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

/// The content determines the format.
final class ForeignDetectionTests: XCTestCase {
    private func format(_ text: String) throws -> ForeignFormat? {
        let path = try temporaryFile("file", Array(text.utf8))
        switch try ConvertibleFile(path: path, settings: ForeignRecordingSettings(), strictness: .strict) {
        case .foreign(let reader): return reader.format
        case .recorded: return nil
        }
    }

    func testTheFirstLineDeterminesTheFormat() throws {
        for (text, expected) in [
            ("\u{FEFF}Time;Mac;RSSI\n", ForeignFormat.csv), ("t\trssi\tidentity\n", .csv),
            ("t,rssi,uuid,major,minor", .csv), ("% anything\n", .getSensorData),
            ("ACCE;0.1;0.1;1;2;3;3\n", .getSensorData),
            ("#\tstartTime:1\n", .indoorLocation), ("1574659531598\tTYPE_WIFI\tx\n", .indoorLocation),
            ("home/x/BTtoMQTT/y {\"id\":1}\n", .mqtt), ("1767225600.5 a b/c {}\n", .mqtt),
            ("2026-01-01T00:00:00+0100 a/c [1]\n", .mqtt), ("[\n{\n\"kismet.device.base.key\":1", .kismet),
            ("{\"bluetooth.device\":{}}\n", .kismet), ("{\"address\":\"x\",\"rssi\":-1}\n", .bleak),
            ("[{\"manufacturer_data\":{}}]\n", .bleak),
        ] {
            XCTAssertEqual(try format(text), expected, text)
        }
        for text in [
            "", "{\"type\":\"header\"}\n", "{\"t\":1,\"type\":\"beacon\",\"rssi\":-60}\n", "a,b,c\n", "hello\n",
            "btsnoop\0",
            "time,rssi\n",
        ] {
            XCTAssertNil(try format(text), text)
        }
    }

    func testARecordingAndACaptureAreReadAsBefore() throws {
        let walk = try ForeignFixture.walk()
        let path = try FixtureFolder("recordings/one-floor").file("scan.jsonl.gz")
        switch try ConvertibleFile(path: path, settings: ForeignRecordingSettings(), strictness: .strict) {
        case .foreign(let reader): XCTFail("read as \(reader.format)")
        case .recorded(let file):
            switch consume file {
            case .capture: XCTFail("read as a capture")
            case .recording(var reader):
                XCTAssertEqual(try reader.readAll().dropFirst().prefix(walk.count), walk[...])
            }
        }
    }
}
