import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Beacons whose power byte can't be a signal strength at 1 m: their identity counts all the same.
final class UncalibratedBeaconTests: XCTestCase {
    func testAnUncalibratedBeaconIsLocatedAsACalibratedOneAndNamedOnce() throws {
        let folder = try temporaryFolder()
        let usual = try replay(power: "C5", folder)
        XCTAssertEqual(usual.errors, "")
        let positions = usual.lines.count { $0.contains(#""type":"position""#) }
        XCTAssertGreaterThan(positions, 3)
        for power in ["00", "04", "7F", "80"] {
            let result = try replay(power: power, folder)
            let (problems, others) = (
                result.lines.filter { $0.contains(#""type":"error""#) },
                result.lines.filter { !$0.contains(#""type":"error""#) }
            )
            XCTAssertEqual(others, usual.lines, power)
            try check(problems.map(String.init))
            let warnings = result.errors.split(separator: "\n")
            XCTAssertEqual(warnings.count, 1, result.errors)
            // The first beacon that the recording received.
            XCTAssertTrue(result.errors.contains("no valid measured power from beacons 1/15, "), result.errors)
            XCTAssertEqual(result.errors.components(separatedBy: "1/15,").count, 2, result.errors)
        }
    }

    /// The session names each beacon once: the first at once, and those of the following seconds together.
    private func check(_ problems: [String]) throws {
        var named: [String] = []
        for problem in problems {
            let object = try JSONSerialization.jsonObject(with: Data(problem.utf8)) as? [String: Any]
            XCTAssertEqual(object?["kind"] as? String, "beaconFault")
            named += try XCTUnwrap(object?["beacons"] as? [String])
        }
        XCTAssertEqual(named.first?.hasSuffix("/1/15"), true, "\(named)")
        XCTAssertGreaterThan(named.count, 3)
        XCTAssertEqual(Set(named).count, named.count)
        XCTAssertLessThan(problems.count, named.count)
    }

    func testACutOffStructureBehindABeaconDoesNotMatter() throws {
        let folder = try temporaryFolder()
        let usual = try replay(power: "C5", folder)
        for rest in ["09", "050941"] {
            let result = try replay(power: "C5", rest: rest, folder)
            XCTAssertEqual(result.output, usual.output, rest)
            XCTAssertEqual(result.errors, "", rest)
        }
    }

    /// Replays a walk whose beacons send iBeacon advertisements that end with a power byte and other bytes.
    private func replay(power: String, rest: String = "", _ folder: String) throws -> Tool.Result {
        var recording = try ShortRecording(lines: 120)
        recording.lines = try recording.lines.map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            guard let fields = object as? [String: Any], fields["type"] as? String == "beacon" else { return line }
            let uuid = try XCTUnwrap(fields["uuid"] as? String).replacing("-", with: "")
            let (major, minor) = (try XCTUnwrap(fields["major"] as? Int), try XCTUnwrap(fields["minor"] as? Int))
            let number = String(format: "%04X%04X", major, minor)
            let time = try XCTUnwrap(fields["t"] as? Double)
            let rssi = try XCTUnwrap(fields["rssi"] as? Int)
            return """
                {"t":\(time),"type":"advertisement","address":"C4:7C:8D:00:\(String(format: "%02X:%02X", major, minor))",\
                "addressType":"random","rssi":\(rssi),"data":"0201061AFF4C000215\(uuid)\(number)\(power)\(rest)"}
                """
        }
        let path = try recording.write(to: folder)
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", path] + ShortDataSet.light)
        XCTAssertEqual(result.status, 0, result.errors)
        return result
    }
}
