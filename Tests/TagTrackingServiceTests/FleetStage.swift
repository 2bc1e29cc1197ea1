import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import LoopbackServers
import MQTTSharing
import TagTracking
import TagTrackingService
import XCTest

extension XCTestCase {
    /// A folder that is removed after the test.
    func stateFolder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fleet-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
        return folder
    }

    /// A broker that runs until the test ends.
    func gatewayBroker() throws -> MosquittoBroker {
        let broker = try MosquittoBroker(folder: try stateFolder())
        // XCTest requires a Sendable block; it runs after the test, when nothing else uses the broker.
        nonisolated(unsafe) let stopped = broker
        addTeardownBlock { stopped.kill() }
        return broker
    }
}

/// A gateway that publishes messages in order over one connection.
struct GatewayPublisher: Sendable {
    private let link: MQTTLink
    private let events: AsyncStream<MQTTLinkEvent>

    /// Connects, and waits until the broker accepts.
    init(port: UInt16) async throws {
        let name = "gateway" + String(UInt64.random(in: .min ... .max), radix: 36)
        (link, events) = MQTTLink.open(
            MQTTBroker(host: "127.0.0.1", port: port), clientID: name, will: nil, keepAliveSeconds: 60)
        try await wait(for: "acceptance") { $0 == .accepted }
    }

    func publish(_ topic: String, _ payload: [UInt8], isRetained: Bool = false) {
        link.ask(
            .publish(MQTTMessage(topic: topic, payload: payload, quality: .atMostOnce, isRetained: isRetained)))
    }

    func publish(_ topic: String, _ text: String, isRetained: Bool = false) {
        publish(topic, Array(text.utf8), isRetained: isRetained)
    }

    /// Publishes a message and waits until the broker has it, and with it all earlier ones.
    func deliver(_ topic: String, _ text: String, isRetained: Bool = false) async throws {
        link.ask(.deliver(MQTTMessage(topic: topic, payload: Array(text.utf8), isRetained: isRetained)))
        try await wait(for: "confirmation") { $0 == .confirmed }
    }

    func close() { link.ask(.close) }

    private func wait(
        for awaited: String, _ isAwaited: @escaping @Sendable (MQTTLinkEvent) -> Bool
    ) async throws {
        let events = events
        try await Bounded.wait(for: awaited) {
            for await event in events where isAwaited(event) { return }
            throw Bounded.Expired(awaited: "\(awaited): the link ended")
        }
    }
}
