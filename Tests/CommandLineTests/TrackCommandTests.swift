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
        var level: UInt16 = 100
        for _ in 0..<4 {
            let before = service.told.count
            repeat {
                guard start.duration(to: .now) < Bounded.longest else {
                    throw Bounded.Expired(awaited: "a position of \(key) after \(service.told), \(service.errors)")
                }
                let beacon = BeaconIdentity(uuid: uuid, major: 2, minor: 0x1200 + level)
                try await stage.publish(tag: walking, at: MapPoint(x: 30, y: 6), beacon: beacon)
                level = level > 0 ? level - 1 : 100
            } while !service.prints(key, "\"position\"", from: before, within: 0.2)
        }
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        XCTAssertEqual(Set(try service.told.map(TrackLine.init).map(\.tag)), [key])
        XCTAssertLessThan(level, 97)
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
        while tags.count(where: { $0.position?.label != nil }) < 45 {
            guard start.duration(to: .now) < Bounded.longest else {
                throw Bounded.Expired(awaited: "45 tags in rooms after \(tags.count), \(service.errors)")
            }
            let text = try Tool.run(
                ["--silent", url + "api/v1/tags?present=true"], program: "/usr/bin/curl"
            ).output
            tags = try JSONDecoder().decode(ListedTags.self, from: Data(text.utf8)).tags
        }
        XCTAssertLessThanOrEqual(tags.count, 50)
        XCTAssertEqual(tags.filter(\.registered).compactMap(\.name).filter { $0.hasPrefix("Trolley") }.count, 10)
        XCTAssertGreaterThan(tags.count { !$0.registered }, 10)
        let missing = try Tool.run(
            ["--silent", url + "api/v1/register?located=false"], program: "/usr/bin/curl"
        ).output
        XCTAssertTrue(missing.contains("Projector (missing)"), missing)
        XCTAssertEqual(
            try String(contentsOfFile: opened, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines), url)
        service.send(SIGINT)
        XCTAssertEqual(try service.end(), 0)
        XCTAssertFalse(service.errors.contains { $0.contains("error") || $0.contains("lost") }, "\(service.errors)")
    }

    func testTheDemoRunsInAVenueOfItsUser() throws {
        let result = try Tool.run([
            "track", "--demo", "--venue", try FixtureFolder("tags/office").path, "--seconds", "6", "--class", "light",
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.errors.contains("tracking in Office with gateways with 32 receivers"), result.errors)
        let lines = try result.output.split(separator: "\n").map { try TrackLine(String($0)) }
        XCTAssertGreaterThan(Set(lines.map(\.tag)).count, 20)
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
            (["--demo", "--home-assistant"], "--output-prefix and --home-assistant require --broker"),
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

/// The outputs that `track` publishes, as another client of a real broker receives them.
final class TrackOutputTests: XCTestCase {
    private static let tag = "C3:00:00:12:AB:01"
    private static let folder = "site/tags/C3:00:00:12:AB:01/"
    private static let status = "site/fleets/fleet/status"
    private static let tracker = "homeassistant/device_tracker/"
    private static let area = "homeassistant/sensor/"

    private func service(port: UInt16, _ more: String...) throws -> ServiceProcess {
        let service = try ServiceProcess(
            try words(port: port, hasRegister: !more.contains("--tags")) + more, command: "track")
        try service.waitForError("receiving from")
        return service
    }

    private func words(port: UInt16, hasRegister: Bool = true) throws -> [String] {
        let register = hasRegister ? ["--tags", try self.register(of: Self.tag)] : []
        return register + [
            "--broker", "mqtt://127.0.0.1:\(port)", "--venue", try FixtureFolder("tags/office").path, "--class",
            "light", "--output-prefix", "site",
        ]
    }

    /// Publishes readings of the tag until the program has printed its position and its room.
    private func track(port: UInt16, _ service: ServiceProcess) async throws {
        let client = try await GatewayClient(port: port)
        let stage = GatewayStage(
            client: client, venue: try VenuePacketReader().read(FixtureFolder("tags/office").path).venue)
        for _ in 0..<4 {
            let before = service.told.count
            try await stage.publish(tag: Self.tag, at: MapPoint(x: 13, y: 5), until: service, from: before)
        }
        client.close()
    }

    private func json(_ message: MQTTMessage?) throws -> [String: Any] {
        let data = Data(try XCTUnwrap(message).payload)
        return try XCTUnwrap(JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    func testALaterClientReceivesPositionPresenceAndTheDevicesOfHomeAssistant() async throws {
        let port = try broker().port
        let service = try service(port: port, "--home-assistant")
        try await track(port: port, service)
        let (position, presence, state) = (
            Self.folder + "position", Self.folder + "presence", Self.folder + "homeassistant"
        )
        let topics = [position, presence, state, Self.status, Self.tracker, Self.area]
        // The program prints a position before it publishes it.
        let earlier = try await OutputReader(port: port)
        _ = try await earlier.messages(topics)
        earlier.close()
        let reader = try await OutputReader(port: port)
        let kept = try await reader.messages(topics)
        XCTAssertTrue(kept.values.allSatisfy(\.isRetained), "\(kept.keys)")
        XCTAssertEqual(try json(kept[presence])["type"] as? String, "present")
        XCTAssertEqual(try json(kept[position])["tag"] as? String, Self.tag)
        XCTAssertEqual(try json(kept[position])["x"] as? Double ?? 0, 13, accuracy: 4)
        XCTAssertEqual(try json(kept[state])["presence"] as? String, "home")
        XCTAssertEqual(kept[Self.status]?.payload, Array("online".utf8))
        for beginning in [Self.tracker, Self.area] {
            let device = try json(kept.first { $0.key.hasPrefix(beginning) }?.value)
            XCTAssertEqual(device["json_attributes_topic"] as? String, state)
            XCTAssertEqual(device["availability_topic"] as? String, Self.status)
        }
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        try await reader.status("offline")
        reader.close()
        // The last position and the end of the program stay at the broker.
        let later = try await OutputReader(port: port)
        let last = try await later.messages([position, presence, Self.status])
        XCTAssertEqual(last[Self.status]?.payload, Array("offline".utf8))
        let printed = try service.told.map(TrackLine.init).last { $0.type == "position" }
        XCTAssertEqual(try json(last[position])["sequence"] as? UInt64, printed?.sequence)
        later.close()
    }

    /// Anybody can invent a thousand names of tags, and each would be a device of Home Assistant for ever.
    func testHomeAssistantGetsNoTagOutsideOfTheRegister() async throws {
        let port = try broker().port
        let stranger = "C3:00:00:12:AB:99"
        let reader = try await OutputReader(port: port)
        let service = try service(port: port, "--home-assistant")
        let stage = GatewayStage(
            client: try await GatewayClient(port: port),
            venue: try VenuePacketReader().read(FixtureFolder("tags/office").path).venue)
        let start = ContinuousClock.now
        try await stage.publish(tag: stranger, at: MapPoint(x: 13, y: 5), until: service)
        XCTAssertGreaterThan(start.duration(to: .now), .seconds(1.9), "it is heard in three moments")
        try await track(port: port, service)
        let topics = try await reader.messages([
            "site/tags/\(stranger)/position", Self.folder + "position", Self.tracker, Self.area,
        ]).keys
        XCTAssertEqual(topics.count { $0.hasPrefix(Self.tracker) }, 1, "\(topics)")
        XCTAssertFalse(topics.contains("site/tags/\(stranger)/homeassistant"), "\(topics)")
        reader.close()
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
    }

    func testTheBrokerReportsAProgramThatIsKilled() async throws {
        let port = try broker().port
        let service = try service(port: port)
        let reader = try await OutputReader(port: port)
        try await reader.status("online")
        service.send(SIGKILL)
        try await reader.status("offline")
        XCTAssertEqual(try service.end(), 128 + SIGKILL)
        reader.close()
    }

    func testASecondProgramOfTheSameNameEndsWithTheReason() async throws {
        let port = try broker().port
        let first = try service(port: port)
        let reader = try await OutputReader(port: port)
        try await reader.status("online")
        let second = try ServiceProcess(try words(port: port), command: "track")
        try second.waitForError(
            "another process is connected to the broker at 127.0.0.1 under 'site/fleets/fleet': end that process, or give "
                + "this one another name (--output-name) or prefix (--output-prefix)")
        XCTAssertEqual(try second.end(), 1)
        let named = try service(port: port, "--output-name", "annex")
        _ = try await reader.next("the named program") {
            $0.topic == "site/fleets/annex/status" && $0.payload == Array("online".utf8)
        }
        let later = try await OutputReader(port: port)
        try await later.status("online")
        for service in [first, named] {
            service.send(SIGTERM)
            XCTAssertEqual(try service.end(), 0)
        }
        reader.close()
        later.close()
    }

    func testAProgramReplacesOneThatHangsAndStaysOnlineAfterItsEnd() async throws {
        let port = try broker().port
        let hanging = try service(port: port)
        let reader = try await OutputReader(port: port)
        try await reader.status("online")
        hanging.send(SIGSTOP)
        let service = try service(port: port)
        try await reader.status("online")
        // The broker publishes the will of the earlier connection.
        hanging.send(SIGKILL)
        try await reader.status("offline")
        try await reader.status("online")
        XCTAssertEqual(try hanging.end(), 128 + SIGKILL)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        reader.close()
    }

    func testAnAccessListThatDeniesTheOutputsIsReportedOnceAndCounted() async throws {
        let port = try broker(accessList: "topic readwrite site/fleets/#\ntopic readwrite home/#\n").port
        let page = try TestPort.free()
        let service = try service(port: port, "--home-assistant", "--http", "127.0.0.1:\(page)")
        try await track(port: port, service)
        try service.waitForError("'homeassistant/")
        let refusals = service.errors.filter { $0.contains("the broker refused the message under") }
        XCTAssertEqual(refusals.count, 2, "one for each beginning of the topics: \(service.errors)")
        let folder = try XCTUnwrap(refusals.first { $0.contains("'\(Self.folder)") }, "\(refusals)")
        XCTAssertTrue(
            folder.hasSuffix("not authorized: allow this user to write the topic in the broker's access list"), folder)
        let metrics = try Tool.run(
            ["--silent", "http://127.0.0.1:\(page)/metrics"], program: "/usr/bin/curl"
        ).output
        let line = try XCTUnwrap(
            metrics.split(separator: "\n").first { $0.hasPrefix("indoorloc_output_refused_messages_total ") }, metrics)
        XCTAssertGreaterThan(Double(line.split(separator: " ")[1]) ?? 0, 3, "\(line)")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
    }

    /// Waits until the broker has no retained messages of the tag any more.
    private func removal(_ reader: OutputReader) async throws {
        var rest: Set = [Self.tracker, Self.area, Self.folder + "homeassistant", Self.folder + "position"]
        while !rest.isEmpty {
            let message = try await reader.next("the removal of \(rest)") { $0.payload.isEmpty }
            rest = rest.filter { !message.topic.hasPrefix($0) }
        }
    }

    private func write(_ entries: String..., to path: String) throws {
        try Data(entries.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: path))
    }

    func testATagThatLeavesTheRegisterIsRemovedWhileTheProgramRuns() async throws {
        let port = try broker().port
        let register = try temporaryFolder() + "/tags.csv"
        try write("key,name", "\(Self.tag),Cart", to: register)
        let service = try service(port: port, "--home-assistant", "--tags", register, "--unknown", "none")
        try await track(port: port, service)
        let reader = try await OutputReader(port: port)
        _ = try await reader.messages([Self.tracker, Self.area, Self.folder + "position"])
        // A register that can't be used changes nothing.
        try write("key,name,power", "\(Self.tag),Cart,loud", to: register)
        service.send(SIGHUP)
        try service.waitForError("the earlier register stays in use")
        try await track(port: port, service)
        try write("key,name", "C3:00:00:12:AB:77,Other", to: register)
        service.send(SIGHUP)
        try await removal(reader)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        reader.close()
    }

    func testATagThatLeavesTheRegisterIsRemovedWhenItsFileChanges() async throws {
        let port = try broker().port
        let register = try temporaryFolder() + "/tags.csv"
        try write("key,name", "\(Self.tag),Cart", to: register)
        // Other tags are located all the same, but Home Assistant doesn't get them.
        let service = try service(port: port, "--home-assistant", "--tags", register)
        try await track(port: port, service)
        let reader = try await OutputReader(port: port)
        _ = try await reader.messages([Self.tracker, Self.area, Self.folder + "position"])
        try write("key,name", "C3:00:00:12:AB:77,Other", to: register)
        var rest: Set = [Self.tracker, Self.area, Self.folder + "homeassistant"]
        while !rest.isEmpty {
            let message = try await reader.next("the removal of \(rest)") { $0.payload.isEmpty }
            XCTAssertNotEqual(message.topic, Self.folder + "position")
            rest = rest.filter { !message.topic.hasPrefix($0) }
        }
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        reader.close()
    }

    func testATagThatLeftTheRegisterWhileTheProgramWasDownIsRemovedAtTheStart() async throws {
        let port = try broker().port
        let (register, state) = (try temporaryFolder() + "/tags.csv", try temporaryFolder() + "/state")
        try write("key,name", "\(Self.tag),Cart", to: register)
        let words = ["--home-assistant", "--tags", register, "--unknown", "none", "--state", state]
        let first = try ServiceProcess(
            [
                "--broker", "mqtt://127.0.0.1:\(port)", "--venue", try FixtureFolder("tags/office").path, "--class",
                "light",
                "--output-prefix", "site",
            ] + words, command: "track")
        try first.waitForError("receiving from")
        try await track(port: port, first)
        let reader = try await OutputReader(port: port)
        _ = try await reader.messages([Self.tracker, Self.area, Self.folder + "position"])
        first.send(SIGTERM)
        XCTAssertEqual(try first.end(), 0)
        try write("key,name", "C3:00:00:12:AB:77,Other", to: register)
        let second = try service(
            port: port, "--home-assistant", "--tags", register, "--unknown", "none", "--state", state)
        try await removal(reader)
        second.send(SIGTERM)
        XCTAssertEqual(try second.end(), 0)
        reader.close()
    }

    func testTheLastPlaceOfATagIsServedAndPublishedAfterARestart() async throws {
        let state = try temporaryFolder() + "/state"
        let earlier = try broker().port
        let first = try service(port: earlier, "--state", state)
        try await track(port: earlier, first)
        first.send(SIGTERM)
        XCTAssertEqual(try first.end(), 0)
        let last = try XCTUnwrap(try first.told.map(TrackLine.init).last { $0.type == "position" }?.point)
        // A broker that has lost its messages, and a tag that isn't received any more.
        let port = try broker().port
        let second = try service(port: port, "--state", state, "--http", "127.0.0.1:0")
        let reader = try await OutputReader(port: port)
        let kept = try await reader.messages([Self.folder + "position"])
        XCTAssertEqual(try json(kept[Self.folder + "position"])["x"] as? Double ?? 0, last.x, accuracy: 1)
        let line = try XCTUnwrap(second.errors.first { $0.contains("page of the tags: ") })
        let url = try XCTUnwrap(line.split(separator: " ").last { $0.hasPrefix("http://") }) + "api/v1/tags"
        let served = try Tool.run(["-s", String(url)], program: "/usr/bin/curl")
        XCTAssertEqual(served.status, 0, served.errors)
        let tags = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(served.output.utf8)) as? [String: Any])
        let tag = try XCTUnwrap((tags["tags"] as? [[String: Any]])?.first, served.output)
        XCTAssertEqual(tag["tag"] as? String, Self.tag)
        // The tag is restored too: its point moves a little while it isn't received.
        XCTAssertEqual((tag["position"] as? [String: Any])?["x"] as? Double ?? 0, last.x, accuracy: 1, served.output)
        XCTAssertEqual((tag["position"] as? [String: Any])?["y"] as? Double ?? 0, last.y, accuracy: 1, served.output)
        second.send(SIGTERM)
        XCTAssertEqual(try second.end(), 0)
        reader.close()
    }
}
