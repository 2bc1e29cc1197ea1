import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

@testable import indoorloc

/// Geofences of a file, in addition to the packet's fences.
final class GeofenceOptionTests: XCTestCase {
    private static let recording = "Fixtures/recordings/one-floor/scan.jsonl.gz"
    private static let fences = "Fixtures/geofences/office.geojson"

    private func office() throws -> Venue { try VenuePacketReader().read(try FixtureFolder("office").path).venue }

    /// The result of a run with the fences, shared by all tests.
    private static let replayed = Result { try replay(fences) }

    private static func replay(_ file: String?) throws -> Tool.Result {
        let option = file.map { ["--geofences", $0] } ?? []
        return try Tool.run(["replay", "--venue", "Fixtures/office"] + option + [recording])
    }

    private func events(_ result: Tool.Result) throws -> [[String: Any]] {
        try result.lines.filter { $0.contains(#""type":"event""#) }.map { line in
            try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    /// The walk passes the printer first and then the stand. The shelf is above the stand, on the other floor.
    func testReplayPrintsTheGeofencesOnTheRoute() throws {
        let result = try Self.replayed.get()
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.errors, "")
        let told = try events(result).filter { ($0["event"] as? String ?? "").hasSuffix("Geofence") }
        XCTAssertEqual(
            told.map { "\($0["event"] ?? "") \($0["id"] ?? "")" },
            ["enterGeofence printer", "exitGeofence printer", "enterGeofence demo-stand", "exitGeofence demo-stand"])
        let stand = try XCTUnwrap(told.first { $0["id"] as? String == "demo-stand" })
        XCTAssertEqual(stand["name"] as? String, "Demo stand")
        XCTAssertEqual(stand["payload"] as? [String: String], ["message": "Ask for a sample."])
        XCTAssertEqual(stand["venueId"] as? Int, 1)
    }

    func testGeofencesDoNotChangeTheOtherOutput() throws {
        let rest = try Self.replayed.get().lines.filter { !$0.contains("Geofence\"") }
        XCTAssertTrue(rest == (try Self.replay(nil)).lines)
    }

    func testAnInvalidGeofenceFileEndsTheCommandBeforeAnyOutput() throws {
        let file = try temporaryFolder() + "/fences.geojson"
        try Data(#"{"type":"FeatureCollection","features":[{"type":"Feature"}]}"#.utf8).write(to: URL(filePath: file))
        for command in [
            ["replay", Self.recording], ["locate"], ["serve", "--state-directory", try temporaryFolder()],
        ] {
            let result = try Tool.run(command + ["--venue", "Fixtures/office", "--geofences", file])
            XCTAssertEqual(result.status, 1, command[0])
            XCTAssertEqual(result.output, "", command[0])
            XCTAssertTrue(
                result.errors.hasPrefix(
                    "indoorloc: \(file) has no usable geofences:\n  error: $.features[0].id: is missing; give an id"),
                result.errors)
        }
    }

    func testAnEmptyPathOfGeofencesIsAUsageError() throws {
        let result = try Self.replay("")
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(
            result.errors.hasPrefix("indoorloc replay: --geofences must be the path of a GeoJSON file, not ''\n"),
            result.errors)
    }

    func testAGeofenceThatCannotBeEnteredIsReported() throws {
        var plain = try office()
        plain.id = 2
        for index in plain.maps.indices { plain.maps[index].georeference = nil }
        let center = Coordinate(latitude: 50.1109, longitude: 8.6821)
        let swapped = Coordinate(latitude: 8.6821, longitude: 50.1109)
        func fence(_ center: Coordinate, venue: VenueID? = nil, map: MapID? = nil, level: Int? = nil) -> Geofence {
            Geofence(
                id: "a", shape: .circle(center: center, radius: 2), venueID: venue, mapID: map, level: level)
        }
        for (fence, reason) in [
            (fence(center), nil), (fence(center, venue: 1, map: 2, level: 1), nil),
            (fence(center, venue: 2), "its map has no georeference"), (fence(center, venue: 9), "unknown venue 9"),
            (fence(center, map: 9), "no map has its mapId and level"),
            (fence(center, map: 1, level: 1), "no map has its mapId and level"),
            (fence(swapped), "it lies outside the plan; coordinates must be [longitude, latitude]"),
        ] {
            let remarks = GeofenceOption(file: "f", fences: [fence]).remarks(on: [try office(), plain])
            XCTAssertEqual(remarks.count, reason == nil ? 0 : 1, "\(remarks)")
            if let reason { XCTAssertTrue(remarks[0].contains(reason), remarks[0]) }
        }
    }

    func testReplayWarnsOfGeofencesThatCannotBeEntered() throws {
        let file = try temporaryFolder() + "/fences.geojson"
        let text = try String(contentsOf: Checkout.root().appending(path: Self.fences), encoding: .utf8)
        try Data(text.replacing(#""level":1"#, with: #""level":5"#).utf8).write(to: URL(filePath: file))
        let walk = try ShortRecording(lines: 60).write(to: temporaryFolder())
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", "--geofences", file, walk])
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(
            result.errors,
            "indoorloc: \(file): geofence \"shelf\" can't be entered: no map has its mapId and level\n")
    }

    /// A recording of a person who stands at the demo stand for longer than any test waits.
    private func visit(to folder: String) throws -> String {
        let path = folder + "/path.json"
        let walk =
            #"{"format":"indoor-localization-walk","version":1,"name":"At the demo stand","#
            + #""points":[{"mapId":1,"x":21,"y":10,"pause":300},{"mapId":1,"x":21.5,"y":10}]}"#
        try Data(walk.utf8).write(to: URL(filePath: path))
        let recording = folder + "/visit.jsonl"
        let result = try Tool.run([
            "simulate", "--venue", "Fixtures/office", "--path", path, "--set", "radio.shadowing=0", "--output",
            recording,
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        return recording
    }

    func testAServiceMonitorsGeofencesAndReloadsThem() throws {
        let folder = try temporaryFolder()
        let file = URL(filePath: folder + "/fences.geojson")
        // The stand with a margin of 3 m, which contains every estimate.
        let stand = try String(contentsOf: Checkout.root().appending(path: Self.fences), encoding: .utf8).replacing(
            "[8.6820789,50.1108911],[8.6821561,50.11087],[8.6821725,50.1108948],[8.6820953,50.1109159],[8.6820789,50.1108911]",
            with: "[8.68204,50.11084],[8.68222,50.11084],[8.68222,50.11095],[8.68204,50.11095],[8.68204,50.11084]")
        try Data(stand.utf8).write(to: file)
        let service = try ServiceProcess([
            "--venue", "Fixtures/office", "--replay", try visit(to: folder), "--state-directory", folder,
            "--geofences", file.path,
        ])
        try service.wait(for: #""type":"position""#)
        try Data("{".utf8).write(to: file)
        service.send(SIGHUP)
        try service.waitForError("the earlier settings and geofences stay in effect")
        try service.wait(for: #""event":"enterGeofence""#, #""id":"demo-stand""#)
        try Data(stand.replacing("demo-stand", with: "stall").utf8).write(to: file)
        service.send(SIGHUP)
        try service.wait(for: #""event":"enterGeofence""#, #""id":"stall""#)
        XCTAssertFalse(service.told.contains { $0.contains("exitGeofence") }, "\(service.told)")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
    }
}
