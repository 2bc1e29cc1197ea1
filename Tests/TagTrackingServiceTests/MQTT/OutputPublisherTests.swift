import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import LocalizationSession
import LoopbackServers
import MQTTSharing
import TagTracking
import TagTrackingService
import VenueModel
import XCTest

final class OutputPublisherTests: XCTestCase {
    private typealias Stage = OutputStage

    private func publisher(_ change: (inout MQTTOutputSettings) -> Void = { _ in }) -> OutputPublisher {
        var settings = MQTTOutputSettings()
        change(&settings)
        return OutputPublisher(settings)
    }

    private func object(_ message: MQTTMessage) throws -> [String: Any] {
        try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any])
    }

    // MARK: Topics

    func testTopicsAreEscapedAndStayDifferent() throws {
        let keys = try ["a/b", "a+b", "a#b", "$a", "a%2Fb", "ä", "a b", "AA:BB:CC:DD:EE:FF"].map {
            try XCTUnwrap(TagKey($0))
        }
        let topics = keys.map { OutputTopics(prefix: "p", instance: "i").position(of: $0) }
        XCTAssertEqual(topics[0], "p/tags/a%2Fb/position")
        XCTAssertEqual(topics[4], "p/tags/a%252Fb/position")
        XCTAssertEqual(topics[7], "p/tags/AA:BB:CC:DD:EE:FF/position")
        XCTAssertEqual(Set(topics).count, keys.count)
        for (key, topic) in zip(keys, topics) {
            XCTAssertNotNil(topic.wholeMatch(of: /p\/tags\/[^\/+#$]+\/position/), topic)
            XCTAssertEqual(TagKey(escaped: topic.dropFirst(7).dropLast(9)), key)
        }
        XCTAssertNil(TagKey(escaped: "%2"))
        XCTAssertNil(TagKey(escaped: "%FF"))
    }

    // MARK: Order and limits

    func testASlowBrokerGetsTheLatestPositionOnly() throws {
        var publisher = publisher { $0.window = 1 }
        publisher.add(Stage.output("a", 1, .present))
        XCTAssertEqual(publisher.next()?.topic, "indoorloc/v1/tags/a/presence")
        for number in 2...10 { publisher.add(Stage.output("a", UInt64(number), Stage.position(Double(number)))) }
        XCTAssertNil(publisher.next(), "the broker has not confirmed the first message")
        publisher.confirm()
        let message = try XCTUnwrap(publisher.next())
        XCTAssertTrue(message.isRetained)
        XCTAssertEqual(try FleetOutput(json: message.payload).sequence, 10)
        publisher.confirm()
        XCTAssertNil(publisher.next())
        XCTAssertEqual(publisher.counters.replacedPositions, 8)
    }

    func testTheOldestEventsAreLostAndCounted() throws {
        var publisher = publisher { $0.eventLimit = 5 }
        for number in 1...8 { publisher.add(Stage.output("a", UInt64(number), Stage.entry("\(number)"))) }
        let sent = publisher.confirmedMessages()
        XCTAssertEqual(try sent.map { try FleetOutput(json: $0.payload).sequence }, [4, 5, 6, 7, 8])
        XCTAssertTrue(sent.allSatisfy { !$0.isRetained && $0.topic == "indoorloc/v1/tags/a/events" })
        XCTAssertEqual(publisher.counters.lostEvents, 3)
    }

    func testUnconfirmedMessagesAreSentAgainInTheirOrder() throws {
        var publisher = publisher()
        for number in 1...3 { publisher.add(Stage.output("a", UInt64(number), Stage.entry("\(number)"))) }
        XCTAssertNotNil(publisher.next())
        publisher.confirm()
        XCTAssertNotNil(publisher.next())
        XCTAssertNotNil(publisher.next())
        publisher.endConnection()
        publisher.add(Stage.output("a", 4, Stage.entry("4")))
        XCTAssertEqual(try publisher.confirmedMessages().map { try FleetOutput(json: $0.payload).sequence }, [2, 3, 4])
        XCTAssertTrue(publisher.isIdle)
    }

    func testTagsBeyondTheLimitAreRefused() {
        var publisher = publisher { $0.tagLimit = 3 }
        for number in 0..<5 { publisher.add(Stage.output("\(number)", 1, .present)) }
        XCTAssertEqual(publisher.tagCount, 3)
        XCTAssertEqual(publisher.counters.refusedOutputs, 2)
    }

    func testANewTagReplacesTheOneThatIsAwayForTheLongestTime() {
        var publisher = publisher { $0.tagLimit = 3 }
        for name in ["a", "b", "c"] { publisher.add(Stage.output(name, 1, .present)) }
        for (number, name) in ["b", "a", "c"].enumerated() {
            publisher.add(Stage.output(name, UInt64(number + 2), .away))
        }
        publisher.add(Stage.output("c", 5, .present))
        _ = publisher.confirmedMessages()

        publisher.add(Stage.output("d", 6, .present))
        XCTAssertEqual(
            publisher.confirmedMessages().map { "\($0.topic) \($0.payload.isEmpty)" },
            [
                "indoorloc/v1/tags/b/position true", "indoorloc/v1/tags/b/presence true",
                "indoorloc/v1/tags/d/presence false",
            ])
        publisher.add(Stage.output("e", 7, .present))
        publisher.add(Stage.output("f", 8, .present))
        XCTAssertEqual(publisher.counters.refusedOutputs, 1, "only present tags remain")
        XCTAssertEqual(publisher.tagCount, 3)
    }

    func testAPositionWithoutPresenceStatesThatTheTagIsPresent() throws {
        var publisher = publisher()
        publisher.add(Stage.output("a", 7, Stage.position(1)))
        let sent = publisher.confirmedMessages()
        XCTAssertEqual(sent.map(\.topic), ["indoorloc/v1/tags/a/presence", "indoorloc/v1/tags/a/position"])
        XCTAssertEqual(try FleetOutput(json: sent[0].payload), Stage.output("a", 7, .present))
    }

    func testAllRetainedMessagesAreStatedAgain() {
        var publisher = publisher { $0.homeAssistantPrefix = "homeassistant" }
        publisher.add(Stage.output("a", 1, .present))
        publisher.add(Stage.output("a", 2, Stage.position(1)))
        publisher.add(Stage.output("b", 1, .away))
        let first = Set(publisher.confirmedMessages().filter(\.isRetained))
        XCTAssertEqual(first.count, 3 * 2 + 3)
        publisher.restate()
        XCTAssertEqual(Set(publisher.confirmedMessages()), first)
    }

    func testTheTagsOfAnotherProcessAreNotStatedAgain() throws {
        var publisher = publisher()
        publisher.add(Stage.output("a", 1, .away))
        publisher.add(Stage.output("b", 1, .present))
        _ = publisher.confirmedMessages()
        publisher.add(Stage.output("a", 2, Stage.position(1)))
        publisher.add(Stage.output("c", 1, .present))
        publisher.forget { $0 != .name("b") }
        // What waits is still sent over this connection, but not over a later one.
        XCTAssertEqual(publisher.next()?.topic, "indoorloc/v1/tags/a/position")
        XCTAssertEqual(publisher.next()?.topic, "indoorloc/v1/tags/c/presence")
        publisher.endConnection()
        publisher.restate()
        XCTAssertEqual(publisher.confirmedMessages().map(\.topic), ["indoorloc/v1/tags/b/presence"])
        XCTAssertEqual(publisher.tagCount, 1)
    }

    func testATagThatReturnsFromAnotherProcessIsPresent() throws {
        var publisher = publisher()
        publisher.add(Stage.output("a", 1, .away))
        _ = publisher.confirmedMessages()
        publisher.forget { _ in true }
        // The other process has published that the tag is present, and its state has no further presence.
        publisher.add(Stage.output("a", 9, Stage.position(1), epoch: 3))
        let sent = publisher.confirmedMessages()
        XCTAssertEqual(sent.map(\.topic), ["indoorloc/v1/tags/a/presence", "indoorloc/v1/tags/a/position"])
        XCTAssertEqual(try FleetOutput(json: sent[0].payload).content, .present)
        publisher.restate()
        XCTAssertEqual(publisher.confirmedMessages(), sent)
    }

    // MARK: Home Assistant

    /// The keys of the documentation of the MQTT device tracker and the MQTT sensor, with those of both.
    private static let common: Set<String> = [
        "availability", "availability_mode", "availability_template", "availability_topic", "device",
        "enabled_by_default", "encoding", "entity_category", "entity_picture", "icon", "json_attributes_template",
        "json_attributes_topic", "name", "object_id", "origin", "payload_available", "payload_not_available",
        "platform",
        "qos", "state_topic", "unique_id", "value_template",
    ]
    private static let tracker: Set<String> = ["payload_home", "payload_not_home", "payload_reset", "source_type"]
    private static let deviceKeys: Set<String> = [
        "configuration_url", "connections", "hw_version", "identifiers", "manufacturer", "model", "model_id", "name",
        "serial_number", "suggested_area", "sw_version", "via_device",
    ]

    func testTheConfigurationsHaveOnlyDocumentedKeys() throws {
        var publisher = publisher { $0.homeAssistantPrefix = "homeassistant" }
        publisher.add(Stage.output("cart_7", 1, .present, name: "Cart 7"))
        let sent = publisher.confirmedMessages()
        XCTAssertEqual(
            sent.map(\.topic),
            [
                "homeassistant/device_tracker/indoorloc_tag_cart_5f7_position/config",
                "homeassistant/sensor/indoorloc_tag_cart_5f7_area/config", "indoorloc/v1/tags/cart_7/presence",
                "indoorloc/v1/tags/cart_7/homeassistant",
            ])
        let (tracker, area) = (try object(sent[0]), try object(sent[1]))
        XCTAssertEqual(Set(tracker.keys).subtracting(Self.common.union(Self.tracker)), [])
        XCTAssertEqual(Set(area.keys).subtracting(Self.common), [])
        for entity in [tracker, area] {
            let device = try XCTUnwrap(entity["device"] as? [String: Any])
            XCTAssertEqual(Set(device.keys).subtracting(Self.deviceKeys), [])
            XCTAssertEqual(device["identifiers"] as? [String], ["indoorloc_tag_cart_5f7"])
            XCTAssertEqual(device["name"] as? String, "Cart 7")
            XCTAssertEqual(entity["state_topic"] as? String, "indoorloc/v1/tags/cart_7/homeassistant")
            XCTAssertEqual(entity["json_attributes_topic"] as? String, "indoorloc/v1/tags/cart_7/homeassistant")
            XCTAssertEqual(entity["availability_topic"] as? String, "indoorloc/v1/fleets/fleet/status")
        }
        XCTAssertEqual(tracker["source_type"] as? String, "bluetooth_le")
        XCTAssertEqual(tracker["value_template"] as? String, "{{ value_json.presence }}")
        XCTAssertEqual(area["value_template"] as? String, "{{ value_json.room }}")
        XCTAssertNotEqual(tracker["unique_id"] as? String, area["unique_id"] as? String)
    }

    func testATrackerWithCoordinatesUsesTheZonesOfHomeAssistant() throws {
        var publisher = publisher { $0.homeAssistantPrefix = "homeassistant" }
        publisher.add(Stage.output("a", 1, .present))
        _ = publisher.confirmedMessages()
        publisher.add(
            Stage.output(
                "a", 2, Stage.position(1, label: "Hall", coordinate: Coordinate(latitude: 52.5, longitude: 13.25))))
        let sent = publisher.confirmedMessages()
        let tracker = try object(try XCTUnwrap(sent.first { $0.topic.contains("/device_tracker/") }))
        XCTAssertEqual(tracker["source_type"] as? String, "gps")
        XCTAssertEqual(tracker["payload_reset"] as? String, "None")
        XCTAssertEqual(
            tracker["value_template"] as? String, "{{ 'None' if value_json.presence == 'home' else 'not_home' }}")
        let state = try object(try XCTUnwrap(sent.first { $0.topic.hasSuffix("/homeassistant") }))
        XCTAssertEqual(state["presence"] as? String, "home")
        XCTAssertEqual(state["room"] as? String, "Hall")
        XCTAssertEqual(state["latitude"] as? Double, 52.5)
        XCTAssertEqual(state["longitude"] as? Double, 13.25)
        XCTAssertEqual(state["gps_accuracy"] as? Double, 1.5)
        XCTAssertEqual(state["x"] as? Double, 1)
        XCTAssertEqual(state["last_seen"] as? String, "2026-11-22T09:00:02.000Z")
    }

    func testHomeAssistantGetsEachRoomAtOnceAndPositionsAtIntervals() throws {
        var publisher = publisher { $0.homeAssistantPrefix = "homeassistant" }
        var rooms: [String] = []
        for second in 1...25 {
            let content =
                second == 25 ? .away : Stage.position(Double(second), label: second < 5 ? "Hall" : "Lab")
            publisher.add(Stage.output("a", UInt64(second), content))
            for message in publisher.confirmedMessages() where message.topic.hasSuffix("/homeassistant") {
                let state = try object(message)
                rooms.append("\(second) \(state["room"] as? String ?? "")")
            }
        }
        XCTAssertEqual(rooms, ["1 Hall", "5 Lab", "15 Lab", "25 not_home"])
    }

    func testATagThatLeavesIsRemovedFromTheBrokerAndFromHomeAssistant() {
        var publisher = publisher { $0.homeAssistantPrefix = "homeassistant" }
        publisher.add(Stage.output("a", 1, .present))
        publisher.add(Stage.output("a", 2, Stage.position(1)))
        let stated = Set(publisher.confirmedMessages().map(\.topic))
        publisher.remove([.name("a")])
        let removals = publisher.confirmedMessages()
        XCTAssertEqual(Set(removals.map(\.topic)), stated)
        XCTAssertTrue(removals.allSatisfy { $0.isRetained && $0.payload.isEmpty })
        publisher.restate()
        XCTAssertEqual(publisher.confirmedMessages(), [])
    }

    func testTheMessageOfAnEarlierProcessWithOrWithoutAFloorPlanIsCleared() {
        let (position, room) = ("indoorloc/v1/tags/a/position", "indoorloc/v1/tags/a/room")
        for (hasRooms, other) in [(true, position), (false, room)] {
            var publisher = publisher { $0.hasTrainedRooms = hasRooms }
            publisher.add(Stage.output("a", 1, .present))
            publisher.add(Stage.output("a", 2, Stage.position(1)))
            let cleared = publisher.confirmedMessages().filter(\.payload.isEmpty)
            XCTAssertEqual(cleared.map(\.topic), [other])
            XCTAssertTrue(cleared.allSatisfy(\.isRetained))
            publisher.add(Stage.output("a", 3, Stage.position(2)))
            XCTAssertEqual(publisher.confirmedMessages().count(where: \.payload.isEmpty), 0)
            publisher.remove([.name("a")])
            XCTAssertTrue(Set(publisher.confirmedMessages().map(\.topic)).isSuperset(of: [position, room]))
        }
    }

    // MARK: ESPresense-companion

    private static let house = CompanionHouse(
        devices: [
            (.name("a"), .init(id: "phone:a", name: "Phone")), (.name("b"), .init(id: "bad/level", name: nil)),
            (.name("c"), .init(id: "#", name: nil)),
        ], floors: [MapID(rawValue: 1): .init(name: "Ground floor", height: -0.5)], origin: MapPoint(x: 10, y: 20),
        flipsX: true, flipsY: false)

    func testAStateOfCompanionIsTheRoomTheFloorOrNotHomeAndItsPlaceIsInItsCoordinates() throws {
        var publisher = publisher { $0.companion = Self.house }
        func published() -> [String: MQTTMessage] {
            Dictionary(publisher.confirmedMessages().map { ($0.topic, $0) }) { $1 }
        }
        let topic = "espresense/companion/phone:a"
        publisher.add(Stage.output("a", 1, .present))
        publisher.add(Stage.output("a", 2, Stage.position(1, label: "Hall")))
        let first = published()
        XCTAssertEqual(first[topic]?.payload, Array("Hall".utf8))
        let attributes = try object(try XCTUnwrap(first[topic + "/attributes"]))
        XCTAssertEqual(attributes["x"] as? Double, 10 - 1)
        XCTAssertEqual(attributes["y"] as? Double, 20 + 2)
        XCTAssertEqual(attributes["z"] as? Double, -0.5)
        XCTAssertNotNil(first["homeassistant/device_tracker/espresense_phone_a/config"])
        publisher.add(Stage.output("a", 3, Stage.position(2, label: "Hall")))
        let second = published()
        XCTAssertNil(second[topic], "the state is the same")
        XCTAssertNotNil(second[topic + "/attributes"])
        publisher.add(Stage.output("a", 4, Stage.position(2)))
        XCTAssertEqual(published()[topic]?.payload, Array("Ground floor".utf8))
        publisher.add(Stage.output("a", 5, .away))
        XCTAssertEqual(published()[topic]?.payload, Array("not_home".utf8))
        XCTAssertEqual(publisher.farewell?.topic, "espresense/companion/status")
    }

    func testAStateOfCompanionIsTheTrainedRoomWithoutAFloorPlan() throws {
        var publisher = publisher { $0.companion = Self.house }
        func published() -> [String: MQTTMessage] {
            Dictionary(publisher.confirmedMessages().map { ($0.topic, $0) }) { $1 }
        }
        let topic = "espresense/companion/phone:a"
        func room(_ number: UInt64, _ label: String?) -> FleetOutput {
            let attic = RoomProbability(id: 1, name: "Attic", probability: 0.75)
            return Stage.output(
                "a", number, .room(TagRoom(instant: .zero, label: label, rooms: [attic], none: 0.25)))
        }
        publisher.add(Stage.output("a", 1, .present))
        publisher.add(room(2, "Attic"))
        let first = published()
        XCTAssertEqual(first[topic]?.payload, Array("Attic".utf8))
        let attributes = try object(try XCTUnwrap(first[topic + "/attributes"]))
        XCTAssertEqual(attributes["confidence"] as? Int, 75)
        XCTAssertNil(attributes["x"])
        publisher.add(room(3, nil))
        let second = published()
        XCTAssertEqual(second[topic]?.payload, Array("home".utf8))
        XCTAssertEqual(try object(try XCTUnwrap(second[topic + "/attributes"]))["confidence"] as? Int, 25)
        publisher.add(Stage.output("a", 4, .away))
        XCTAssertEqual(published()[topic]?.payload, Array("not_home".utf8))
    }

    func testTagsThatAreNoDevicesOfCompanionHaveNoTopicsThereAndOneThatLeavesLosesThem() {
        var publisher = publisher { $0.companion = Self.house }
        for tag in ["a", "b", "c", "d"] {
            publisher.add(Stage.output(tag, 1, .present))
            publisher.add(Stage.output(tag, 2, Stage.position(1)))
        }
        func companion() -> [MQTTMessage] { publisher.confirmedMessages().filter { $0.topic.contains("espresense") } }
        let first = companion()
        XCTAssertEqual(
            Set(first.map(\.topic)),
            [
                "espresense/companion/phone:a", "espresense/companion/phone:a/attributes",
                "homeassistant/device_tracker/espresense_phone_a/config",
            ])
        publisher.restate()
        XCTAssertEqual(Set(companion().map(\.topic)), Set(first.map(\.topic)).union(["espresense/companion/status"]))
        publisher.remove([.name("a")])
        let removals = companion()
        XCTAssertEqual(Set(removals.map(\.topic)), Set(first.map(\.topic)))
        XCTAssertTrue(removals.allSatisfy { $0.isRetained && $0.payload.isEmpty })
    }

    func testTagsOutsideTheSelectionAreWithdrawnFromHomeAssistant() {
        var publisher = publisher {
            $0.homeAssistantPrefix = "homeassistant"
            $0.homeAssistantTags = [.name("a")]
        }
        publisher.add(Stage.output("a", 1, .present))
        publisher.add(Stage.output("b", 1, .present))
        let first = publisher.confirmedMessages().map(\.topic).filter { $0.hasPrefix("homeassistant/") }
        XCTAssertEqual(first.count, 2)
        XCTAssertTrue(first.allSatisfy { $0.contains("indoorloc_tag_a_") })
        publisher.useHomeAssistant(for: [.name("b")])
        let sent = publisher.confirmedMessages()
        XCTAssertEqual(
            Set(sent.filter(\.payload.isEmpty).map(\.topic)), Set(first + ["indoorloc/v1/tags/a/homeassistant"]))
        XCTAssertEqual(sent.count { !$0.payload.isEmpty && $0.topic.contains("/indoorloc_tag_b_") }, 2)
    }
}

/// The outputs of a fleet through a real mosquitto.
final class MQTTOutputSinkTests: XCTestCase {
    private typealias Stage = OutputStage

    /// A subscriber of all topics.
    private struct Subscriber: Sendable {
        private let link: MQTTLink
        private let events: AsyncStream<MQTTLinkEvent>

        init(port: UInt16, will: MQTTMessage? = nil) async throws {
            let name = "reader" + String(UInt64.random(in: .min ... .max), radix: 36)
            (link, events) = MQTTLink.open(
                MQTTBroker(host: "127.0.0.1", port: port), clientID: name, will: will, keepAliveSeconds: 60)
            try await next("acceptance") { if case .accepted = $0 { true } else { nil } }
            link.ask(.subscribe("#", .atLeastOnce))
            try await next("subscription") { if case .subscribed = $0 { true } else { nil } }
        }

        func publish(_ topic: String, _ text: String) {
            link.ask(.publish(MQTTMessage(topic: topic, payload: Array(text.utf8))))
        }

        /// Returns the next message under a topic, and skips those before it.
        func message(_ topic: String) async throws -> MQTTMessage {
            try await next(topic) { event in
                if case .received(let message) = event, message.topic == topic { message } else { nil }
            }
        }

        /// Returns the messages by topic until those of all the topics have arrived.
        func messages(_ topics: Set<String>) async throws -> [String: MQTTMessage] {
            var messages: [String: MQTTMessage] = [:]
            while !topics.isSubset(of: messages.keys) {
                let message = try await next("\(topics.subtracting(messages.keys))") { event in
                    if case .received(let message) = event { message } else { nil }
                }
                messages[message.topic] = message
            }
            return messages
        }

        func close() { link.ask(.close) }

        /// Ends the connection as a network or a process does that breaks.
        func abandon() { link.abandon() }

        @discardableResult private func next<Value: Sendable>(
            _ awaited: String, _ selecting: @escaping @Sendable (MQTTLinkEvent) -> Value?
        ) async throws -> Value {
            let events = events
            return try await Bounded.wait(for: awaited) {
                for await event in events { if let value = selecting(event) { return value } }
                throw Bounded.Expired(awaited: "\(awaited): the link ended")
            }
        }
    }

    private func broker() throws -> MosquittoBroker {
        let folder = FileManager.default.temporaryDirectory.path + "/outputs-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let broker = try MosquittoBroker(folder: folder)
        // XCTest requires a sendable block. It runs after the test, when nothing else uses the broker.
        nonisolated(unsafe) let stopped = broker
        addTeardownBlock {
            stopped.kill()
            try? FileManager.default.removeItem(atPath: folder)
        }
        return broker
    }

    private func sink(
        port: UInt16, _ change: (inout MQTTOutputSettings) -> Void = { _ in },
        report: @escaping @Sendable (MQTTSharingError) -> Void = { _ in }
    ) throws -> MQTTOutputSink {
        var settings = MQTTOutputSettings()
        settings.firstPause = .milliseconds(20)
        change(&settings)
        let sink = try MQTTOutputSink(
            MQTTBroker(host: "127.0.0.1", port: port), settings: settings, report: report)
        addTeardownBlock { await sink.stop() }
        return sink
    }

    func testALaterSubscriberGetsPositionAndPresenceAndNoEvents() async throws {
        let broker = try broker()
        let sink = try sink(port: broker.port)
        let witness = try await Subscriber(port: broker.port)
        await sink.start()
        await sink.write([
            Stage.output("a", 1, .present), Stage.output("a", 2, Stage.position(1)),
            Stage.output("a", 3, Stage.entry("Hall")), Stage.output("a", 4, Stage.position(2)),
            Stage.output("b", 1, .present), Stage.output("b", 2, .away),
        ])
        let event = try await witness.message("indoorloc/v1/tags/a/events")
        XCTAssertEqual(try FleetOutput(json: event.payload).json, Stage.output("a", 3, Stage.entry("Hall")).json)
        _ = try await witness.message("indoorloc/v1/tags/b/presence")
        witness.close()
        let later = try await Subscriber(port: broker.port)
        let kept = try await later.messages([
            "indoorloc/v1/tags/a/position", "indoorloc/v1/tags/a/presence", "indoorloc/v1/tags/b/presence",
            "indoorloc/v1/fleets/fleet/status",
        ])
        XCTAssertEqual(kept.count, 4, "\(kept.keys)")
        XCTAssertTrue(kept.values.allSatisfy(\.isRetained))
        let position = try XCTUnwrap(kept["indoorloc/v1/tags/a/position"])
        XCTAssertEqual(try FleetOutput(json: position.payload).sequence, 4)
        let presence = try XCTUnwrap(kept["indoorloc/v1/tags/b/presence"])
        XCTAssertEqual(try FleetOutput(json: presence.payload).content, .away)
        XCTAssertEqual(kept["indoorloc/v1/fleets/fleet/status"]?.payload, Array("online".utf8))
        await sink.stop()
        let offline = try await later.message("indoorloc/v1/fleets/fleet/status")
        XCTAssertEqual(offline.payload, Array("offline".utf8))
        later.close()
    }

    func testTheSinkStatesEverythingAgainToARestartedBroker() async throws {
        let broker = try broker()
        let (reports, continuation) = AsyncStream.makeStream(of: MQTTSharingError.self)
        let sink = try sink(port: broker.port, report: { continuation.yield($0) })
        let witness = try await Subscriber(port: broker.port)
        await sink.start()
        await sink.write([Stage.output("a", 1, .present), Stage.output("a", 2, Stage.position(1))])
        _ = try await witness.message("indoorloc/v1/tags/a/position")
        broker.kill()
        _ = try await Bounded.wait(for: "the report of the lost connection") { await reports.first { _ in true } }
        // Without a broker, outputs are accepted: the last position and the event wait.
        await sink.write([
            Stage.output("a", 3, Stage.position(2)), Stage.output("a", 4, Stage.entry("Hall")),
            Stage.output("a", 5, Stage.position(3)),
        ])
        // The port is kept, the retained messages are not.
        try broker.restart()
        let reader = try await Subscriber(port: broker.port)
        let messages = try await reader.messages([
            "indoorloc/v1/tags/a/position", "indoorloc/v1/tags/a/presence", "indoorloc/v1/fleets/fleet/status",
        ])
        let position = try XCTUnwrap(messages["indoorloc/v1/tags/a/position"])
        XCTAssertEqual(try FleetOutput(json: position.payload).sequence, 5)
        XCTAssertEqual(messages["indoorloc/v1/fleets/fleet/status"]?.payload, Array("online".utf8))
        reader.close()
    }

    func testTheBrokerPublishesThatTheFleetIsOfflineWhenItsConnectionBreaks() async throws {
        let broker = try broker()
        let reader = try await Subscriber(port: broker.port)
        var sink: MQTTOutputSink? = try MQTTOutputSink(MQTTBroker(host: "127.0.0.1", port: broker.port))
        await sink?.start()
        let online = try await reader.message("indoorloc/v1/fleets/fleet/status")
        XCTAssertEqual(online.payload, Array("online".utf8))
        await sink?.abandon()
        sink = nil
        let offline = try await reader.message("indoorloc/v1/fleets/fleet/status")
        XCTAssertEqual(offline.payload, Array("offline".utf8))
        reader.close()
    }

    func testTheFleetIsOnlineAgainAfterTheWillOfAnEarlierConnection() async throws {
        let broker = try broker()
        let sink = try sink(port: broker.port)
        let reader = try await Subscriber(port: broker.port)
        await sink.start()
        let status = "indoorloc/v1/fleets/fleet/status"
        let online = try await reader.message(status)
        XCTAssertEqual(online.payload, Array("online".utf8))
        // An earlier process of this name whose connection the broker believed to be open.
        let earlier = try await Subscriber(
            port: broker.port, will: MQTTMessage(topic: status, payload: Array("offline".utf8), isRetained: true))
        earlier.abandon()
        let will = try await reader.message(status)
        XCTAssertEqual(will.payload, Array("offline".utf8))
        let again = try await reader.message(status)
        XCTAssertEqual(again.payload, Array("online".utf8))
        let later = try await Subscriber(port: broker.port)
        let kept = try await later.message(status)
        XCTAssertTrue(kept.isRetained)
        XCTAssertEqual(kept.payload, Array("online".utf8))
        reader.close()
        later.close()
    }

    func testASecondProcessWithTheSameNameIsRefusedAndTheFirstOneStaysOnline() async throws {
        let broker = try broker()
        let reader = try await Subscriber(port: broker.port)
        let first = try sink(port: broker.port) { $0.namePatience = .milliseconds(20) }
        await first.start()
        let status = "indoorloc/v1/fleets/fleet/status"
        _ = try await reader.message(status)
        // It may not take the name before the first one has answered, however busy the machine is.
        let second = try sink(port: broker.port) { $0.namePatience = Bounded.longest }
        await second.start()
        await second.write([Stage.output("b", 1, .present)])
        let taken = try await Bounded.wait(for: "the refusal") { await second.nameTaken() }
        XCTAssertEqual(taken?.topic, "indoorloc/v1/fleets/fleet")
        let isConnected = await second.isConnected
        XCTAssertFalse(isConnected)
        await second.stop()
        let other = try sink(port: broker.port) { $0.instance = "other" }
        await other.start()
        await first.write([Stage.output("a", 1, .present)])
        let topics: Set = [
            status, "indoorloc/v1/fleets/other/status", "indoorloc/v1/tags/a/presence",
        ]
        _ = try await reader.messages(topics.subtracting([status]))
        let later = try await Subscriber(port: broker.port)
        let kept = try await later.messages(topics)
        XCTAssertEqual(kept[status]?.payload, Array("online".utf8))
        XCTAssertNil(kept["indoorloc/v1/tags/b/presence"])
        reader.close()
        later.close()
    }

    func testHomeAssistantGetsTheConfigurationAgainAfterItsStart() async throws {
        let broker = try broker()
        let sink = try sink(port: broker.port) { $0.homeAssistantPrefix = "homeassistant" }
        let home = try await Subscriber(port: broker.port)
        await sink.start()
        await sink.write([Stage.output("a", 1, .present), Stage.output("a", 2, Stage.position(1, label: "Hall"))])
        let topics: Set = [
            "homeassistant/device_tracker/indoorloc_tag_a_position/config",
            "homeassistant/sensor/indoorloc_tag_a_area/config", "indoorloc/v1/tags/a/homeassistant",
        ]
        let status: Set = ["indoorloc/v1/fleets/fleet/status"]
        let first = try await home.messages(topics.union(status))
        home.publish("homeassistant/status", "online")
        let second = try await home.messages(topics.union(status))
        XCTAssertEqual(second[status.first ?? ""]?.payload, Array("online".utf8))
        for topic in topics { XCTAssertEqual(second[topic]?.payload, first[topic]?.payload, topic) }
        await sink.remove([.name("a")])
        let removed = try await home.messages(topics.union(["indoorloc/v1/tags/a/position"]))
        for topic in topics { XCTAssertEqual(removed[topic]?.payload, [], topic) }
        home.close()
    }

    func testAnAbsentBrokerBlocksNoOutputs() async throws {
        let port = try TestPort.free()
        let (reports, continuation) = AsyncStream.makeStream(of: MQTTSharingError.self)
        let sink = try sink(port: port, { $0.eventLimit = 10 }, report: { continuation.yield($0) })
        await sink.start()
        _ = try await Bounded.wait(for: "the report of the missing broker") { await reports.first { _ in true } }
        for number in 1...1000 {
            await sink.write([
                Stage.output("a", UInt64(2 * number), Stage.position(1)),
                Stage.output("a", UInt64(2 * number + 1), Stage.entry("Hall")),
            ])
        }
        let counters = await sink.counters
        XCTAssertEqual(counters.lostEvents, 990)
        XCTAssertEqual(counters.replacedPositions, 999)
        let isConnected = await sink.isConnected
        XCTAssertFalse(isConnected)
    }

    func testAPrefixWithWildcardsIsRefused() {
        for prefix in ["", "a/+/b", "a/#", "/a", "a/"] {
            var settings = MQTTOutputSettings()
            settings.prefix = prefix
            XCTAssertThrowsError(try MQTTOutputSink(MQTTBroker(), settings: settings), prefix) { error in
                XCTAssertEqual(error as? MQTTSharingError, .badPrefix(prefix))
            }
        }
    }
}

/// Outputs of a fleet for tests.
enum OutputStage {
    static func output(
        _ tag: String, _ sequence: UInt64, _ content: FleetOutput.Content, name: String? = nil, epoch: UInt64 = 1
    ) -> FleetOutput {
        FleetOutput(
            tag: .name(tag), name: name, epoch: epoch, sequence: sequence,
            instant: Instant(nanoseconds: 1_795_338_000_000_000_000 + Int64(sequence) * 1_000_000_000),
            content: content)
    }

    static func position(
        _ x: Double, y: Double = 2, map: Int = 1, label: String? = nil, coordinate: Coordinate? = nil
    ) -> FleetOutput.Content {
        .position(
            Position(
                instant: .zero, venueID: VenueID(rawValue: 1), mapID: MapID(rawValue: map),
                point: MapPoint(x: x, y: y), radius: 1.5, label: label, coordinate: coordinate))
    }

    static func entry(_ room: String) -> FleetOutput.Content {
        .event(
            LocalizationEvent(
                instant: .zero, venueID: VenueID(rawValue: 1),
                kind: .enterRoom(Room(id: 1, name: room, mapID: MapID(rawValue: 1)))))
    }
}

extension OutputPublisher {
    /// Returns all messages that wait, each confirmed at once.
    mutating func confirmedMessages() -> [MQTTMessage] {
        var messages: [MQTTMessage] = []
        while let message = next() {
            messages.append(message)
            confirm()
        }
        return messages
    }
}
