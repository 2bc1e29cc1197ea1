import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import ScanRecording
import VenuePackets
import XCTest
@testable import indoorloc

/// Requests of a survey's page.
enum SurveyRequest {
    /// The environment of a process for whose map a test waits.
    static let learning = ["INDOORLOC_LEARNING_PRIORITY": "usual"]

    /// Posts to a path of surveys; returns the status.
    static func post(_ path: String, _ body: String, port: UInt16) async throws -> Int {
        let words = ["--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--data", body]
        let header = ["--header", "Content-Type: application/json"]
        let text = try await MarkTests.curl(words + header + ["http://127.0.0.1:\(port)/api/v1/survey/\(path)"])
        return Int(text) ?? 0
    }

    /// Returns the walks and the radio map.
    static func state(port: UInt16) async throws -> String {
        try await MarkTests.curl(["--silent", "http://127.0.0.1:\(port)/api/v1/survey"])
    }
}

/// A survey with the device that `serve` and `locate` locate: marks over HTTP, kills, and editions of the packet.
final class ServeSurveyTests: XCTestCase {
    /// The words of a service in a copy of the office, with a recorded walk in real time.
    private func words(in folder: String, page: UInt16) throws -> [String] {
        let venue = folder + "/office"
        if !FileManager.default.fileExists(atPath: venue) {
            try FileManager.default.copyItem(atPath: try FixtureFolder("office").path, toPath: venue)
        }
        let replay = try ServiceProcess.endlessWalk("one-floor").dropFirst(2)
        return [
            "--venue", venue, "--state-directory", folder + "/state", "--http", "127.0.0.1:\(page)", "--survey",
            folder + "/walks",
        ] + replay
    }

    /// Starts a walk, which needs a beacon that the device hears.
    private func start(page: UInt16) async throws {
        let start = ContinuousClock.now
        var status = 0
        while status != 200, start.duration(to: .now) < Bounded.longest {
            status = try await SurveyRequest.post("walks", #"{"action":"start"}"#, port: page)
        }
        XCTAssertEqual(status, 200)
    }

    private func wait(page: UInt16, for text: String) async throws -> String {
        let start = ContinuousClock.now
        var state = ""
        while !state.contains(text), start.duration(to: .now) < Bounded.longest {
            state = try await SurveyRequest.state(port: page)
        }
        XCTAssertTrue(state.contains(text), state)
        return state
    }

    private func mark(_ x: Double, _ y: Double, page: UInt16) async throws {
        let status = try await SurveyRequest.post("marks", #"{"mapId":1,"x":\#(x),"y":\#(y)}"#, port: page)
        XCTAssertEqual(status, 200)
    }

    /// Waits for positions, and for the seconds of them: a service that was late prints some at once.
    private func pause(_ service: ServiceProcess, positions: Int) throws {
        let start = ContinuousClock.now
        for _ in 0..<positions { try service.wait(for: "\"position\"", from: service.told.count) }
        try service.wait(forLines: "\"position\"") { start.duration(to: .now) >= .seconds(1.5) }
    }

    func testAWalkIsInTheRecordingAlsoAfterAKill() async throws {
        let (folder, page) = (try temporaryFolder(), try TestPort.free())
        let service = try ServiceProcess(try words(in: folder, page: page))
        try service.wait(for: "\"position\"")
        try await start(page: page)
        try await mark(5, 10, page: page)
        try pause(service, positions: 4)
        try await mark(9, 10, page: page)
        // The file has each mark after some seconds.
        try service.wait(forLines: "\"position\"") { recordedMarks(in: folder + "/walks") >= 2 }
        service.send(SIGKILL)
        XCTAssertEqual(try service.end(), 128 + SIGKILL)
        let walks = try FileManager.default.contentsOfDirectory(atPath: folder + "/walks")
        XCTAssertEqual(walks.count, 1)
        let recording = try SurveyRecording(
            path: folder + "/walks/" + (try XCTUnwrap(walks.first)), strictness: .lenient)
        XCTAssertEqual(recording.waypoints.map(\.point), [MapPoint(x: 5, y: 10), MapPoint(x: 9, y: 10)])
        XCTAssertFalse(recording.sightings.isEmpty)
        let map = folder + "/map.json"
        let result = try Tool.run(
            ["survey", "--venue", folder + "/office", "--output", map] + walks.map { folder + "/walks/" + $0 })
        XCTAssertEqual(result.status, 0, result.errors)
    }

    func testAMapIsAdoptedByTheRunningSessionAndStaysAfterAKill() async throws {
        let (folder, page) = (try temporaryFolder(), try TestPort.free())
        let words = try words(in: folder, page: page)
        let service = try ServiceProcess(words, environment: SurveyRequest.learning)
        try service.wait(for: "\"position\"")
        try await start(page: page)
        try await mark(5, 10, page: page)
        try pause(service, positions: 3)
        try await mark(9, 10, page: page)
        let ended = try await SurveyRequest.post("walks", #"{"action":"stop"}"#, port: page)
        XCTAssertEqual(ended, 200)
        _ = try await wait(page: page, for: #""figures""#)
        let before = service.told.count
        let adopted = try await SurveyRequest.post("map", #"{"action":"adopt"}"#, port: page)
        XCTAssertEqual(adopted, 200)
        _ = try await wait(page: page, for: #""edition":2"#)
        // The same session goes on: it looks for the floor in the new edition, and emits positions.
        try service.wait(for: "\"findFloor\"", from: before)
        try service.wait(for: "\"position\"", from: service.told.count)
        XCTAssertFalse(service.told.contains { $0.contains("\"idle\"") })
        service.send(SIGKILL)
        XCTAssertEqual(try service.end(), 128 + SIGKILL)
        let venue = try VenuePacketReader().read(folder + "/office").venue
        XCTAssertEqual(venue.version, 2)
        XCTAssertNotNil(venue.radioMap)
        let next = try ServiceProcess(words, environment: SurveyRequest.learning)
        let state = try await wait(page: page, for: #""figures""#)
        XCTAssertTrue(state.contains(#""adopted":true"#), state)
        let back = try await SurveyRequest.post("map", #"{"action":"takeBack"}"#, port: page)
        XCTAssertEqual(back, 200)
        XCTAssertEqual(try VenuePacketReader().read(folder + "/office").venue.version, 1)
        next.send(SIGTERM)
        XCTAssertEqual(try next.end(), 0)
    }

    func testASurveyNeedsAPageAndOneVenue() throws {
        for (words, reason) in [
            (["locate", "--venue", "Fixtures/office"], "--survey requires --http"),
            (["serve", "--venue", "Fixtures/office"], "--survey requires --http, and one --venue"),
            (
                ["serve", "--http", "8080", "--venue", "a", "--venue", "b"],
                "--survey requires --http, and one --venue"
            ),
            (["serve", "--http", "8080", "--server", "http://h/"], "--survey requires --http, and one --venue"),
            (["serve", "--http", "8080", "--venue", "a", "--survey", ""], "--survey must be a folder path, not ''"),
        ] {
            let result = try Tool.run(words + (words.contains("--survey") ? [] : ["--survey", "walks"]))
            XCTAssertEqual(result.status, 2, "\(words) \(result.errors)")
            XCTAssertTrue(result.errors.contains(reason), result.errors)
        }
    }

    func testAFolderInWhichWalksCannotBeStoredIsAnErrorAtTheStart() throws {
        let file = try temporaryFolder() + "/file"
        try Data().write(to: URL(filePath: file))
        let result = try Tool.run(
            ["serve", "--seconds", "1", "--http", "127.0.0.1:0", "--survey", file + "/walks"]
                + ServiceProcess.walk("one-floor"))
        XCTAssertEqual(result.status, 1, result.errors)
        XCTAssertTrue(result.errors.contains("--survey: \(file)"), result.errors)
    }

    func testAPacketThatCannotBeWrittenSaysWhyTheMapIsNotAdopted() throws {
        let packet = try VenuePacketReader().read(try FixtureFolder("office").path)
        let place = SurveyOption.place(of: packet, isFromServer: false, hasRadioMap: true, command: "serve")
        XCTAssertEqual(place, .none("--radio-map replaces its own. Start 'serve' without this option."))
        let remote = SurveyOption.place(of: packet, isFromServer: true, hasRadioMap: false, command: "serve")
        guard case .none(let reason) = remote else { return XCTFail("\(remote)") }
        XCTAssertTrue(reason.hasPrefix("It comes from a venue server."), reason)
    }
}
