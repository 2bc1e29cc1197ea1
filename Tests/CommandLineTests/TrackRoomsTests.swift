import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import TagTracking
import VenuePackets
import XCTest
@testable import indoorloc

/// The trained rooms of `track --rooms`, and the training by `rooms train --tag`, with a real broker.
final class TrackRoomsTests: XCTestCase {
    private static let tag = "C3:00:00:12:AB:01"
    private static let folder = "site/tags/C3:00:00:12:AB:01/"
    /// The levels of the gateways `north` and `south` in each room, in dBm.
    private static let levels = ["Kitchen": [-50, -80], "Cellar": [-80, -50]]

    private func path(_ name: String) throws -> String { try temporaryFolder() + "/" + name }

    private func training() throws -> String {
        let path = try path("home.json")
        var training = RoomTrainingSet()
        for (room, levels) in Self.levels {
            let samples = (0..<60).map { second in
                let rssi = zip(["north", "south"], levels).map { name, level in
                    (VenueReceiver.identity(for: name), Double(level + second % 5 - 2))
                }
                return RoomFingerprint.Sample(
                    timestamp: Double(second), rssi: Dictionary(uniqueKeysWithValues: rssi))
            }
            training.rooms[room] = RoomFingerprint(samples: samples)
        }
        try RoomTrainingFile.write(training, to: path)
        return path
    }

    /// Publishes what the gateways hear in a room, again and again, until a condition holds.
    private func publish(
        _ room: String, _ client: GatewayClient, until isDone: () -> Bool, _ awaited: @autoclosure () -> String
    ) async throws {
        let start = ContinuousClock.now
        var count = 0
        while !isDone() {
            guard start.duration(to: .now) < Bounded.longest else { throw Bounded.Expired(awaited: awaited()) }
            for (name, level) in zip(["north", "south"], Self.levels[room] ?? []) {
                // A gateway doesn't repeat a message.
                let payload = #"{"id":"\#(Self.tag)","rssi":\#(level + count % 5 - 2)}"#
                try await client.deliver("home/\(name)/BTtoMQTT/C3000012AB01", Array(payload.utf8))
            }
            count += 1
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    private func labels(_ service: ServiceProcess) -> [String?] {
        service.told.compactMap { line in
            guard case .room(let room) = (try? FleetOutput(json: line))?.content else { return nil }
            return room.label
        }
    }

    func testTheRoomsOfATagArePrintedPublishedAndStatesOfHomeAssistant() async throws {
        let port = try broker().port
        let service = try ServiceProcess(
            [
                "--broker", "mqtt://127.0.0.1:\(port)", "--rooms", try training(), "--tags",
                try register(of: Self.tag), "--output-prefix", "site", "--home-assistant",
            ], command: "track")
        try service.waitForError("receiving from")
        XCTAssertTrue(service.errors.contains { $0.contains("tracking in 2 trained rooms") }, "\(service.errors)")
        let client = try await GatewayClient(port: port)
        for room in ["Kitchen", "Cellar"] {
            try await publish(room, client, until: { labels(service).last == room }, "\(room): \(service.told)")
        }
        let topics = ["room", "presence", "homeassistant", "events"].map { Self.folder + $0 }
        // The retained messages of the room and of the state can lag behind the printed line, and come in any order.
        for (topic, text) in [(topics[0], #""label":"Cellar""#), (topics[2], #""room":"Cellar""#)] {
            let reader = try await OutputReader(port: port)
            let message = try await reader.next(text) {
                $0.topic == topic && String(decoding: $0.payload, as: UTF8.self).contains(text)
            }
            reader.close()
            let content = String(decoding: message.payload, as: UTF8.self)
            XCTAssertTrue(content.contains(#""probability":"#), content)
        }
        let sensor = try await OutputReader(port: port).messages(["homeassistant/sensor/"])
        XCTAssertEqual(sensor.values.count { $0.topic.hasSuffix("_area/config") }, 1)
        try await client.deliver("home/garage/BTtoMQTT/C3000012AB01", Array(#"{"id":"\#(Self.tag)","rssi":-90}"#.utf8))
        let count = service.told.count
        try await publish("Cellar", client, until: { service.told.count > count + 2 }, "the cellar: \(service.told)")
        // The lines may come from readings before that of the garage.
        let (line, start) = ("garage (not trained) -90 dBm", ContinuousClock.now)
        while !service.errors.contains(where: { $0.contains(line) }) {
            guard start.duration(to: .now) < Bounded.longest else { return XCTFail("\(service.errors)") }
            let count = service.errors.count
            service.send(SIGUSR1)
            try service.waitForError("dBm", from: count)
        }
        client.close()
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        let events = service.told.filter { $0.contains("Room\"") }
        XCTAssertEqual(events.count, 3, "\(events)")
        XCTAssertFalse(service.errors.contains { $0.contains("unknown gateway") }, "\(service.errors)")
    }

    func testATagIsStillInItsRoomAfterAKill() async throws {
        let port = try broker().port
        let state = try path("state")
        let words = [
            "--broker", "mqtt://127.0.0.1:\(port)", "--rooms", try training(), "--tags", try register(of: Self.tag),
            "--state", state,
        ]
        let first = try ServiceProcess(words, command: "track")
        try first.waitForError("receiving from")
        let client = try await GatewayClient(port: port)
        try await publish("Kitchen", client, until: { labels(first).count > 4 }, "the kitchen: \(first.told)")
        // The first of two savings may have begun before the tag was in its room.
        for _ in 0..<2 {
            let saved = try savedState(in: state)
            try await publish("Kitchen", client, until: { (try? savedState(in: state)) != saved }, "a saving")
        }
        first.send(SIGKILL)
        XCTAssertEqual(try first.end(), 128 + SIGKILL)
        let second = try ServiceProcess(words, command: "track")
        try second.waitForError("1 tag restored")
        try second.waitForError("receiving from")
        try await publish("Kitchen", client, until: { labels(second).last == "Kitchen" }, "\(second.told)")
        client.close()
        second.send(SIGTERM)
        XCTAssertEqual(try second.end(), 0)
        XCTAssertEqual(second.told.filter { !$0.contains("\"type\":\"room\"") }, [])
    }

    func testARoomIsTrainedWithATagFromTheBroker() async throws {
        let port = try broker().port
        let home = try path("home.json")
        let tool = try ServiceProcess(
            [
                "train", "--output", home, "--broker", "mqtt://127.0.0.1:\(port)", "--tag", Self.tag, "--live",
                "Kitchen",
                "--seconds", "12",
            ], command: "rooms")
        let client = try await GatewayClient(port: port)
        try await publish("Kitchen", client, until: { tool.hasEnded }, "the end of the training: \(tool.errors)")
        client.close()
        XCTAssertEqual(try tool.end(), 0, "\(tool.errors)")
        let training = try RoomTrainingFile.read(home)
        XCTAssertEqual(Array(training.rooms.keys), ["Kitchen"])
        XCTAssertEqual(training.beacons, [VenueReceiver.identity(for: "north"), VenueReceiver.identity(for: "south")])
        let levels = training.rooms["Kitchen"]?.samples.compactMap { $0.rssi[VenueReceiver.identity(for: "north")] }
        XCTAssertGreaterThanOrEqual(levels?.count ?? 0, 2)
        XCTAssertTrue(levels?.allSatisfy { (-52 ... -48).contains($0) } ?? false, "\(levels ?? [])")
    }

    func testMessagesOfGatewaysInAFileTrainTheSameRoom() throws {
        let (log, recording, home) = (try path("kitchen.log"), try path("kitchen.jsonl"), try path("home.json"))
        let lines = (0..<40).flatMap { second in
            ["north", "south"].enumerated().map { index, name in
                let rssi = (Self.levels["Kitchen"]?[index] ?? 0) + second % 3
                return "\(1_795_338_000 + second) home/\(name)/BTtoMQTT/C3000012AB01 "
                    + #"{"id":"\#(Self.tag)","rssi":\#(rssi)}"#
            }
        }
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: log))
        var result = try Tool.run(["convert", "--tag", Self.tag, log, recording])
        XCTAssertEqual(result.status, 0, result.errors)
        result = try Tool.run(["rooms", "train", "--output", home, "--room", "Kitchen", recording])
        XCTAssertEqual(result.status, 0, result.errors)
        let training = try RoomTrainingFile.read(home)
        XCTAssertEqual(training.beacons, [VenueReceiver.identity(for: "north"), VenueReceiver.identity(for: "south")])
    }

    func testOptionsThatExcludeEachOtherAreRefused() throws {
        let cases: [(words: [String], message: String)] = [
            (["track", "--broker", "mqtt://h", "--rooms", ""], "--rooms must be a file path"),
            (["rooms", "train", "--output", "o", "--tag", "a"], "--tag requires --live"),
            (["rooms", "train", "--output", "o", "--broker", "mqtt://h"], "--broker requires --tag"),
            (["rooms", "evaluate", "d", "--gateways", "--rule", "bestOf"], "--gateways has the change rule"),
        ]
        let plan = [
            "--venue v", "--server http://h", "--cache c", "--plain-credentials", "--unknown-memory 1", "--seed 1",
        ].map {
            let words = $0.split(separator: " ").map(String.init)
            let message = "--rooms has no floor plan: it can't be combined with \(words[0])"
            return (["track", "--broker", "mqtt://h", "--rooms", "r"] + words, message)
        }
        for (words, message) in cases + plan {
            let result = try Tool.run(words)
            XCTAssertEqual(result.status, 2, message)
            XCTAssertTrue(result.errors.contains(message), "\(message): \(result.errors)")
        }
    }

    func testTheFolderOfTheFileMustExist() throws {
        let result = try Tool.run(["track", "--broker", "mqtt://127.0.0.1:1", "--rooms", try path("none/home.json")])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("its folder doesn't exist; create it"), result.errors)
    }

    func testAFileThatCannotBeWrittenIsRefusedAtTheStart() throws {
        let folder = try temporaryFolder()
        func errors(_ page: [String] = ["--http", "0"]) throws -> String {
            let words =
                ["track", "--broker", "mqtt://127.0.0.1:1", "--rooms", folder + "/home.json", "--seconds", "1"] + page
            // Root writes everywhere; without this capability, it doesn't.
            let wrapper = ["--bounding-set", "-dac_override", "--inh-caps", "-dac_override", try Tool.path()]
            return try (geteuid() == 0 ? Tool.run(wrapper + words, program: "/usr/bin/setpriv") : Tool.run(words))
                .errors
        }
        let refusal = "--rooms \(folder)/home.json: a training couldn't be written: Permission denied"
        XCTAssertEqual(chmod(folder, 0o555), 0)
        XCTAssertTrue(try errors().contains(refusal))
        XCTAssertFalse(try errors([]).contains("couldn't be written"), "nothing trains rooms without the page")
        XCTAssertEqual(chmod(folder, 0o755), 0)
        try RoomTrainingFile.write(RoomTrainingSet(), to: folder + "/home.json")
        XCTAssertEqual(chmod(folder + "/home.json", 0o444), 0)
        XCTAssertFalse(try errors().contains("couldn't be written"), "a change replaces the file")
    }

    func testTheFloorsOfACompanionAreNotMissedWithoutAFloorPlan() throws {
        let port = try broker().port
        let house = try Checkout.root().appending(path: "Fixtures/espresense/house.yaml").path
        let result = try Tool.run([
            "track", "--broker", "mqtt://127.0.0.1:\(port)", "--rooms", try training(), "--espresense-companion", house,
            "--seconds", "1",
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertFalse(result.errors.contains("no floor of it"), result.errors)
    }
}
