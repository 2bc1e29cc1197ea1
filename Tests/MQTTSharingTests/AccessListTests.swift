import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import XCTest

/// Permissions from a broker's access list, and their errors.
final class AccessListTests: XCTestCase {
    private func broker(accessList: String, _ listener: String, in folder: String) throws -> MosquittoBroker {
        try Data(accessList.utf8).write(to: URL(filePath: folder + "/access"))
        return try broker(
            MosquittoBroker.Configuration(listener: listener + "\nacl_file \(folder)/access"), in: folder)
    }

    /// Returns the access list of the documentation.
    private func documentedList() throws -> String {
        let page = try String(
            contentsOfFile: FixtureFolder("sharing").path
                + "/../../Sources/IndoorLocalization/IndoorLocalization.docc/Sharing.md", encoding: .utf8)
        let lines = page.split(separator: "\n").filter { $0.hasPrefix("    pattern ") }
        XCTAssertGreaterThanOrEqual(lines.count, 5)
        return lines.map { $0.dropFirst(4) + "\n" }.joined()
    }

    /// Returns a broker with the documented access list for the users `cart` and `fork`, whose passwords equal their
    /// names.
    private func guardedBroker() throws -> MosquittoBroker {
        let folder = try temporaryFolder()
        try Data("cart:cart\nfork:fork\n".utf8).write(to: URL(filePath: folder + "/passwords"))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["mosquitto_passwd", "-U", folder + "/passwords"]
        try process.run()
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0)
        return try broker(
            accessList: documentedList(), "allow_anonymous false\npassword_file \(folder)/passwords", in: folder)
    }

    private func address(of user: String, _ broker: MosquittoBroker) -> MQTTBroker {
        MQTTBroker(
            host: "127.0.0.1", port: broker.port, credentials: MQTTCredentials(user: user, password: user))
    }

    func testDevicesNamedAsTheirUsersShareWithTheDocumentedAccessList() async throws {
        let broker = try guardedBroker()
        var settings = MQTTSharingSettings()
        settings.interval = .zero
        settings.homeAssistantPrefix = "homeassistant"
        let cart = try MQTTPositionSharing(address(of: "cart", broker), device: DeviceID("cart"), settings: settings)
        let fork = try MQTTPositionSharing(address(of: "fork", broker), device: DeviceID("fork"))
        let forkHears = EventListener(fork)
        for sharing in [cart, fork] {
            try await sharing.connect()
            try await sharing.join("hall")
        }
        try await cart.share(.at(x: 4))
        _ = try await forkHears.hearsPosition(of: "cart", x: 4)
        try await cart.send("hello", tag: "x", to: "hall")
        let message = try await forkHears.hearsMessage()
        XCTAssertEqual(message.text, "hello")
        await cart.disconnect()
        await fork.disconnect()
        let removed = try await MQTTPositionSharing.forget(DeviceID("cart"), on: address(of: "cart", broker))
        XCTAssertEqual(
            removed,
            [
                "homeassistant/device_tracker/indoorloc_cart_position/config",
                "homeassistant/sensor/indoorloc_cart_room/config", "indoorloc/v1/devices/cart/location",
            ])
    }

    func testSharingUnderAnotherNameThrowsForbidden() async throws {
        let broker = try guardedBroker()
        var settings = MQTTSharingSettings()
        settings.patience = .seconds(2)
        let address = address(of: "cart", broker)
        let thief = try MQTTPositionSharing(address, device: DeviceID("fork"), settings: settings)
        await assertFails(with: .forbidden(topic: "indoorloc/v1/devices/fork/presence")) { try await thief.connect() }
        await assertFails(with: .forbidden(topic: "indoorloc/v1/devices/fork/location")) {
            _ = try await MQTTPositionSharing.forget(DeviceID("fork"), on: address, settings: settings)
        }
    }

    func testABrokerThatDeniesPublishingHasItsOwnError() async throws {
        let broker = try broker(
            accessList: "topic read #\n", "allow_anonymous true", in: try temporaryFolder())
        let cart = try device("cart", broker) { $0.patience = .seconds(3) }
        await assertFails(with: .forbidden(topic: "indoorloc/v1/devices/cart/presence")) { try await cart.connect() }
    }
}
