import Foundation
import IndoorLocalization
import LoopbackServers
import MQTTSharing
import XCTest

/// Removal of a device from a broker.
final class DeviceRemovalTests: XCTestCase {
    private func address(_ broker: MosquittoBroker) -> MQTTBroker {
        MQTTBroker(host: "127.0.0.1", port: broker.port)
    }

    /// Returns the topics with a retained message.
    private func retained(_ broker: MosquittoBroker) async throws -> Set<String> {
        let reader = try await PlainClient(port: broker.port)
        // Retained messages arrive before new ones.
        reader.publish("the/end", "")
        let topics = try await reader.topics(until: "the/end")
        reader.close()
        return topics.subtracting(["the/end"])
    }

    func testForgettingADeviceClearsAndReturnsItsRetainedTopics() async throws {
        let broker = try broker()
        let (cart, _) = try await device("cart", in: "hall", broker) { $0.homeAssistantPrefix = "homeassistant" }
        try await cart.share(.at(x: 1))
        await cart.disconnect()
        let topics = [
            "homeassistant/device_tracker/indoorloc_cart_position/config",
            "homeassistant/sensor/indoorloc_cart_room/config", "indoorloc/v1/devices/cart/location",
        ]
        let before = try await retained(broker)
        XCTAssertEqual(before, Set(topics))
        let removed = try await MQTTPositionSharing.forget(DeviceID("cart"), on: address(broker))
        XCTAssertEqual(removed, topics)
        let after = try await retained(broker)
        XCTAssertEqual(after, [])
    }

    func testForgettingAnUnknownDeviceChangesNothing() async throws {
        let broker = try broker()
        for number in 0..<24 {
            let removed = try await MQTTPositionSharing.forget(DeviceID("ghost-\(number)"), on: address(broker))
            XCTAssertEqual(removed, [])
        }
        let topics = try await retained(broker)
        XCTAssertEqual(topics, [])
    }

    func testForgettingWithoutABrokerThrows() async throws {
        let port = try TestPort.free()
        do {
            _ = try await MQTTPositionSharing.forget(DeviceID("x"), on: MQTTBroker(host: "127.0.0.1", port: port))
            XCTFail("no broker listens on this port")
        } catch {
            guard case MQTTSharingError.unreachable = error else { return XCTFail("\(error)") }
        }
    }
}
