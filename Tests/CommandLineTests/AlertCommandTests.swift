import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import TagTrackingService
import VenuePackets
import XCTest
@testable import indoorloc

/// The alerts of `track` with a real broker and a web server.
final class AlertCommandTests: XCTestCase {
    private static let tag = "C3:00:00:12:AB:01"
    private static let key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private let (workshop, cafe) = (MapPoint(x: 13, y: 4), MapPoint(x: 6, y: 15))

    /// A client that collects all messages of the outputs.
    private struct Collector: Sendable {
        private let reader: OutputReader
        private let messages = WatchedState<[MQTTMessage]>([])

        init(port: UInt16) async throws {
            reader = try await OutputReader(
                port: port,
                [
                    "site/tags/+/alerts", "site/tags/+/alerts/+", "site/tags/+/homeassistant/alerts",
                    "homeassistant/event/#",
                ])
            Task { [reader, messages] in
                for await message in reader.messages { messages.update { $0.append(message) } }
            }
        }

        func wait(
            for awaited: String, _ condition: @escaping @Sendable ([MQTTMessage]) -> Bool
        ) async throws -> [MQTTMessage] {
            let messages = messages
            try await Bounded.wait(for: awaited) { try await messages.wait(until: condition) }
            return messages.value
        }

        func close() { reader.close() }
    }

    /// A line with an alert.
    private struct Line: Decodable, Equatable {
        var id: String
        var alert: String
        var state: String
        var rule: String
        var when: String
        var area: String?
        var tag: String
        var name: String?
    }

    private func alerts(_ service: ServiceProcess) throws -> [Line] {
        try service.told.filter { $0.hasPrefix(#"{"type":"alert""#) }.map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
    }

    private static func header(_ name: String, of request: String) -> String? {
        request.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name + ": ") }
            .map { String($0.dropFirst(name.count + 2)) }
    }

    private func words(port: UInt16, folder: String, rules: String) throws -> [String] {
        try Data(rules.utf8).write(to: URL(filePath: folder + "/alerts.json"))
        try Data("key,name\n\(Self.tag),Cart\n".utf8).write(to: URL(filePath: folder + "/tags.csv"))
        return [
            "--broker", "mqtt://127.0.0.1:\(port)", "--venue", try FixtureFolder("tags/office").path, "--class",
            "light",
            "--tags", folder + "/tags.csv", "--alerts", folder + "/alerts.json", "--state", folder + "/state",
        ]
    }

    private func stage(port: UInt16) async throws -> GatewayStage {
        GatewayStage(
            client: try await GatewayClient(port: port),
            venue: try VenuePacketReader().read(FixtureFolder("tags/office").path).venue)
    }

    /// Publishes readings of the tag at a point until the program has printed an alert in a state.
    private func publish(
        _ stage: GatewayStage, at point: MapPoint, until state: String, _ service: ServiceProcess
    ) async throws {
        let before = service.told.count
        let start = ContinuousClock.now
        while !service.prints(#""type":"alert""#, "\"\(state)\"", from: before, within: 0.1) {
            guard start.duration(to: .now) < Bounded.longest else {
                throw Bounded.Expired(awaited: "\(state) after \(service.told.suffix(5)), \(service.errors)")
            }
            try await stage.publish(tag: Self.tag, at: point)
        }
    }

    private let rules = """
        [{"name": "Cart in cafe", "when": "enters", "room": "Cafe", "tags": "Cart", "after": 1}]
        """

    func testAnAlertReachesBrokerHomeAssistantAndWebhookAndLastsOverAKill() async throws {
        let port = try broker().port
        let folder = try temporaryFolder()
        let isRefusing = WatchedState(false)
        let arrived = WatchedState<Set<String>>([])
        let server = try RudeServer { _, request in
            arrived.update { _ = $0.insert(Self.header("webhook-id", of: request) ?? "") }
            return .with("HTTP/1.1 \(isRefusing.value ? "503 Unavailable" : "204 No Content")\nContent-Length: 0")
        }
        defer { server.stop() }
        try Data((Self.key + "\n").utf8).write(to: URL(filePath: folder + "/key"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder + "/key")
        let words =
            try words(port: port, folder: folder, rules: rules) + [
                "--output-prefix", "site", "--home-assistant", "--alert-webhook", server.url + "/hook", "--alert-key",
                folder + "/key",
            ]
        let collector = try await Collector(port: port)
        let first = try ServiceProcess(words, command: "track")
        try first.waitForError("receiving from")
        let stage = try await stage(port: port)
        try await publish(stage, at: workshop, first, seconds: 2)
        XCTAssertEqual(try alerts(first), [])
        try await publish(stage, at: cafe, until: "raised", first)
        let raised = try XCTUnwrap(alerts(first).first)
        XCTAssertEqual(
            raised,
            Line(
                id: raised.id, alert: raised.id, state: "raised", rule: "Cart in cafe", when: "enters", area: "Cafe",
                tag: Self.tag, name: "Cart"))

        let state = "site/tags/\(Self.tag)/alerts/Cart%20in%20cafe"
        let messages = try await collector.wait(for: "the messages of the alert") { messages in
            messages.contains { $0.topic == state && !$0.payload.isEmpty }
                && messages.contains { $0.topic.hasSuffix("/alerts") && $0.topic.hasPrefix("site/tags/C3") }
                && messages.contains { $0.topic.hasSuffix("/homeassistant/alerts") }
                && messages.contains { $0.topic.hasPrefix("homeassistant/event/") && !$0.payload.isEmpty }
        }
        let events = try messages.filter { $0.topic.hasSuffix("/homeassistant/alerts") }.map {
            try XCTUnwrap(JSONSerialization.jsonObject(with: Data($0.payload)) as? [String: Any])
        }
        XCTAssertEqual(events.map { $0["event_type"] as? String }, ["enters"])

        try await Bounded.wait(for: "the webhook") { try await arrived.wait { !$0.isEmpty } }
        let request = try XCTUnwrap(server.requests.first)
        XCTAssertEqual(Self.header("webhook-id", of: request), raised.id)
        let body = Array((request.components(separatedBy: "\r\n\r\n").last ?? "").utf8)
        let time = try XCTUnwrap(Self.header("webhook-timestamp", of: request).flatMap { Int64($0) })
        XCTAssertEqual(
            Self.header("webhook-signature", of: request),
            WebhookKey(Self.key)?.signature(of: body, id: raised.id, time: time))
        XCTAssertLessThan(abs(Double(time) - Date.now.timeIntervalSince1970), Tool.bound)

        // The end of the alert waits on disk for the server while the program is killed.
        isRefusing.update { $0 = true }
        try await publish(stage, at: workshop, until: "cleared", first)
        let cleared = try XCTUnwrap(alerts(first).last)
        XCTAssertEqual(cleared.alert, raised.id)
        try await publish(stage, at: cafe, until: "raised", first)
        let again = try XCTUnwrap(alerts(first).last)
        // The place of the tag is saved after the alert. The first of two savings may have begun before.
        for _ in 0..<2 { try await publish(stage, at: cafe, untilSavedIn: folder + "/state", first) }
        first.send(SIGKILL)
        XCTAssertEqual(try first.end(), 128 + SIGKILL)
        isRefusing.update { $0 = false }

        let second = try ServiceProcess(words, command: "track")
        try second.waitForError("receiving from")
        try await Bounded.wait(for: "the webhook") { try await arrived.wait { $0.count == 3 } }
        try await publish(stage, at: cafe, second, seconds: 3)
        XCTAssertEqual(try alerts(second), [], "the alert lasts, and isn't raised again")
        try await publish(stage, at: workshop, until: "cleared", second)
        XCTAssertEqual(try alerts(second).map(\.alert), [again.id])
        second.send(SIGTERM)
        XCTAssertEqual(try second.end(), 0)
        let ids = server.requests.compactMap { Self.header("webhook-id", of: $0) }
        XCTAssertEqual(ids.first, raised.id)
        XCTAssertTrue(ids.contains(cleared.id) && ids.contains(again.id), "\(ids)")
        collector.close()
        stage.client.close()
    }

    /// Publishes readings of the tag at a point until the program has saved its tags.
    private func publish(
        _ stage: GatewayStage, at point: MapPoint, untilSavedIn folder: String, _ service: ServiceProcess
    ) async throws {
        // The program writes this file last when it saves.
        func places() throws -> Data? { try savedState(in: folder)["places.jsonl"] }
        let (saved, start) = (try places(), ContinuousClock.now)
        while try places() == saved {
            guard start.duration(to: .now) < Bounded.longest else { throw Bounded.Expired(awaited: "a saved state") }
            try await stage.publish(tag: Self.tag, at: point, until: service, from: service.told.count)
        }
    }

    /// Publishes readings of the tag at a point for some seconds.
    private func publish(
        _ stage: GatewayStage, at point: MapPoint, _ service: ServiceProcess, seconds: Double
    ) async throws {
        let start = ContinuousClock.now
        while start.duration(to: .now) < .seconds(seconds) {
            let before = service.told.count
            try await stage.publish(tag: Self.tag, at: point, until: service, from: before)
        }
    }

    func testRulesAreReadAgainAndAnInvalidFileChangesNothing() async throws {
        let port = try broker().port
        let folder = try temporaryFolder()
        let service = try ServiceProcess(
            try words(
                port: port, folder: folder,
                rules: #"[{"name": "A", "when": "enters", "room": "Lab", "tags": "*", "after": 0}]"#),
            command: "track")
        try service.waitForError("receiving from")
        let file = URL(filePath: folder + "/alerts.json")
        try Data(#"[{"name": "A", "when": "enters", "room": "Caffe", "tags": "*"}]"#.utf8).write(to: file)
        service.send(SIGHUP)
        try service.waitForError(
            "line 1, room: the venue has no room 'Caffe'; did you mean 'Cafe'?; the earlier rules stay in use")
        try Data(rules.utf8).write(to: file)
        service.send(SIGHUP)
        try service.waitForError("read again, 1 rule")
        let stage = try await stage(port: port)
        try await publish(stage, at: cafe, until: "raised", service)
        XCTAssertEqual(try alerts(service).map(\.rule), ["Cart in cafe"])
        // The tag leaves the register, and its alert ends.
        try Data("key,name\nC3:00:00:12:AB:02,Lift\n".utf8).write(to: URL(filePath: folder + "/tags.csv"))
        service.send(SIGHUP)
        try service.waitForError("rule 'Cart in cafe', tags: the register has no tag 'Cart'")
        try service.wait(for: #""state":"cleared""#, #""reason":"tagRemoved""#)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        stage.client.close()
    }

    func testAStartWithoutRulesEndsTheAlertsOfEarlierStarts() async throws {
        let port = try broker().port
        let folder = try temporaryFolder()
        let words =
            try words(port: port, folder: folder, rules: rules) + ["--output-prefix", "site", "--home-assistant"]
        let collector = try await Collector(port: port)
        let first = try ServiceProcess(words, command: "track")
        try first.waitForError("receiving from")
        let stage = try await stage(port: port)
        try await publish(stage, at: cafe, until: "raised", first)
        first.send(SIGTERM)
        XCTAssertEqual(try first.end(), 0)
        stage.client.close()
        let state = "site/tags/\(Self.tag)/alerts/Cart%20in%20cafe"
        _ = try await collector.wait(for: "the alert") { $0.contains { $0.topic == state && !$0.payload.isEmpty } }
        let file = try XCTUnwrap(words.firstIndex(of: "--alerts"))
        let second = try ServiceProcess(
            words.enumerated().filter { $0.offset != file && $0.offset != file + 1 }.map(\.element), command: "track")
        _ = try await collector.wait(for: "the end of alert and entity") { messages in
            messages.contains { $0.topic == state && $0.payload.isEmpty }
                && messages.last { $0.topic.hasPrefix("homeassistant/event/") }?.payload.isEmpty == true
        }
        // The line may be read later than the messages.
        try second.wait(for: #""type":"alert""#, #""state":"cleared""#)
        XCTAssertEqual(try alerts(second).map(\.state), ["cleared"])
        second.send(SIGTERM)
        XCTAssertEqual(try second.end(), 0)
        collector.close()
    }

    func testWithoutAStateTheMessagesOfAlertsEndWithTheCommand() async throws {
        let port = try broker().port
        let folder = try temporaryFolder()
        var words = try words(port: port, folder: folder, rules: rules) + ["--output-prefix", "site"]
        let state = try XCTUnwrap(words.firstIndex(of: "--state"))
        words.removeSubrange(state...state + 1)
        let collector = try await Collector(port: port)
        let service = try ServiceProcess(words, command: "track")
        try service.waitForError("receiving from")
        let stage = try await stage(port: port)
        try await publish(stage, at: cafe, until: "raised", service)
        let topic = "site/tags/\(Self.tag)/alerts/Cart%20in%20cafe"
        _ = try await collector.wait(for: "the alert") { $0.contains { $0.topic == topic && !$0.payload.isEmpty } }
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        _ = try await collector.wait(for: "its end") { $0.contains { $0.topic == topic && $0.payload.isEmpty } }
        collector.close()
        stage.client.close()
    }

    func testATagThatTheRegisterDoesNotHaveIsAWarningAtTheStart() throws {
        let folder = try temporaryFolder()
        let port = try broker().port
        let service = try ServiceProcess(
            try words(port: port, folder: folder, rules: rules.replacing(#""tags": "Cart""#, with: #""tags": "Crat""#)),
            command: "track")
        try service.waitForError("rule 'Cart in cafe', tags: the register has no tag 'Crat'; did you mean 'Cart'?")
        try service.waitForError("receiving from")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
    }

    func testRulesThatFailedBecauseOfTheRegisterAreReadAgainAfterIt() throws {
        let folder = try temporaryFolder()
        let service = try ServiceProcess(
            try words(port: try broker().port, folder: folder, rules: rules), command: "track")
        try service.waitForError("receiving from")
        let tags = URL(filePath: folder + "/tags.csv")
        try Data("key,name\n".utf8).write(to: tags)
        service.send(SIGHUP)
        try service.waitForError("tags.csv: read again, 0 tags")
        try Data(#"[{"name": "A", "when": "silent", "silence": 60, "tags": "*"}]"#.utf8)
            .write(to: URL(filePath: folder + "/alerts.json"))
        try service.waitForError("a rule for silence needs a register (--tags)")
        let before = service.errors.count
        try Data("key,name\n\(Self.tag),Cart\n".utf8).write(to: tags)
        try service.waitForError("tags.csv: read again, 1 tag")
        try service.waitForError("alerts.json: read again, 1 rule", from: before)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
    }

    func testEachOfSeveralReadersGetsTheContentOnce() throws {
        let reads = WatchedState(0)
        let file = ReloadedFile(try temporaryFolder() + "/none", option: "tags", noun: "register", 0) {
            reads.update { reads in
                reads += 1
                return reads
            }
        } count: {
            "\($0)"
        }
        var first: Int?
        var second: Int?
        XCTAssertEqual(file.content(after: &first), 0)
        XCTAssertNil(file.content(after: &first))
        XCTAssertTrue(file.reload())
        XCTAssertEqual(file.content(after: &first), 1)
        XCTAssertEqual(file.content(after: &second), 1)
        XCTAssertNil(file.content(after: &first))
        XCTAssertNil(file.content(after: &second))
    }

    func testContentThatIsWrittenDuringAReadIsKept() throws {
        let (reading, reads) = (WatchedState<ReloadedFile<Int>?>(nil), WatchedState(0))
        let file = ReloadedFile(try temporaryFolder() + "/none", option: "rooms", noun: "training", 0) {
            reads.update { $0 += 1 }
            guard reads.value == 1 else { return 7 }
            // The first read has the old content when this process writes another one.
            reading.value?.wrote(7)
            return 0
        } count: {
            "\($0)"
        }
        reading.update { $0 = file }
        XCTAssertTrue(file.reload())
        XCTAssertEqual(file.current, 7)
        XCTAssertEqual(reads.value, 2)
        reading.update { $0 = nil }
    }

    func testAFileThatCouldBeUsedIsNotReadAgainAfterAnotherOne() throws {
        struct Invalid: Error {}
        let (isValid, reads) = (WatchedState(true), WatchedState(0))
        let file = ReloadedFile(try temporaryFolder() + "/none", option: "alerts", noun: "rules", 0) {
            reads.update { $0 += 1 }
            guard isValid.value else { throw Invalid() }
            return reads.value
        } count: {
            "\($0)"
        }
        file.reloadAfterFailure()
        XCTAssertEqual(reads.value, 0)
        isValid.update { $0 = false }
        XCTAssertFalse(file.reload())
        isValid.update { $0 = true }
        file.reloadAfterFailure()
        XCTAssertEqual(file.take(), 2)
        file.reloadAfterFailure()
        XCTAssertNil(file.take())
    }

    func testTheDemoRaisesAlerts() throws {
        let folder = try temporaryFolder()
        try Data(
            #"""
            [{"name": "Gone", "when": "silent", "silence": 10, "tags": "Toolbox *"},
             {"name": "On the ground", "when": "enters", "map": "Ground floor", "tags": "Trolley *", "after": 1}]
            """#.utf8
        ).write(to: URL(filePath: folder + "/alerts.json"))
        let service = try ServiceProcess(
            ["--demo", "--class", "light", "--alerts", folder + "/alerts.json"], command: "track")
        for rule in ["Gone", "On the ground"] {
            try service.wait(for: #""type":"alert""#, #""rule":"\#(rule)""#)
        }
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        let lines = try alerts(service)
        XCTAssertEqual(lines.filter { $0.rule == "Gone" }.map(\.name), ["Toolbox (missing)"])
        XCTAssertFalse(lines.filter { $0.rule == "On the ground" }.isEmpty, "\(lines)")
        XCTAssertTrue(lines.allSatisfy { $0.rule == "Gone" || $0.name?.hasPrefix("Trolley ") == true }, "\(lines)")
    }

    func testInvalidOptionsAreReported() throws {
        let folder = try temporaryFolder()
        let words = try words(port: 1, folder: folder, rules: #"[{"name": "A", "when": "enters"}]"#)
        let cases: [([String], String)] = [
            (words, "--alerts \(folder)/alerts.json: line 1, tags: a rule needs tags"),
            (["--demo", "--alert-webhook", "https://example.org"], "--alert-webhook requires --alerts"),
            (
                ["--demo", "--alerts", folder + "/alerts.json", "--alert-key", "x"],
                "--alert-key requires --alert-webhook"
            ),
            (
                ["--demo", "--alerts", folder + "/alerts.json", "--alert-webhook", "https://example.org"],
                "--alert-webhook requires --state, where alerts wait for the server"
            ),
            (words + ["--alert-webhook", "http://example.org"], "--alert-webhook: http would send the places of tags"),
            (
                words + ["--alert-webhook", "https://example.org", "--alert-key", folder + "/none"],
                "--alert-webhook: --alert-key"
            ),
        ]
        for (words, expected) in cases {
            let result = try Tool.run(["track"] + words)
            XCTAssertNotEqual(result.status, 0, "\(words)")
            XCTAssertTrue(result.errors.contains(expected), "\(words): \(result.errors)")
        }
    }
}
