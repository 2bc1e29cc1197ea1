import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import TagTracking
import VenuePackets
import XCTest
@testable import indoorloc

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
        // An event may come meanwhile, which isn't retained.
        let awaited = kept.values.filter { message in topics.contains { message.topic.hasPrefix($0) } }
        XCTAssertTrue(awaited.allSatisfy(\.isRetained), "\(kept.keys)")
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

    /// The topics, the attributes and the coordinates of the house's own program.
    func testDashboardsOfESPresenseCompanionShowTheTag() async throws {
        let port = try broker().port
        let folder = try temporaryFolder()
        let configuration = "Fixtures/espresense/house.yaml"
        let imported = try Tool.run([
            "venue", "import", "-o", folder + "/house", "--tags", folder + "/tags.csv", configuration,
        ])
        XCTAssertEqual(imported.status, 0, imported.errors)
        let path = try Checkout.root().appending(path: configuration).path
        let service = try ServiceProcess(
            [
                "--broker", "mqtt://127.0.0.1:\(port)", "--venue", folder + "/house", "--tags", folder + "/tags.csv",
                "--class", "light", "--output-prefix", "site", "--espresense-companion", path,
            ], command: "track")
        try service.waitForError("receiving from")
        let client = try await GatewayClient(port: port)
        func hear(_ id: String) async throws {
            for (room, rssi) in [("kitchen", -55), ("hall", -72), ("living", -80), ("master_bedroom", -85)] {
                let mac = id == "phone:anna" ? "4f1122334455" : "4f1122334466"
                let message = #"{"mac":"\#(mac)","id":"\#(id)","rssi":\#(rssi),"distance":2.1}"#
                try await client.deliver("espresense/devices/\(id)/\(room)", Array(message.utf8))
            }
        }
        let start = ContinuousClock.now
        for id in ["phone:anna", "phone:stranger"] {
            while !service.prints(id, "\"position\"", from: 0, within: 0.2) {
                guard start.duration(to: .now) < Bounded.longest else {
                    throw Bounded.Expired(awaited: "a position after \(service.told), \(service.errors)")
                }
                try await hear(id)
            }
        }
        let device = "espresense/companion/phone:anna"
        let tracker = "homeassistant/device_tracker/espresense_phone_anna/config"
        let topics = [device, device + "/attributes", "espresense/companion/status", tracker]
        // The program prints a position before it publishes it.
        let kitchen = try await OutputReader(port: port, ["espresense/companion/#"])
        _ = try await kitchen.next("the kitchen") { $0.topic == device && $0.payload.elementsEqual("Kitchen".utf8) }
        kitchen.close()
        let earlier = try await OutputReader(port: port, ["espresense/companion/#", "homeassistant/#"])
        _ = try await earlier.messages(topics)
        earlier.close()
        let reader = try await OutputReader(port: port, ["espresense/companion/#", "homeassistant/#"])
        let kept = try await reader.messages(topics)
        XCTAssertEqual(Set(kept.keys), Set(topics), "a device that isn't in the file has no topics")
        XCTAssertEqual(kept[device]?.payload, Array("Kitchen".utf8))
        XCTAssertEqual(kept["espresense/companion/status"]?.payload, Array("online".utf8))
        let attributes = try json(kept[device + "/attributes"])
        XCTAssertEqual(attributes["source_type"] as? String, "espresense")
        // The coordinates are those of the file, where the kitchen is below.
        XCTAssertEqual(attributes["x"] as? Double ?? -9, 0.5, accuracy: 3.5)
        XCTAssertEqual(attributes["y"] as? Double ?? -9, 0.5, accuracy: 3.5)
        XCTAssertEqual(attributes["z"] as? Double, 0)
        XCTAssertTrue((1...100).contains(attributes["confidence"] as? Int ?? 0), "\(attributes)")
        XCTAssertEqual(attributes["latitude"] as? Double ?? 0, 50.1109, accuracy: 0.001)
        XCTAssertNotNil(attributes["last_seen"])
        let entity = try json(kept[tracker])
        XCTAssertEqual(entity["unique_id"] as? String, "espresense-companion-phone:anna")
        XCTAssertEqual(entity["state_topic"] as? String, device)
        XCTAssertEqual(entity["json_attributes_topic"] as? String, device + "/attributes")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        _ = try await reader.next("offline") {
            $0.topic == "espresense/companion/status" && $0.payload.elementsEqual("offline".utf8)
        }
        reader.close()
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
        let (first, second) = try rivals {
            try service(port: port)
        } _: {
            try ServiceProcess(try words(port: port), command: "track")
        }
        let reader = try await OutputReader(port: port)
        try await reader.status("online")
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
        try service.waitForError("the broker refused the message under '\(Self.folder)")
        let refusals = service.errors.filter { $0.contains("the broker refused the message under") }
        XCTAssertEqual(refusals.count, 2, "one for each beginning of the topics: \(service.errors)")
        let folder = try XCTUnwrap(refusals.first { $0.contains("'\(Self.folder)") }, "\(refusals)")
        XCTAssertTrue(
            folder.hasSuffix("not authorized: allow this user to write the topic in the broker's access list"), folder)
        func refused() throws -> Double {
            let metrics = try Tool.run(
                ["--silent", "http://127.0.0.1:\(page)/metrics"], program: "/usr/bin/curl"
            ).output
            let line = try XCTUnwrap(
                metrics.split(separator: "\n").first { $0.hasPrefix("indoorloc_output_refused_messages_total ") },
                metrics)
            return Double(line.split(separator: " ")[1]) ?? 0
        }
        // The answers of the broker can come later than the first ones.
        let start = ContinuousClock.now
        while try refused() <= 3, start.duration(to: .now) < Bounded.longest {}
        XCTAssertGreaterThan(try refused(), 3)
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
