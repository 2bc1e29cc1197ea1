import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import VenuePackets
import XCTest
@testable import indoorloc

/// A survey with a tag: marks over HTTP, gateways over a real broker, and a radio map from the recordings.
final class TrackSurveyTests: XCTestCase {
    private static let tag = "C3:00:00:12:AB:01"

    /// Starts a walk at (5, 10), which needs a tag that is heard at that time.
    private func start(_ stage: GatewayStage, _ service: ServiceProcess, page: UInt16) async throws {
        let start = ContinuousClock.now
        var status = 0
        while status != 200, start.duration(to: .now) < Bounded.longest {
            try await stage.publish(
                tag: Self.tag, at: MapPoint(x: 5, y: 10), until: service, from: service.told.count)
            status = try await SurveyRequest.post(
                "walks", #"{"tag":"\#(Self.tag)","action":"start"}"#, port: page)
        }
        XCTAssertEqual(status, 200)
    }

    func testAWalkWithATagGivesARadioMapAlsoAfterAKill() async throws {
        let (port, page) = (try broker().port, try TestPort.free())
        let venue = try FixtureFolder("tags/office").path
        let folder = try temporaryFolder()
        let service = try ServiceProcess(
            [
                "--broker", "mqtt://127.0.0.1:\(port)", "--venue", venue, "--tags", try register(of: Self.tag),
                "--class", "light", "--http", "127.0.0.1:\(page)", "--survey", folder + "/walks",
            ], command: "track")
        try service.waitForError("receiving from")
        let stage = GatewayStage(
            client: try await GatewayClient(port: port), venue: try VenuePacketReader().read(venue).venue)
        try await self.start(stage, service, page: page)
        for x in [5.0, 15, 25, 32] {
            let mark = #"{"tag":"\#(Self.tag)","mapId":1,"x":\#(x),"y":10,"delay":0.05}"#
            let status = try await SurveyRequest.post("marks", mark, port: page)
            XCTAssertEqual(status, 200)
            let before = service.told.count
            // Two positions take about two seconds, in which the gateways hear the tag several times.
            for _ in 0..<2 {
                try await stage.publish(
                    tag: Self.tag, at: MapPoint(x: x, y: 10), until: service, from: service.told.count)
            }
            XCTAssertGreaterThan(service.told.count, before)
        }
        let start = ContinuousClock.now
        repeat {
            try await stage.publish(tag: Self.tag, at: MapPoint(x: 32, y: 10), until: service, from: service.told.count)
        } while recordedMarks(in: folder + "/walks") < 4 && start.duration(to: .now) < Bounded.longest
        service.send(SIGKILL)
        XCTAssertEqual(try service.end(), 128 + SIGKILL)
        let walks = try FileManager.default.contentsOfDirectory(atPath: folder + "/walks")
        XCTAssertEqual(walks.count, 1)
        let map = folder + "/map.json"
        let result = try Tool.run(
            ["survey", "--venue", venue, "--output", map] + walks.map { folder + "/walks/" + $0 })
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertFalse(result.errors.contains("another venue"), result.errors)
        XCTAssertTrue(result.output.contains("survey points"), result.output)
    }

    func testAMapIsAdoptedByTheRunningProcessAndStaysAfterAKill() async throws {
        let (port, page) = (try broker().port, try TestPort.free())
        let folder = try temporaryFolder()
        let venue = folder + "/office"
        try FileManager.default.copyItem(atPath: try FixtureFolder("tags/office").path, toPath: venue)
        let words = [
            "--broker", "mqtt://127.0.0.1:\(port)", "--venue", venue, "--tags", try register(of: Self.tag),
            "--class", "light", "--http", "127.0.0.1:\(page)", "--survey", folder + "/walks",
        ]
        let service = try ServiceProcess(words, command: "track", environment: SurveyRequest.learning)
        try service.waitForError("receiving from")
        let stage = GatewayStage(
            client: try await GatewayClient(port: port), venue: try VenuePacketReader().read(venue).venue)
        try await self.start(stage, service, page: page)
        let first = #"{"tag":"\#(Self.tag)","mapId":1,"x":5,"y":10}"#
        let marked = try await SurveyRequest.post("marks", first, port: page)
        XCTAssertEqual(marked, 200)
        for _ in 0..<4 {
            try await stage.publish(tag: Self.tag, at: MapPoint(x: 7, y: 10), until: service, from: service.told.count)
        }
        for (path, body) in [
            ("marks", #"{"tag":"\#(Self.tag)","mapId":1,"x":9,"y":10}"#),
            ("walks", #"{"tag":"\#(Self.tag)","action":"stop"}"#),
        ] {
            let status = try await SurveyRequest.post(path, body, port: page)
            XCTAssertEqual(status, 200, path)
        }
        // The map is learned while the fleet goes on.
        var adoption = 0
        let start = ContinuousClock.now
        while adoption != 200, start.duration(to: .now) < Bounded.longest {
            try await stage.publish(tag: Self.tag, at: MapPoint(x: 9, y: 10), until: service, from: service.told.count)
            adoption = try await SurveyRequest.post("map", #"{"action":"adopt"}"#, port: page)
        }
        XCTAssertEqual(adoption, 200)
        for _ in 0..<3 {
            try await stage.publish(tag: Self.tag, at: MapPoint(x: 9, y: 10), until: service, from: service.told.count)
        }
        XCTAssertEqual(service.told.count { $0.contains("\"type\":\"present\"") }, 1, "the tag stays present")
        XCTAssertFalse(service.told.contains { $0.contains("\"type\":\"away\"") })
        service.send(SIGKILL)
        XCTAssertEqual(try service.end(), 128 + SIGKILL)
        let adopted = try VenuePacketReader().read(venue).venue
        XCTAssertEqual(adopted.version, 2)
        XCTAssertNotNil(adopted.radioMap)
        let next = try ServiceProcess(words, command: "track", environment: SurveyRequest.learning)
        try next.waitForError("receiving from")
        // The walk gives the map that is in use.
        let restart = ContinuousClock.now
        var state = ""
        while !state.contains(#""figures""#), restart.duration(to: .now) < Bounded.longest {
            state = try await MarkTests.curl(["--silent", "http://127.0.0.1:\(page)/api/v1/survey"])
        }
        XCTAssertTrue(state.contains(#""adopted":true"#), state)
        let back = try await SurveyRequest.post("map", #"{"action":"takeBack"}"#, port: page)
        XCTAssertEqual(back, 200)
        XCTAssertEqual(try VenuePacketReader().read(venue).venue.version, 1)
        next.send(SIGTERM)
        XCTAssertEqual(try next.end(), 0)
    }

    func testASurveyNeedsAPageAndAVenue() throws {
        for words in [["--venue", "Fixtures/tags/office"], ["--rooms", "home.json", "--http", "8080"]] {
            let result = try Tool.run(["track", "--broker", "mqtt://h", "--survey", "walks"] + words)
            XCTAssertEqual(result.status, 2, "\(words)")
            XCTAssertTrue(result.errors.contains("--survey requires --http, and a venue"), result.errors)
        }
    }

    func testAFolderInWhichWalksCannotBeStoredIsAnErrorAtTheStart() throws {
        let file = try temporaryFolder() + "/file"
        try Data().write(to: URL(filePath: file))
        for (folder, status, reason) in [
            ("", Int32(2), "--survey must be a folder path, not ''"), (file, 1, "--survey: \(file)"),
            (file + "/walks", 1, "--survey: \(file)"),
        ] {
            // The time limit ends the command if it starts all the same.
            let result = try Tool.run([
                "track", "--demo", "--seconds", "1", "--http", "127.0.0.1:0", "--survey", folder,
            ])
            XCTAssertEqual(result.status, status, "\(folder): \(result.errors)")
            XCTAssertTrue(result.errors.contains(reason), result.errors)
        }
    }
}
