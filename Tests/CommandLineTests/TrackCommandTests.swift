import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import TagTracking
import VenuePackets
import XCTest
@testable import indoorloc

/// The list of tags of the page's interface.
private struct ListedTags: Decodable {
    struct Tag: Decodable {
        var name: String?
        var registered: Bool
        var position: Place?
    }
    struct Place: Decodable { var label: String? }
    var tags: [Tag]
}

/// The command `track` with a real broker.
final class TrackCommandTests: XCTestCase {
    private let (standing, walking) = ("C3:00:00:12:AB:01", "C3:00:00:12:AB:02")

    private func arguments(port: UInt16, _ more: [String] = []) throws -> [String] {
        let register = more.contains("--tags") ? [] : ["--tags", try self.register(of: standing, walking)]
        let broker = ["--broker", "mqtt://127.0.0.1:\(port)"]
        return broker + ["--venue", try FixtureFolder("tags/office").path] + register + more
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
        try await stage.publish(tag: standing, at: MapPoint(x: 30, y: 6), until: service, from: before)
        try await stage.publish(tag: walking, at: point(step), until: service, from: before)
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
        for step in 0..<5 { try await advance(step, stage, first) }
        // The first of two savings may have begun before the tags were there.
        for _ in 0..<2 {
            let saved = try savedState(in: folder)
            while try savedState(in: folder) == saved { try await advance(4, stage, first) }
        }
        first.send(SIGKILL)
        XCTAssertEqual(try first.end(), 128 + SIGKILL)
        let before = try first.told.map(TrackLine.init)

        let second = try ServiceProcess(words, command: "track")
        try second.waitForError("receiving from")
        XCTAssertTrue(second.errors.contains { $0.contains("2 tags restored") }, "\(second.errors)")
        try await advance(5, stage, second)
        let after = try second.told.map(TrackLine.init)
        let (rest, walk) = (try last(standing, of: after), try last(walking, of: after))
        second.send(SIGTERM)
        XCTAssertEqual(try second.end(), 0)

        let earlier = try last(standing, of: before)
        let jumps = (rest: rest.distance(to: earlier), walk: walk.distance(to: point(5)))
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

    func testATagThatWritesItsBatteryIntoItsMinorIsOneTagByItsMask() async throws {
        let broker = try broker()
        let uuid = try XCTUnwrap(BeaconUUID("B5B182C7-EAB1-4988-AA99-B5C1517008D9"))
        let register = try temporaryFolder() + "/tags.csv"
        try Data("key,name,mask\n\(uuid)-2-4608,Badge,0xFF00\n".utf8).write(to: URL(filePath: register))
        let service = try ServiceProcess(
            try arguments(port: broker.port, ["--tags", register, "--class", "light"]), command: "track")
        try service.waitForError("receiving from")
        let stage = try await stage(port: broker.port)
        let key = "\(uuid)/2/4608"
        let start = ContinuousClock.now
        // Four positions, each after levels that the tag hasn't had before.
        var (level, levels): (UInt16, Int) = (100, 0)
        for _ in 0..<4 {
            let before = service.told.count
            repeat {
                guard start.duration(to: .now) < Bounded.longest else {
                    throw Bounded.Expired(awaited: "a position of \(key) after \(service.told), \(service.errors)")
                }
                let beacon = BeaconIdentity(uuid: uuid, major: 2, minor: 0x1200 + level)
                try await stage.publish(tag: walking, at: MapPoint(x: 30, y: 6), beacon: beacon)
                level = level > 0 ? level - 1 : 100
                levels += 1
            } while !service.prints(key, "\"position\"", from: before, within: 0.2)
        }
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        XCTAssertEqual(Set(try service.told.map(TrackLine.init).map(\.tag)), [key])
        XCTAssertGreaterThan(levels, 3)
    }

    func testTheDemoServesItsTagsAndEndsWithCtrlC() async throws {
        let folder = try temporaryFolder()
        let opened = folder + "/opened"
        // A browser that writes the address down.
        try Data("#!/bin/sh\necho \"$1\" > \(opened)\n".utf8).write(to: URL(filePath: folder + "/xdg-open"))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder + "/xdg-open")
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let service = try ServiceProcess(
            ["--demo", "--open", "--class", "light"], command: "track", environment: ["PATH": folder + ":" + path])
        try service.waitForError("page of the tags: ")
        let line = try XCTUnwrap(service.errors.first { $0.contains("page of the tags: ") })
        let url = try XCTUnwrap(line.split(separator: " ").last.map(String.init))
        let start = ContinuousClock.now
        var tags: [ListedTags.Tag] = []
        func trolleys() -> Int { tags.filter(\.registered).compactMap(\.name).count { $0.hasPrefix("Trolley") } }
        while tags.count(where: { $0.position?.label != nil }) < 45 || trolleys() < 10 {
            guard start.duration(to: .now) < Bounded.longest else {
                throw Bounded.Expired(awaited: "45 tags in rooms after \(tags.count), \(service.errors)")
            }
            let text = try Tool.run(
                ["--silent", url + "api/v1/tags?present=true"], program: "/usr/bin/curl"
            ).output
            tags = try JSONDecoder().decode(ListedTags.self, from: Data(text.utf8)).tags
        }
        XCTAssertLessThanOrEqual(tags.count, 50)
        XCTAssertEqual(trolleys(), 10)
        XCTAssertGreaterThan(tags.count { !$0.registered }, 10)
        let missing = try Tool.run(
            ["--silent", url + "api/v1/register?located=false"], program: "/usr/bin/curl"
        ).output
        XCTAssertTrue(missing.contains("Projector (missing)"), missing)
        var address = ""
        while address.isEmpty, start.duration(to: .now) < Bounded.longest {
            address = (try? String(contentsOfFile: opened, encoding: .utf8)) ?? ""
        }
        XCTAssertEqual(address.trimmingCharacters(in: .whitespacesAndNewlines), url)
        service.send(SIGINT)
        XCTAssertEqual(try service.end(), 0)
        XCTAssertFalse(service.errors.contains { $0.contains("error") || $0.contains("lost") }, "\(service.errors)")
    }

    func testTheDemoRunsInAVenueOfItsUser() throws {
        let service = try ServiceProcess(
            ["--demo", "--venue", try FixtureFolder("tags/office").path, "--class", "light"], command: "track")
        try service.waitForError("tracking in Office with gateways with 32 receivers")
        func tags() throws -> Set<String> { Set(try service.told.map(TrackLine.init).map(\.tag)) }
        try service.wait(forLines: "\"tag\"") { try tags().count > 20 }
        XCTAssertGreaterThan(try tags().count, 20)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
    }

    func testASignalRequestsALineForEachTagWithWhoHearsIt() async throws {
        let broker = try broker()
        let register = try temporaryFolder() + "/tags.csv"
        try Data("key,name\n\(walking),Cart\n\(standing),Lift\n".utf8).write(to: URL(filePath: register))
        let service = try ServiceProcess(
            try arguments(port: broker.port, ["--tags", register, "--class", "light"]), command: "track")
        try service.waitForError("receiving from")
        let stage = try await stage(port: broker.port)
        try await stage.publish(tag: walking, at: point(0), until: service, from: 0)
        service.send(SIGUSR1)
        try service.waitForError("tag \"Lift\" (\(standing)): not heard since the start")
        let line = try XCTUnwrap(service.errors.first { $0.contains("tag \"Cart\" (\(walking)): heard by ") })
        XCTAssertNotNil(
            line.firstMatch(of: #/heard by ground-0[12] -\d+ dBm \d+ s ago, ground-\d\d -\d+ dBm \d+ s ago/#), line)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
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
        // From then on, signals are handled.
        try second.waitForError("receiving from")
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
        try Data(lines.prefix(130).joined(separator: "\n").appending("\n").utf8).write(to: URL(filePath: walk))
        let script = String(loop).replacing("mqtt://localhost", with: "mqtt://127.0.0.1:\(broker.port)")
            .replacing("Fixtures/tags/office-walk.txt", with: walk)
        XCTAssertNotEqual(script, String(loop))
        let service = try ServiceProcess(
            arguments(port: broker.port, ["--tags", root + "/Fixtures/tags/tags.csv"]), command: "track")
        try service.waitForError("receiving from")
        let published = try Tool.run(["-c", "cd '\(root)'; \(script)"], program: "/bin/sh")
        XCTAssertEqual(published.status, 0, published.errors)
        try service.wait(for: "\"Trolley\"", "\"position\"", "\"label\"")
        try service.wait(for: "\"Trolley\"", "\"enterRoom\"")
        // Some positions later, the tag has walked into the corridor.
        try service.wait(for: "\"Trolley\"", "\"sequence\":8,")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        let tracked = try service.told.map(TrackLine.init)
        XCTAssertEqual(Set(tracked.map(\.tag)), ["C3:00:00:12:AB:34"], "one tag, by its address and its beacon")
        XCTAssertEqual(tracked.first?.type, "present")
        let places = tracked.compactMap(\.point)
        XCTAssertGreaterThan(places.count, 5)
        // The walk begins at (2, 10) and goes east.
        let (first, last) = (try XCTUnwrap(places.first), try XCTUnwrap(places.last))
        XCTAssertLessThan(first.distance(to: MapPoint(x: 2, y: 10)), 6)
        XCTAssertGreaterThan(last.x, first.x + 3)
    }

    /// A house of ESPresense-companion in two commands.
    func testTheGatewaysOfESPresenseCompanionLocateItsDevices() async throws {
        let broker = try broker()
        let folder = try temporaryFolder()
        let imported = try Tool.run([
            "venue", "import", "-o", folder + "/house", "--tags", folder + "/tags.csv",
            "Fixtures/espresense/house.yaml",
        ])
        XCTAssertEqual(imported.status, 0, imported.errors)
        let service = try ServiceProcess(
            [
                "--broker", "mqtt://127.0.0.1:\(broker.port)", "--venue", folder + "/house", "--tags",
                folder + "/tags.csv", "--class", "light",
            ], command: "track")
        try service.waitForError("receiving from")
        let client = try await GatewayClient(port: broker.port)
        let start = ContinuousClock.now
        // The names under which the firmware publishes, and an RSSI as in the kitchen.
        while !service.prints("phone:anna", "\"position\"", from: 0, within: 0.2) {
            guard start.duration(to: .now) < Bounded.longest else {
                throw Bounded.Expired(awaited: "a position after \(service.told), \(service.errors)")
            }
            for (room, rssi) in [("kitchen", -55), ("hall", -72), ("living", -80), ("master_bedroom", -85)] {
                let message =
                    #"{"mac":"4f1122334455","id":"phone:anna","name":"Anna's phone","rssi":\#(rssi),"distance":2.1}"#
                try await client.deliver("espresense/devices/phone:anna/\(room)", Array(message.utf8))
            }
        }
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        let place = try XCTUnwrap(service.told.map(TrackLine.init).last { $0.type == "position" }?.point)
        // The node of the kitchen is at x 0.5, y 0.5 from below, on a plan of 8 m.
        XCTAssertLessThan(place.distance(to: MapPoint(x: 0.5, y: 7.5)), 3.5)
        XCTAssertFalse(service.errors.contains { $0.contains("unknown gateway") }, "\(service.errors)")
    }

    func testGatewaysOverHTTPNeedNoBroker() async throws {
        let folder = try temporaryFolder()
        try Data(#"[{"name": "Lost", "when": "silent", "silence": 1, "tags": "Cart"}]"#.utf8)
            .write(to: URL(filePath: folder + "/alerts.json"))
        try Data("key,name\n\(standing),Cart\n\(walking),Lift\n".utf8).write(to: URL(filePath: folder + "/tags.csv"))
        let service = try ServiceProcess(
            [
                "--http", "127.0.0.1:0", "--venue", try FixtureFolder("tags/office").path, "--tags",
                folder + "/tags.csv",
                "--alerts", folder + "/alerts.json", "--class", "light",
            ], command: "track")
        try service.waitForError("page of the tags: ")
        let line = try XCTUnwrap(service.errors.first { $0.contains("page of the tags: ") })
        let url = try XCTUnwrap(line.split(separator: " ").last.map(String.init)) + "api/v1/gateways/"
        func post(_ message: String, to path: String) throws -> String {
            try Tool.run(["--silent", "--data-binary", message, url + path], program: "/usr/bin/curl").output
        }
        // A tag of the register that no gateway has heard is silent, also without a connection to a broker.
        try service.wait(for: #""type":"alert""#, #""state":"raised""#, #""name":"Cart""#)
        let start = ContinuousClock.now
        while !service.prints(walking, "\"position\"", from: 0, within: 0.2) {
            guard start.duration(to: .now) < Bounded.longest else {
                throw Bounded.Expired(awaited: "a position after \(service.told), \(service.errors)")
            }
            let message =
                #"[{"transmitterId":"c3000012ab02","transmitterIdType":2,"rssiSignature":["#
                + ["ground-01", "ground-02", "ground-09"].enumerated().map { index, name in
                    #"{"receiverId":"\#(name)","rssi":\#(-55 - 9 * index)}"#
                }.joined(separator: ",") + "]}]"
            XCTAssertEqual(try post(message, to: "raddec"), "")
        }
        XCTAssertTrue(try post("[{}]", to: "minewLong/office").hasPrefix(#"{"error":""#))
        try service.waitForError("http/minewLong/office from 127.0.0.1: ")
        let metrics = try Tool.run(
            ["--silent", url.replacing("api/v1/gateways/", with: "metrics")], program: "/usr/bin/curl"
        ).output
        XCTAssertTrue(metrics.contains(#"indoorloc_intake_invalid_messages_total{format="minewLong"} 1"#), metrics)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
    }

    func testTheFormatOfAllTopicsIsNotThatOfGatewaysOverHTTP() {
        let formats = TrackPage.formats(with: [TopicFormat(filter: "#", format: .minewLong)])
        for (topic, format) in [
            ("http/raddec", .raddec), ("http/raddec/office", .raddec), ("gateways/office", .minewLong),
        ] as [(String, GatewayFormat)] {
            XCTAssertEqual(formats.first { $0.matches(topic) }?.format, format, topic)
        }
    }

    func testAVenueWithoutReceiversIsRefused() throws {
        let result = try Tool.run(["track", "--broker", "mqtt://127.0.0.1:9", "--venue", "Fixtures/office"])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(
            result.errors,
            "indoorloc: Fixtures/office: the venue has no receivers; add the gateways to its beacons, with \"role\": "
                + "\"receiver\" and the \"id\" that each reports\n")
    }

    /// The message of the usage error for options.
    private static func refusal(of words: [String]) -> String {
        do {
            _ = try TrackCommand(ParsedArguments(words, syntax: TrackCommand.syntax))
            return "accepted"
        } catch let error as UsageError {
            return error.message
        } catch {
            return "\(error)"
        }
    }

    func testInvalidOptionsAreUsageErrors() throws {
        let venue = ["--venue", "Fixtures/tags/office"]
        let both = venue + ["--broker", "mqtt://h"]
        let cases: [(words: [String], message: String)] = [
            (venue, "--broker is missing"),
            (["--demo", "--tags", "x.csv"], "--demo has its own tags and gateways: --tags has no effect"),
            (
                ["--demo", "--home-assistant"],
                "--output-prefix, --home-assistant and --espresense-companion require --broker"
            ),
            (
                venue + ["--http", "8080", "--home-assistant"],
                "--output-prefix, --home-assistant and --espresense-companion require --broker"
            ),
            (venue + ["--http", "8080", "--topic", "a"], "--topic requires --broker"),
            (both + ["--open"], "--open requires --http or --demo"),
            (["--broker", "mqtt://h"], "--venue is missing"),
            (venue + ["--broker", "h"], "--broker: 'h' is not a valid address"),
            (both + ["--topic", "a/#/b"], "--topic: 'a/#/b' is not a valid topic filter"),
            (both + ["--topic", "a=b"], "--topic: 'a=b' is not a valid topic filter"),
            (both + ["--unknown", "some"], "--unknown must be all, none, or UUIDs"),
            (both + ["--class", "heavy"], "--class must be light or standard, not 'heavy'"),
            (both + ["--state", ""], "--state must be a folder path"),
            (both + ["--output-prefix", "a/#"], "--output-prefix: 'a/#' is not a valid"),
            (both + ["--broker-ca", "x"], "--broker-ca requires an address that begins"),
        ]
        for (words, message) in cases {
            let text = Self.refusal(of: words)
            XCTAssertTrue(text.hasPrefix(message), "\(message): \(text)")
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
