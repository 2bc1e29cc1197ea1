import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import VenuePackets
import XCTest
@testable import indoorloc

/// Uploads, heartbeats and server settings of `serve`.
final class ServeUploadTests: XCTestCase {
    private func server(_ status: String = "204 No Content") throws -> UploadServer {
        let server = try UploadServer(status)
        addTeardownBlock { server.stop() }
        return server
    }

    private func file(_ text: String) throws -> String {
        let path = try temporaryFolder() + "/secret"
        try SecretText.write(text, to: path)
        return path
    }

    private func walk(_ folder: String) throws -> [String] {
        try ServiceProcess.endlessWalk("one-floor", from: 5) + [
            "--state-directory", folder, "--set", "upload.interval=0.2", "--set", "heartbeat.interval=0.5",
        ]
    }

    /// Positions and detected tags are uploaded on request, and a heartbeat reports the counts at its interval.
    func testBeaconsAndPositionsAreUploadedAndCounted() async throws {
        let server = try server()
        let service = try ServiceProcess(
            walk(try temporaryFolder()) + [
                "--upload-url", server.url + "/records", "--upload-beacons", "--upload-positions",
                "--upload-name", "cart", "--upload-token-file", try file("opensesame\n"),
            ])
        try await server.wait { records in
            ["beacon", "position"].allSatisfy { type in records.contains { $0.type == type } }
        }
        try service.wait(for: "\"type\":\"position\"")
        try service.waitForError("heartbeat: up", from: service.errors.count)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        let requests = Set(server.requests)
        let numbers = requests.flatMap(UploadServer.records).map(\.number)
        XCTAssertEqual(Set(numbers).count, numbers.count, "each belongs to one batch")
        // On a busy machine, an answer may come later than the service waits for it. It reports that, and sends the same
        // batch again.
        if !service.errors.contains(where: { $0.contains("indoorloc: upload: ") }) {
            XCTAssertEqual(requests.count, server.requests.count, "none comes twice where nothing fails")
        }
        for request in server.requests {
            XCTAssertTrue(request.hasPrefix("POST /records ") && request.contains("\"device\":\"cart\""), request)
            XCTAssertTrue(request.contains("Authorization: Bearer opensesame\r\n"), request)
        }
        let heartbeat = try XCTUnwrap(service.errors.last { $0.contains("heartbeat: up") })
        XCTAssertTrue(heartbeat.contains("passes 1, readings "), heartbeat)
        XCTAssertTrue(heartbeat.contains("; upload: "), heartbeat)
        XCTAssertFalse(heartbeat.contains("positions 0"), heartbeat)
    }

    func testADamagedQueueIsSetAsideAndTheServiceBegins() async throws {
        let folder = try temporaryFolder()
        let queue = folder + "/uploads.db"
        let damaged = Data(repeating: 0x2A, count: 9000)
        try damaged.write(to: URL(filePath: queue))
        let server = try server()
        let options = ["--upload-url", server.url, "--upload-beacons"]
        let service = try ServiceProcess(walk(folder) + options)
        try await server.wait { !$0.isEmpty }
        try service.waitForError("\(queue): the upload queue is damaged; moved to \(queue).unusable; an empty one")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        XCTAssertEqual(try Data(contentsOf: URL(filePath: queue + ".unusable")), damaged)
        // A file that the user names may be something else.
        let other = folder + "/photo"
        try damaged.write(to: URL(filePath: other))
        let refused = try ServiceProcess(walk(folder) + options + ["--upload-queue", other])
        XCTAssertEqual(try refused.end(), 1)
        XCTAssertTrue(refused.errors.contains { $0.contains("not an upload queue") }, "\(refused.errors)")
        XCTAssertEqual(try Data(contentsOf: URL(filePath: other)), damaged)
    }

    func testTheNextRunSendsReadingsFromAnOutageEvenAfterAKill() async throws {
        let folder = try temporaryFolder()
        let server = try server("503 Service Unavailable")
        let first = try ServiceProcess(
            walk(folder) + ["--upload-url", server.url, "--upload-beacons", "--upload-queue", folder + "/q.db"])
        try await server.wait { !$0.isEmpty }
        try first.waitForError("indoorloc: upload: ")
        first.send(SIGKILL)
        _ = try first.end()
        let untaken = Set(server.records.map(\.number))
        XCTAssertFalse(untaken.isEmpty)
        let other = try self.server()
        let second = try ServiceProcess(
            walk(folder) + ["--upload-url", other.url, "--upload-beacons", "--upload-queue", folder + "/q.db"])
        try await other.wait { untaken.isSubset(of: $0.map(\.number)) }
        second.send(SIGTERM)
        XCTAssertEqual(try second.end(), 0)
    }

    /// Settings of a server override the defaults, and options override them.
    func testServerSettingsOverrideDefaultsOnlyAndSurviveAnInvalidDocument() async throws {
        let root = try temporaryFolder()
        func serve(_ text: String) throws {
            try Data(text.utf8).write(to: URL(filePath: root + "/device.json"), options: .atomic)
        }
        try serve("{\"heartbeat.interval\": 0.4, \"areaDwel\": 1, \"upload.beacons\": true}")
        let nginx = try NginxServer(root: root, folder: try temporaryFolder())
        // XCTest requires a Sendable block; it runs after the test, when nothing else uses the server.
        nonisolated(unsafe) let stopped = nginx
        addTeardownBlock { stopped.stop() }
        let uploads = try server()
        let service = try ServiceProcess(
            ServiceProcess.endlessWalk("one-floor", from: 5) + [
                "--state-directory", try temporaryFolder(), "--settings-url", nginx.url() + "/device.json",
                "--set", "remote.interval=1", "--set", "upload.interval=0.2", "--upload-url", uploads.url,
            ])
        try service.waitForError("device.json:1: there is no setting areaDwel; did you mean areaDwell?")
        // By default, the heartbeat's interval is a minute, and nothing is uploaded.
        try service.waitForError("heartbeat: up")
        try await uploads.wait { !$0.isEmpty }
        try serve("{\"heartbeat.interval\": ")
        try service.waitForError("the server's earlier settings stay in effect")
        try service.waitForError("heartbeat: up", from: service.errors.count)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        let requests = try nginx.stopAndTellRequests()
        XCTAssertGreaterThan(requests.count, 1)
        XCTAssertEqual(requests.first?.status, 200)
    }

    func testABrokerReceivesTheBatchesUnderTheDevicesTopic() async throws {
        let mosquitto = try broker()
        let (link, events) = MQTTLink.open(
            MQTTBroker(host: "127.0.0.1", port: mosquitto.port), clientID: "reader", will: nil, keepAliveSeconds: 60)
        link.ask(.subscribe("tags/+", .atLeastOnce))
        _ = try await Bounded.wait(for: "the subscription") {
            await events.first { if case .subscribed = $0 { true } else { false } }
        }
        let service = try ServiceProcess(
            walk(try temporaryFolder()) + [
                "--upload-url", "mqtt://127.0.0.1:\(mosquitto.port)/tags", "--upload-beacons", "--upload-name", "cart",
            ])
        let message = try await Bounded.wait(for: "a batch") { () -> MQTTMessage? in
            for await event in events { if case .received(let message) = event { return message } }
            return nil
        }
        XCTAssertEqual(message?.topic, "tags/cart")
        XCTAssertEqual(message?.quality, .atLeastOnce)
        let text = String(decoding: try XCTUnwrap(message).payload, as: UTF8.self)
        XCTAssertTrue(text.hasPrefix("{\"format\":\"indoor-localization-records\",\"version\":1,"), text)
        link.ask(.close)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
    }

    func testInvalidUploadOptionsAreRefused() throws {
        let mqtt = "mqtt://127.0.0.1/tags"
        let secret = ["--upload-beacons", "--upload-token-file", try file("opensesame")]
        for (arguments, words) in [
            (["--upload-url", "http://x.example/y"], "--upload-url requires --upload-beacons, --upload-positions"),
            (["--upload-beacons"], "--upload-beacons requires --upload-url"),
            (["--upload-name", "x"], "--upload-name requires --upload-url"),
            (["--upload-url", "ftp://x", "--upload-beacons"], "--upload-url: "),
            (["--upload-url", "http://x.example"] + secret, "http sends the credentials unencrypted; use https"),
            (["--upload-url", "https://x.example", "--upload-password-file", "f"] + secret, "can't be combined"),
            (["--upload-url", "http://x.example", "--upload-beacons", "--upload-name", "a/b"], "--upload-name: "),
            (["--upload-url", mqtt, "--upload-beacons", "--upload-token-file", "t"], "requires a web server"),
            (
                ["--upload-url", mqtt, "--upload-beacons", "--upload-password-file", "t"],
                "requires a user: mqtt://USER@"
            ),
            (["--upload-url", "mqtt://a:b@x/tags", "--upload-beacons"], "it contains a password"),
            (
                ["--settings-url", "http://x.example/settings.json"],
                "--settings-url: settings over http could be forged"
            ),
            (["--settings-url", "https://x.example/"], "--settings-url must name a document"),
            (["--settings-url", "https://x.example"], "--settings-url must name a document"),
            (["--settings-ca", "x"], "--settings-ca requires --settings-url"),
        ] as [([String], String)] {
            let result = try Tool.run(["serve", "--venue", "Fixtures/office"] + arguments)
            XCTAssertEqual(result.status, 2, "\(arguments)")
            XCTAssertTrue(result.errors.contains(words), result.errors)
        }
    }
}

/// The precedence of a service's settings from options, files and a server.
final class ServiceInputsTests: XCTestCase {
    private func stack(_ file: [(String, JSONValue)]) -> SettingsStack {
        var settings = SettingsStack()
        XCTAssertEqual(settings.load(file.map { SettingsEntry(key: $0.0, value: $0.1) }, from: .file), [])
        settings.apply()
        return settings
    }

    private func inputs(_ file: [(String, JSONValue)], then later: [(String, JSONValue)]) -> ServiceInputs {
        let next = stack(later)
        return ServiceInputs(stack(file), remote: nil) { ServiceInputs.Content(settings: next, geofences: []) }
    }

    private func update(_ entries: [(String, JSONValue)]) -> RemoteSettings.Update {
        .settings(entries.map { SettingsEntry(key: $0.0, value: $0.1, place: "server:1") })
    }

    /// Files override the server, in any order.
    func testReloadedFilesOverrideTheServersSettings() throws {
        var inputs = inputs([("areaDwell", 1)], then: [("memoryTimeout", 7)])
        XCTAssertEqual(inputs.apply(update([("areaDwell", 5), ("memoryTimeout", 6), ("positionInterval", 2)])), [])
        XCTAssertEqual(inputs.settings.resolved.localization.areaDwell, .seconds(1))
        XCTAssertEqual(inputs.settings.resolved.localization.memoryTimeout, .seconds(6))
        XCTAssertEqual(try inputs.reload(), [])
        XCTAssertEqual(inputs.settings.resolved.localization.areaDwell, .seconds(5))
        XCTAssertEqual(inputs.settings.resolved.localization.memoryTimeout, .seconds(7))
        XCTAssertEqual(inputs.settings.resolved.localization.positionInterval, .seconds(2))
        XCTAssertEqual(inputs.apply(update([])), [])
        XCTAssertEqual(inputs.settings.resolved.localization.positionInterval, .milliseconds(500))
    }

    func testAnExpertSettingOfTheServerIsAppliedAndNoted() {
        var inputs = inputs([], then: [])
        XCTAssertEqual(
            inputs.apply(update([("retryPause", 6), ("areaDwell", 3)])),
            ["server:1: retryPause is an expert key, which may change or go in any release"])
        XCTAssertEqual(inputs.settings.resolved.localization.retryPause, .seconds(6))
    }

    func testInvalidServerSettingsAreReportedAndContradictoryOnesRejected() throws {
        var inputs = inputs([], then: [])
        XCTAssertEqual(
            inputs.apply(update([("areaDwel", 5), ("areaDwell", 3)])),
            ["server:1: there is no setting areaDwel; did you mean areaDwell?"])
        XCTAssertEqual(inputs.settings.resolved.localization.areaDwell, .seconds(3))
        let told = inputs.apply(
            update([("scanner.timing.interval", 0.1), ("scanner.timing.window", 0.2), ("areaDwell", 4)]))
        XCTAssertEqual(
            told,
            [
                "server:1: scanner.timing.window must be in [0.0025, 0.1] s, not 0.2",
                "the server's earlier settings stay in effect",
            ])
        XCTAssertEqual(inputs.settings.resolved.localization.areaDwell, .seconds(3))
        _ = try inputs.reload()
        XCTAssertEqual(inputs.settings.resolved.localization.areaDwell, .seconds(3))
    }

    func testAServerFailureIsReportedOnceAndKeepsTheSettings() {
        var inputs = inputs([], then: [])
        _ = inputs.apply(update([("areaDwell", 3)]))
        let failure = RemoteSettings.Update.failure(LocalizationError(code: .network, message: "it is away"))
        XCTAssertEqual(inputs.apply(failure), ["it is away; the server's earlier settings stay in effect"])
        XCTAssertEqual(inputs.apply(failure), [])
        XCTAssertEqual(inputs.settings.resolved.localization.areaDwell, .seconds(3))
        _ = inputs.apply(update([("areaDwell", 3)]))
        XCTAssertEqual(inputs.apply(failure).count, 1, "it was there in between")
    }
}
