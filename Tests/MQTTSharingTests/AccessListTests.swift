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
        let list = lines.map { $0.dropFirst(4) + "\n" }.joined()
        XCTAssertEqual(
            list, try String(contentsOfFile: FixtureFolder("sharing").file("mosquitto.acl"), encoding: .utf8))
        return list
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

    func testARefusedPositionIsReportedOnceWithItsTopic() async throws {
        let broker = try broker(
            accessList: "topic readwrite indoorloc/v1/devices/#\ntopic read #\n", "allow_anonymous true",
            in: try temporaryFolder())
        let cart = try device("cart", broker) { $0.interval = .zero }
        let hears = EventListener(cart)
        try await cart.connect()
        try await cart.join("hall")
        for x in 1...5 { try await cart.share(.at(x: Double(x))) }
        let topic = "indoorloc/v1/rooms/hall/devices/cart/position"
        let error = try await hears.hearsFailure()
        XCTAssertEqual(
            error.message, MQTTSharingError.refusedMessage(topic: topic, reason: .notAuthorized).description)
        XCTAssertEqual(error.kind, .permissionDenied)
        // The broker refuses the text, too, before it answers the next request.
        try await cart.send("hello", tag: "", to: "hall")
        try await cart.join("yard")
        await cart.disconnect()
        let later = try await hears.hears("the end") { event -> String? in
            switch event {
            case .failed(let error): error.message
            case .disconnected: "disconnected"
            default: nil
            }
        }
        XCTAssertEqual(later, "disconnected")
        let refused = await cart.refusedMessageCount
        XCTAssertGreaterThanOrEqual(refused, 2)
    }

    /// A message of a separate connection, such as an uploaded batch, must not count as delivered.
    func testTheDeliveryOfARefusedMessageFailsWithMQTT5Only() async throws {
        let broker = try broker(accessList: "topic read #\n", "allow_anonymous true", in: try temporaryFolder())
        let address = MQTTBroker(host: "127.0.0.1", port: broker.port)
        let message = MQTTMessage(topic: "records", payload: [1])
        await assertFails(with: .refusedMessage(topic: "records", reason: .notAuthorized)) {
            try await MQTTDelivery.deliver(message, to: address, patience: .seconds(20))
        }
        // MQTT 3.1.1 has no reason codes: the broker confirms the message that it drops.
        let (link, events) = MQTTLink.open(
            address, clientID: "older", will: nil, keepAliveSeconds: 60, version: .three)
        let answer = try await Bounded.wait(for: "the answer") { () -> MQTTLinkEvent? in
            for await event in events {
                switch event {
                case .accepted: link.ask(.deliver(message))
                default: return event
                }
            }
            return nil
        }
        XCTAssertEqual(answer, .confirmed)
        link.ask(.close)
    }

    /// Each attack of a client that may log in, as a device of its own, has no effect.
    func testAHostileClientHasNoEffectWithTheDocumentedAccessList() async throws {
        let broker = try guardedBroker()
        let cart = try MQTTPositionSharing(address(of: "cart", broker), device: DeviceID("cart"))
        let fork = try MQTTPositionSharing(address(of: "fork", broker), device: DeviceID("fork"))
        let (cartHears, forkHears) = (EventListener(cart), EventListener(fork))
        for sharing in [cart, fork] {
            try await sharing.connect()
            try await sharing.join("hall")
        }
        let base = "indoorloc/v1/"
        let forged = SharingPayload.bytes(
            SharingPayload.Presence(device: "cart", name: nil, session: "forged", rooms: [], sentAt: 0))
        let position = SharingPayload.bytes(SharedPosition(.at(x: 99), of: try DeviceID("cart"), in: "hall", sentAt: 0))
        let text = SharingPayload.bytes(
            SharedMessage(device: try DeviceID("cart"), room: "hall", tag: "", text: "forged", sentAt: 0))
        let attacker = try await PlainClient(address(of: "fork", broker), filter: base + "#")
        attacker.publish(base + "devices/cart/presence", forged, isRetained: true)
        attacker.publish(base + "devices/cart/presence", "", isRetained: true)
        attacker.publish(base + "devices/cart/presence", "{", isRetained: true)
        attacker.publish(base + "devices/cart/location", forged, isRetained: true)
        attacker.publish(base + "limits", #"{"serverCapacity":1,"roomCapacity":1}"#, isRetained: true)
        attacker.publish(base + "rooms/hall/devices/cart/position", position)
        attacker.publish(base + "rooms/hall/devices/cart/message", text)
        for number in 0..<2000 {
            attacker.publish(base + "devices/junk-\(number)/presence", forged, isRetained: true)
            attacker.publish(base + "rooms/hall/devices/junk-\(number)/position", position)
        }
        attacker.publish(
            base + "rooms/hall/devices/cart/position", [UInt8](repeating: 0x20, count: 1 << 20), isRetained: true)
        // Under its own name, the client may publish; the devices drop what is too large.
        attacker.publish(base + "rooms/hall/devices/fork/position", [UInt8](repeating: 0x20, count: 1 << 20))
        try await fork.send("the end", tag: "", to: "hall")
        let end = try await cartHears.hears("text or failure") { event -> String? in
            switch event {
            case .message(let message): message.text
            case .position(let position): "position of \(position.device)"
            case .failed(let error): error.message
            case .disconnected(let reason): reason
            default: nil
            }
        }
        XCTAssertEqual(end, "the end")
        let counts = [await cart.occupancy(of: "hall"), await fork.occupancy(of: "hall")]
        XCTAssertEqual(counts, [2, 2])
        // The fork hears the attacks on the cart, if the broker lets them through.
        try await cart.share(.at(x: 5))
        let x = try await forkHears.hears("position") { if case .position(let other) = $0 { other.x } else { nil } }
        XCTAssertEqual(x, 5)
        let malformed = [await cart.malformedMessageCount, await fork.malformedMessageCount]
        XCTAssertEqual(malformed, [0, 0])
        // A new client receives the retained presences of the two devices, and no other retained message.
        let reader = try await PlainClient(address(of: "cart", broker), filter: base + "#")
        reader.publish(base + "devices/cart/end", "")
        let retained = try await reader.topics(until: base + "devices/cart/end")
        XCTAssertEqual(
            retained,
            [base + "devices/cart/presence", base + "devices/fork/presence", base + "devices/cart/end"])
        for sharing in [cart, fork] { await sharing.disconnect() }
        attacker.close()
        reader.close()
    }
}
