import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import XCTest

/// A client that attacks the devices of a broker without an access list: sharing heals itself.
final class HostilePeerTests: XCTestCase {
    private static let presence = "indoorloc/v1/devices/cart/presence"

    /// Waits until the broker retains a presence of a device, in these rooms.
    private func presence(
        of device: String, in rooms: [String], seenBy client: PlainClient
    ) async throws -> SharingPayload.Presence {
        let id = try DeviceID(device)
        while true {
            let message = try await client.message("indoorloc/v1/devices/\(device)/presence")
            guard let presence = try? SharingPayload.presence(message.payload, of: id) else { continue }
            if presence.rooms == rooms { return presence }
        }
    }

    private func forged(_ device: String, _ rooms: [String]) throws -> [UInt8] {
        SharingPayload.bytes(
            SharingPayload.Presence(device: device, name: nil, session: "forged", rooms: rooms, sentAt: 1))
    }

    func testADeviceRestatesAPresenceThatAnotherClientReplaces() async throws {
        let broker = try broker()
        let (cart, _) = try await device("cart", in: "hall", broker)
        let (_, forkHears) = try await device("fork", in: "hall", broker)
        let attacker = try await PlainClient(port: broker.port, filter: Self.presence)
        let original = try await presence(of: "cart", in: ["hall"], seenBy: attacker)
        for attack in [try forged("cart", []), Array("{".utf8), []] {
            attacker.publish(Self.presence, attack, isRetained: true)
            let restated = try await presence(of: "cart", in: ["hall"], seenBy: attacker)
            XCTAssertEqual(restated.session, original.session)
        }
        let isConnected = await cart.isConnected
        XCTAssertTrue(isConnected)
        try await cart.share(.at(x: 7))
        _ = try await forkHears.hearsPosition(of: "cart", x: 7)
        attacker.close()
    }

    func testThirtyThousandPresencesDoNotKeepANewcomerOut() async throws {
        let broker = try broker()
        let attacker = try await PlainClient(port: broker.port, filter: "end")
        for number in 0..<30_000 {
            attacker.publish(
                "indoorloc/v1/devices/junk-\(number)/presence", try forged("junk-\(number)", ["junk"]),
                isRetained: true, quality: number % 2 == 0 ? .atMostOnce : .atLeastOnce)
        }
        attacker.publish("end", "")
        _ = try await attacker.message("end")
        let (cart, cartHears) = try await device("cart", in: "hall", broker)
        try await cartHears.hears(.occupancy(room: "hall", devices: 1))
        let (fork, _) = try await device("fork", in: "hall", broker)
        try await cartHears.hears(.occupancy(room: "hall", devices: 2))
        try await fork.share(.at(x: 3))
        _ = try await cartHears.hearsPosition(of: "fork", x: 3)
        let isConnected = await cart.isConnected
        XCTAssertTrue(isConnected)
        attacker.close()
    }

    func testACapacityOfZeroLocksNobodyOut() async throws {
        let broker = try broker()
        let attacker = try await PlainClient(port: broker.port)
        attacker.publish("indoorloc/v1/limits", #"{"serverCapacity":0}"#, isRetained: true)
        _ = try await attacker.message("indoorloc/v1/limits")
        let (_, _) = try await device("cart", in: "hall", broker)
        attacker.close()
    }

    /// Publishes a large message to the room of a device in its own process, and returns the growth of the largest memory
    /// that the device has had, after it has received another position.
    private func growth(ofDeviceAt port: UInt16, _ broker: MosquittoBroker, rejoins: Bool) async throws -> Int {
        let cart = try DeviceProcess("cart", in: "hall", port: port)
        _ = try cart.line("joined hall")
        let before = try cart.peakMemory()
        let attacker = try await PlainClient(port: broker.port, filter: "end")
        attacker.publish(
            "indoorloc/v1/rooms/hall/devices/stranger/position", [UInt8](repeating: 0x20, count: Self.largeSize))
        attacker.publish("end", "")
        _ = try await attacker.message("end")
        if rejoins { _ = try cart.line("joined hall") }
        let (fork, _) = try await device("fork", in: "hall", broker)
        try await fork.share(.at(x: 3))
        XCTAssertEqual(try cart.line("position "), "fork 3.0")
        attacker.close()
        return try cart.peakMemory() - before
    }

    private static let largeSize = 32 << 20

    func testTheBrokerDropsAMessageOf32Megabytes() async throws {
        let broker = try broker()
        let growth = try await growth(ofDeviceAt: broker.port, broker, rejoins: false)
        XCTAssertLessThan(growth, 8 << 20)
    }

    func testWithABrokerOfVersion311TheConnectionEndsBeforeTheMessageIsRead() async throws {
        for refusal in [OldBrokerProxy.Refusal.returnCode, .end] {
            let broker = try broker()
            let proxy = try OldBrokerProxy(broker: broker.port, refusal)
            addTeardownBlock { proxy.stop() }
            let growth = try await growth(ofDeviceAt: proxy.port, broker, rejoins: true)
            XCTAssertLessThan(growth, 20 << 20)
            XCTAssertGreaterThanOrEqual(proxy.refusedCount, 2)
        }
    }
}
