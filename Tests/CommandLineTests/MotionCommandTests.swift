import Foundation
import IndoorLocalizationTesting
import XCTest

/// Motion output, and walks without beacons.
final class MotionCommandTests: XCTestCase {
    private static let recording = "Fixtures/recordings/without-beacons/scan.jsonl.gz"
    private static let call = ["replay", "--venue", "Fixtures/office", "--fix", "1,13,5,1"]
    private static let replayed = Swift.Result { try Tool.run(call + ["--motion", recording]) }

    private func objects(_ type: String) throws -> [[String: Any]] {
        try Self.replayed.get().lines.compactMap { line in
            let value = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return value?["type"] as? String == type ? value : nil
        }
    }

    func testAReplayWithAFixNeedsNoBeacons() throws {
        XCTAssertEqual(try Self.replayed.get().status, 0)
        XCTAssertEqual(try Self.replayed.get().errors, "")
        let first = try XCTUnwrap(objects("position").first)
        XCTAssertEqual(first["mapId"] as? Int, 1)
        XCTAssertEqual(try XCTUnwrap(first["x"] as? Double), 13, accuracy: 0.5)
        XCTAssertEqual(try XCTUnwrap(first["y"] as? Double), 5, accuracy: 0.5)
    }

    func testMotionLinesHaveTheDocumentedMembers() throws {
        let lines = try objects("motion")
        XCTAssertGreaterThan(lines.count, 500, "ten a second")
        let fields: Set<String> = [
            "t", "type", "kind", "stepFrequency", "vertical", "direction", "climbRate", "floor", "heading",
            "trueHeading",
            "magneticHeading", "headingAccuracy", "headingReference", "disturbed", "attitude", "x", "y", "z", "radius",
            "altitude", "alignment", "steps", "distance", "ascent", "descent", "stationary", "fidgeting", "walking",
            "latitude", "longitude",
        ]
        for line in lines { XCTAssertTrue(Set(line.keys).isSubset(of: fields), "\(line.keys)") }
        XCTAssertEqual(Set(lines.compactMap { $0["kind"] as? String }), ["stationary", "fidgeting", "walking"])
        XCTAssertTrue(
            lines.contains { $0["vertical"] as? String == "elevator" && $0["direction"] as? String == "down" })
        let guide = try String(
            contentsOf: Checkout.root().appending(
                path: "Sources/IndoorLocalization/IndoorLocalization.docc/FileFormats.md"), encoding: .utf8)
        for field in fields { XCTAssertTrue(guide.contains("`\(field)`"), "\(field) is not documented") }
    }

    func testWithoutTheOptionNoMotionIsPrinted() throws {
        let plain = try Tool.run(Self.call + [Self.recording])
        XCTAssertFalse(plain.output.contains(#""type":"motion""#))
        let positions = try Self.replayed.get().lines.filter { $0.contains(#""type":"position""#) }
        XCTAssertEqual(plain.lines.filter { $0.contains(#""type":"position""#) }, positions, "telling changes nothing")
    }

    func testAnInvalidFixIsRefused() throws {
        for fix in ["1,2,3", "1,2,3,0", "a,2,3,1", "1,2,3,4,5", "1,nan,3,1", ""] {
            let result = try Tool.run(["replay", "--venue", "Fixtures/office", "--fix", fix, Self.recording])
            XCTAssertEqual(result.status, 2, fix)
            XCTAssertTrue(
                result.errors.contains(
                    "--fix must be MAP,X,Y,RADIUS with a radius above 0, such as 1,3.5,7,1, not '\(fix)'"),
                result.errors)
        }
    }

    func testAFixOnAnUnknownMapIsRefused() throws {
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", "--fix", "9,2,3,1", Self.recording])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("--fix: 'Office' has no map 9"), result.errors)
    }

    func testAFixFarOffThePlanIsRefused() throws {
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", "--fix", "1,500,10,1", Self.recording])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(
            result.errors.contains("--fix: the place is 464 m off the plan of map 1; give one on it"), result.errors)
        XCTAssertEqual(result.output, "")
    }

    func testReplayWithoutBeaconsSuggestsAFix() throws {
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", Self.recording])
        XCTAssertEqual(result.status, 0)
        XCTAssertTrue(
            result.errors.hasSuffix(
                "no position, as no beacon of 'Office' was received; "
                    + "use --fix MAP,X,Y,RADIUS to follow it by motion alone\n"), result.errors)
    }

    func testEvaluateScoresMotionAlone() throws {
        let result = try Tool.run(["evaluate", "Fixtures/office", "--motion"])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.lines.count, 3, result.output)
        XCTAssertTrue(result.lines.first?.hasPrefix("office: walked ") ?? false, result.output)
        // The only track with steps has neither heading nor air pressure.
        XCTAssertTrue(
            result.lines.first?.hasSuffix("climbing detected 0.0% of the time  heading median -  P90 -") ?? false,
            result.output)
        let wrong = try Tool.run(["evaluate", "Fixtures/office", "--motion", "--json"])
        XCTAssertEqual(wrong.status, 2)
        XCTAssertTrue(wrong.errors.contains("--motion can't be combined with --json, --offline or --replays"))
    }
}
