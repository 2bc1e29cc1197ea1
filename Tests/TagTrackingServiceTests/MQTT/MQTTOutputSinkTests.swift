import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import LoopbackServers
import MQTTSharing
import TagTracking
import TagTrackingService
import XCTest

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
        let first = try sink(port: broker.port)
        await first.start()
        let status = "indoorloc/v1/fleets/fleet/status"
        _ = try await reader.message(status)
        let second = try sink(port: broker.port)
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
