import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

@testable import indoorloc

/// The command `track` with a real broker.
final class TrackCommandTests: XCTestCase {
    private let (standing, walking) = ("C3:00:00:12:AB:01", "C3:00:00:12:AB:02")

    private func arguments(port: UInt16, _ more: [String] = []) throws -> [String] {
        ["--broker", "mqtt://127.0.0.1:\(port)", "--venue", try FixtureFolder("tags/office").path] + more
    }

    private func stage(port: UInt16) async throws -> GatewayStage {
        GatewayStage(
            client: try await GatewayClient(port: port),
            venue: try VenuePacketReader().read(FixtureFolder("tags/office").path).venue)
    }

    /// The point of the walking tag after a number of steps.
    private func point(_ step: Int) -> MapPoint { MapPoint(x: 4 + 1.0 * Double(step), y: 10) }

    /// Publishes the readings of both tags, and waits for the next position of each.
    private func advance(_ step: Int, _ stage: GatewayStage, _ service: ServiceProcess) async throws {
        let before = service.told.count
        try await stage.publish(tag: standing, at: MapPoint(x: 30, y: 6))
        try await stage.publish(tag: walking, at: point(step))
        for tag in [standing, walking] { try service.wait(for: tag, "\"position\"", from: before) }
    }

    private func last(_ tag: String, of lines: [TrackLine]) throws -> MapPoint {
        try XCTUnwrap(lines.last { $0.tag == tag && $0.type == "position" }?.point, tag)
    }

    func testTagsContinueWhereTheyWereAfterAKill() async throws {
        let broker = try broker()
        let folder = try temporaryFolder()
        let words = try arguments(port: broker.port, ["--state", folder, "--class", "light"])
        let stage = try await stage(port: broker.port)
        let first = try ServiceProcess(words, command: "track")
        try first.waitForError("receiving from")
        for step in 0..<9 { try await advance(step, stage, first) }
        first.send(SIGKILL)
        XCTAssertEqual(try first.end(), 128 + SIGKILL)
        let before = try first.told.map(TrackLine.init)

        let second = try ServiceProcess(words, command: "track")
        try second.waitForError("receiving from")
        XCTAssertTrue(second.errors.contains { $0.contains("2 tags restored") }, "\(second.errors)")
        try await advance(9, stage, second)
        let after = try second.told.map(TrackLine.init)
        let (rest, walk) = (try last(standing, of: after), try last(walking, of: after))
        second.send(SIGTERM)
        XCTAssertEqual(try second.end(), 0)

        let jumps = (
            rest: rest.distance(to: try last(standing, of: before)), walk: walk.distance(to: point(9))
        )
        print("after the kill: the standing tag moved \(jumps.rest) m; the walking tag is \(jumps.walk) m off")
        XCTAssertLessThan(jumps.rest, 2)
        XCTAssertLessThan(jumps.walk, 4)
        XCTAssertEqual(after.filter { $0.type == "present" }.count, 0, "both tags were present before")
        let epochs = (try XCTUnwrap(before.map(\.epoch).max()), try XCTUnwrap(after.map(\.epoch).min()))
        XCTAssertLessThan(epochs.0, epochs.1)
        for lines in [before, after] {
            for tag in [standing, walking] {
                let sequences = lines.filter { $0.tag == tag }.map(\.sequence)
                XCTAssertTrue(zip(sequences, sequences.dropFirst()).allSatisfy { $0 < $1 }, "\(tag): \(sequences)")
            }
        }
    }

    func testASignalEndsTheCommandAndTheStateIsOfTheLastLine() async throws {
        let broker = try broker()
        let folder = try temporaryFolder()
        let words = try arguments(port: broker.port, ["--state", folder, "--class", "light"])
        let stage = try await stage(port: broker.port)
        let first = try ServiceProcess(words, command: "track")
        try first.waitForError("receiving from")
        let other = try Tool.run(["track"] + words)
        XCTAssertEqual(other.status, 1)
        XCTAssertTrue(other.errors.contains("is in use by another process"), other.errors)
        try await advance(0, stage, first)
        first.send(SIGTERM)
        XCTAssertEqual(try first.end(), 0)
        let second = try ServiceProcess(words, command: "track")
        try second.waitForError("2 tags restored")
        second.send(SIGINT)
        XCTAssertEqual(try second.end(), 0)
    }

    /// The sequence of the page "Tracking tags", with its own command line.
    func testTheWalkOfTheDocumentationIsLocated() async throws {
        let broker = try broker()
        let root = try Checkout.root().path
        let page = String(
            decoding: try bytes("Sources/IndoorLocalization/IndoorLocalization.docc/TrackingTags.md"), as: UTF8.self)
        let loop = try XCTUnwrap(page.split(separator: "\n").first { $0.contains("while read -r") })
        // The first seconds of the walk are enough.
        let walk = try temporaryFolder() + "/office-walk.txt"
        let lines = String(decoding: try bytes("Fixtures/tags/office-walk.txt"), as: UTF8.self).split(separator: "\n")
        try Data(lines.prefix(150).joined(separator: "\n").appending("\n").utf8).write(to: URL(filePath: walk))
        let script = loop.replacing("mqtt://localhost", with: "mqtt://127.0.0.1:\(broker.port)")
            .replacing("Fixtures/tags/office-walk.txt", with: walk)
        XCTAssertNotEqual(script, String(loop))
        let service = try ServiceProcess(
            arguments(port: broker.port, ["--tags", root + "/Fixtures/tags/tags.csv"]), command: "track")
        try service.waitForError("receiving from")
        let published = try Tool.run(["-c", "cd '\(root)'; \(script)"], program: "/bin/sh")
        XCTAssertEqual(published.status, 0, published.errors)
        try service.wait(for: "\"Trolley\"", "\"position\"", "\"label\"")
        try service.wait(for: "\"Trolley\"", "\"enterRoom\"")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        let tracked = try service.told.map(TrackLine.init)
        XCTAssertEqual(Set(tracked.map(\.tag)), ["C3:00:00:12:AB:34"], "one tag, by its address and its beacon")
        XCTAssertEqual(tracked.first?.type, "present")
        XCTAssertGreaterThan(tracked.filter { $0.type == "position" }.count, 5)
    }

    func testAVenueWithoutReceiversIsRefused() throws {
        let result = try Tool.run(["track", "--broker", "mqtt://127.0.0.1:9", "--venue", "Fixtures/office"])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(
            result.errors,
            "indoorloc: Fixtures/office: the venue has no receivers; add the gateways to its beacons, with \"role\": "
                + "\"receiver\" and the \"id\" that each reports\n")
    }

    func testInvalidOptionsAreUsageErrors() throws {
        let venue = ["--venue", "Fixtures/tags/office"]
        for (words, message) in [
            (venue, "--broker is missing"),
            (["--broker", "mqtt://h"], "--venue is missing"),
            (venue + ["--broker", "h"], "--broker: 'h' is not a valid address"),
            (venue + ["--broker", "mqtt://h", "--topic", "a/#/b"], "--topic: 'a/#/b' is not a valid topic filter"),
            (venue + ["--broker", "mqtt://h", "--topic", "a=b"], "--topic: 'a=b' is not a valid topic filter"),
            (venue + ["--broker", "mqtt://h", "--unknown", "some"], "--unknown must be all, none, or UUIDs"),
            (venue + ["--broker", "mqtt://h", "--class", "heavy"], "--class must be light or standard, not 'heavy'"),
            (venue + ["--broker", "mqtt://h", "--state", ""], "--state must be a folder path"),
            (venue + ["--broker", "mqtt://h", "--output-prefix", "a/#"], "--output-prefix: 'a/#' is not a valid"),
            (venue + ["--broker", "mqtt://h", "--broker-ca", "x"], "--broker-ca requires an address that begins"),
        ] {
            XCTAssertThrowsError(try TrackCommand(ParsedArguments(words, syntax: TrackCommand.syntax)), message) {
                let text = ($0 as? UsageError)?.message ?? "\($0)"
                XCTAssertTrue(text.hasPrefix(message), text)
            }
        }
    }

    func testAnInvalidRegisterIsReportedWithItsLine() throws {
        let file = try temporaryFolder() + "/tags.csv"
        try Data("key,class\nC3:00:00:12:AB:34,heavy\n".utf8).write(to: URL(filePath: file))
        let result = try Tool.run([
            "track", "--broker", "mqtt://127.0.0.1:9", "--venue", "Fixtures/tags/office", "--tags", file,
        ])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.hasPrefix("indoorloc: --tags \(file): line 2, class"), result.errors)
    }
}
