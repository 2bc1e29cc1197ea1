import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Beacons of a vendor's layout on the command line.
final class BeaconLayoutOptionTests: XCTestCase {
    private static let layout = "m:2-3=cafe,i:4-19,i:20-21,i:22-23,p:24-24"

    /// The lines of a walk, with each sighting as an advertisement of the layout.
    private func recording() throws -> String {
        let layout = try BeaconLayout(Self.layout)
        var recording = try ShortRecording(lines: 400)
        recording.lines = try recording.lines.map { line in
            guard line.contains(#""type":"beacon""#),
                let fields = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let uuid = BeaconUUID(try XCTUnwrap(fields["uuid"] as? String)), let major = fields["major"] as? Int,
                let minor = fields["minor"] as? Int, let rssi = fields["rssi"] as? Double,
                let time = fields["t"] as? Double
            else { return line }
            func bytes(_ number: UInt64) -> [UInt8] {
                (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
            }
            func bytes(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }
            let identifiers = [bytes(uuid.high) + bytes(uuid.low), bytes(major), bytes(minor)]
            let data = try layout.advertisingData(of: LayoutFrame(identifiers: identifiers, measuredPower: -59))
            let hex = data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return #"{"t":\#(time),"type":"advertisement","address":"00:00:00:00:\#(hex.suffix(4).prefix(2)):01","#
                + #""rssi":\#(rssi),"data":"\#(hex)"}"#
        }
        return try recording.write(to: temporaryFolder())
    }

    /// The given layouts are used beside the known ones.
    func testReplayDecodesBeaconsOfTheGivenLayout() throws {
        let recording = try recording()
        let call = ["replay", "--venue", "Fixtures/office", recording]
        let without = try Tool.run(call)
        XCTAssertFalse(without.output.contains(#""type":"position""#))
        let with = try Tool.run(call + ["--beacon-layout", Self.layout])
        XCTAssertEqual(with.status, 0, with.errors)
        XCTAssertGreaterThan(with.lines.count { $0.contains(#""type":"position""#) }, 3)
    }

    func testAnInvalidLayoutIsAUsageError() throws {
        let result = try Tool.run([
            "replay", "--venue", "Fixtures/office", "--beacon-layout", "m:2-3=cafe",
            "Fixtures/recordings/one-floor/scan.jsonl.gz",
        ])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("--beacon-layout: ") && result.errors.contains("'i:'"), result.errors)
    }
}
