import Foundation
import IndoorLocalization
import LoopbackServers
import MQTTSharing
import XCTest

/// The messages for Home Assistant, against its documented topics and keys.
final class HomeAssistantDiscoveryTests: XCTestCase {
    private func discovery(_ device: String, name: String? = nil) throws -> HomeAssistantDiscovery {
        HomeAssistantDiscovery(device: try DeviceID(device), name: name, locationTopic: "l", presenceTopic: "p")
    }

    private func object(_ message: MQTTMessage) throws -> [String: Any] {
        try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any])
    }

    func testTheConfigurationHasATrackerAndASensorOfOneDevice() throws {
        let messages = try discovery("cart-7", name: "Cart 7").configuration
        XCTAssertEqual(
            messages.map(\.topic),
            [
                "homeassistant/device_tracker/indoorloc_cart-7_position/config",
                "homeassistant/sensor/indoorloc_cart-7_room/config",
            ])
        XCTAssertTrue(messages.allSatisfy { $0.isRetained && $0.quality == .atLeastOnce })
        let (tracker, sensor) = (try object(messages[0]), try object(messages[1]))
        XCTAssertEqual(tracker["json_attributes_topic"] as? String, "l")
        XCTAssertEqual(tracker["source_type"] as? String, "gps")
        XCTAssertEqual(sensor["state_topic"] as? String, "l")
        XCTAssertEqual(sensor["value_template"] as? String, "{{ value_json.label | default('unknown', true) }}")
        var identities: Set<String> = []
        for entity in [tracker, sensor] {
            XCTAssertEqual(entity["availability_topic"] as? String, "p")
            XCTAssertEqual(entity["availability_template"] as? String, "{{ 'online' if value else 'offline' }}")
            let device = try XCTUnwrap(entity["device"] as? [String: Any])
            XCTAssertEqual(device["identifiers"] as? [String], ["indoorloc_cart-7"])
            XCTAssertEqual(device["name"] as? String, "Cart 7")
            XCTAssertNotNil((entity["origin"] as? [String: Any])?["name"])
            identities.insert(try XCTUnwrap(entity["unique_id"] as? String))
        }
        XCTAssertEqual(identities.count, 2)
    }

    func testTheRemovalClearsTheSameTopics() throws {
        let discovery = try discovery("cart")
        XCTAssertEqual(discovery.removal.map(\.topic), discovery.configuration.map(\.topic))
        XCTAssertTrue(discovery.removal.allSatisfy { $0.payload.isEmpty && $0.isRetained })
    }

    func testIDsUseAllowedCharactersAndStayDifferent() throws {
        let names = ["a b", "a_b", "a__b", "a_20b", "ä", "a.b", "A-b", "a\u{308}"]
        let topics = try names.map { try discovery($0).configuration[0].topic }
        XCTAssertEqual(Set(topics).count, names.count, "\(topics)")
        for topic in topics {
            XCTAssertNotNil(topic.wholeMatch(of: /homeassistant\/device_tracker\/[a-zA-Z0-9_-]+\/config/), topic)
        }
    }

    func testHomeAssistantFindsADeviceOnABroker() async throws {
        let broker = try broker()
        let cart = try device("cart", broker) { $0.homeAssistantPrefix = "homeassistant" }
        try await cart.connect()
        try await cart.share(.at(x: 1, coordinate: Coordinate(latitude: 48, longitude: 9), label: "Lab"))
        // Home Assistant starts later, and reads the retained messages.
        let home = try await PlainClient(port: broker.port)
        let location = "indoorloc/v1/devices/cart/location"
        let attributes = try object(try await home.message(location))
        XCTAssertEqual(attributes["latitude"] as? Double, 48)
        XCTAssertEqual(attributes["longitude"] as? Double, 9)
        XCTAssertEqual(attributes["gps_accuracy"] as? Double, 1.5)
        XCTAssertEqual(attributes["label"] as? String, "Lab")
        let reader = try await PlainClient(port: broker.port, filter: "homeassistant/#")
        let topic = "homeassistant/device_tracker/indoorloc_cart_position/config"
        let tracker = try await reader.message(topic)
        XCTAssertTrue(tracker.isRetained)
        XCTAssertEqual(try object(tracker)["json_attributes_topic"] as? String, location)
        // Home Assistant reports its start: the device publishes everything again.
        reader.publish("homeassistant/status", "online")
        let again = try await reader.message(topic)
        XCTAssertFalse(again.isRetained)
        XCTAssertEqual(again.payload, tracker.payload)
        await cart.withdrawFromHomeAssistant()
        let removal = try await reader.message(topic)
        XCTAssertEqual(removal.payload, [])
        home.close()
        reader.close()
    }
}
