import Foundation
import IndoorVocabulary
import MQTTSharing
import TagTracking
import TagTrackingService
import XCTest

final class OutputPublisherTests: XCTestCase {
    private typealias Stage = OutputStage

    private func publisher(_ change: (inout MQTTOutputSettings) -> Void = { _ in }) -> OutputPublisher {
        var settings = MQTTOutputSettings()
        change(&settings)
        return OutputPublisher(settings)
    }

    /// Returns all messages that wait, each confirmed at once.
    private func messages(_ publisher: inout OutputPublisher) -> [MQTTMessage] {
        var messages: [MQTTMessage] = []
        while let message = publisher.next() {
            messages.append(message)
            publisher.confirm()
        }
        return messages
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
        let sent = messages(&publisher)
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
        XCTAssertEqual(try messages(&publisher).map { try FleetOutput(json: $0.payload).sequence }, [2, 3, 4])
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
        _ = messages(&publisher)

        publisher.add(Stage.output("d", 6, .present))
        XCTAssertEqual(
            messages(&publisher).map { "\($0.topic) \($0.payload.isEmpty)" },
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
        let sent = messages(&publisher)
        XCTAssertEqual(sent.map(\.topic), ["indoorloc/v1/tags/a/presence", "indoorloc/v1/tags/a/position"])
        XCTAssertEqual(try FleetOutput(json: sent[0].payload), Stage.output("a", 7, .present))
    }

    func testAllRetainedMessagesAreStatedAgain() {
        var publisher = publisher { $0.homeAssistantPrefix = "homeassistant" }
        publisher.add(Stage.output("a", 1, .present))
        publisher.add(Stage.output("a", 2, Stage.position(1)))
        publisher.add(Stage.output("b", 1, .away))
        let first = Set(messages(&publisher).filter(\.isRetained))
        XCTAssertEqual(first.count, 3 * 2 + 3)
        publisher.restate()
        XCTAssertEqual(Set(messages(&publisher)), first)
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
        let sent = messages(&publisher)
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
        _ = messages(&publisher)
        publisher.add(
            Stage.output(
                "a", 2, Stage.position(1, label: "Hall", coordinate: Coordinate(latitude: 52.5, longitude: 13.25))))
        let sent = messages(&publisher)
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
            for message in messages(&publisher) where message.topic.hasSuffix("/homeassistant") {
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
        let stated = Set(messages(&publisher).map(\.topic))
        publisher.remove([.name("a")])
        let removals = messages(&publisher)
        XCTAssertEqual(Set(removals.map(\.topic)), stated)
        XCTAssertTrue(removals.allSatisfy { $0.isRetained && $0.payload.isEmpty })
        publisher.restate()
        XCTAssertEqual(messages(&publisher), [])
    }

    func testTagsOutsideTheSelectionAreWithdrawnFromHomeAssistant() {
        var publisher = publisher {
            $0.homeAssistantPrefix = "homeassistant"
            $0.homeAssistantTags = [.name("a")]
        }
        publisher.add(Stage.output("a", 1, .present))
        publisher.add(Stage.output("b", 1, .present))
        let first = messages(&publisher).map(\.topic).filter { $0.hasPrefix("homeassistant/") }
        XCTAssertEqual(first.count, 2)
        XCTAssertTrue(first.allSatisfy { $0.contains("indoorloc_tag_a_") })
        publisher.useHomeAssistant(for: [.name("b")])
        let sent = messages(&publisher)
        XCTAssertEqual(
            Set(sent.filter(\.payload.isEmpty).map(\.topic)), Set(first + ["indoorloc/v1/tags/a/homeassistant"]))
        XCTAssertEqual(sent.count { !$0.payload.isEmpty && $0.topic.contains("/indoorloc_tag_b_") }, 2)
    }
}
