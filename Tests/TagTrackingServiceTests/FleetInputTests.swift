import IndoorLocalizationTesting
import IndoorVocabulary
import LoopbackServers
import MQTTSharing
import TagTracking
import TagTrackingService
import XCTest

/// The subscription to gateways' messages, with a real broker.
final class FleetInputTests: XCTestCase {
    /// An input in a task, whose events a test awaits.
    private struct RunningInput: Sendable {
        let events: AsyncStream<FleetInput.Event>
        let task: Task<Void, Never>

        init(_ input: FleetInput) {
            let (events, continuation) = AsyncStream.makeStream(of: FleetInput.Event.self)
            self.events = events
            task = Task { await input.run { continuation.yield($0) } }
        }

        /// Waits for the next event for which `value` returns a value.
        func next<Value: Sendable>(
            _ awaited: String, _ value: @escaping @Sendable (FleetInput.Event) -> Value?
        ) async throws -> Value {
            let events = events
            return try await Bounded.wait(for: awaited) {
                for await event in events { if let value = value(event) { return value } }
                throw Bounded.Expired(awaited: awaited)
            }
        }

        func connected() async throws -> [String] {
            try await next("connection") { if case .connected(let refused) = $0 { refused } else { nil } }
        }

        func message() async throws -> GatewayMessage {
            try await next("message") { if case .message(let message) = $0 { message } else { nil } }
        }
    }

    private func input(
        _ broker: MosquittoBroker, filters: [String] = ["ruuvi/#"],
        arrival: @escaping @Sendable (MQTTMessage) -> Instant? = { _ in Instant(nanoseconds: 7) }
    ) -> FleetInput {
        FleetInput(
            MQTTBroker(host: "127.0.0.1", port: broker.port), filters: filters, firstPause: .milliseconds(10),
            arrival: arrival)
    }

    func testMessagesArriveInTheirOrderWithTheTimeOfArrival() async throws {
        let broker = try gatewayBroker()
        let running = RunningInput(input(broker, filters: ["ruuvi/#", "home/+/BTtoMQTT/+"]))
        let refused = try await running.connected()
        XCTAssertEqual(refused, [])
        let gateway = try await GatewayPublisher(port: broker.port)
        gateway.publish("other/topic", "0")
        gateway.publish("ruuvi/a/b", "1")
        gateway.publish("home/g/BTtoMQTT/m", [0, 255])
        let first = try await running.message()
        let second = try await running.message()
        XCTAssertEqual(
            first, GatewayMessage(topic: "ruuvi/a/b", payload: Array("1".utf8), arrival: Instant(nanoseconds: 7)))
        XCTAssertEqual(second.topic, "home/g/BTtoMQTT/m")
        XCTAssertEqual(second.payload, [0, 255])
        running.task.cancel()
        await running.task.value
    }

    func testARetainedMessageIsMarked() async throws {
        let broker = try gatewayBroker()
        let gateway = try await GatewayPublisher(port: broker.port)
        try await gateway.deliver("ruuvi/a/b", "old", isRetained: true)
        let running = RunningInput(input(broker))
        let old = try await running.message()
        XCTAssertTrue(old.isRetained)
        // Published after the subscription, the same topic isn't old.
        gateway.publish("ruuvi/a/b", "new", isRetained: true)
        let new = try await running.message()
        XCTAssertFalse(new.isRetained)
        running.task.cancel()
    }

    func testTheInputReconnectsAfterTheBrokerRestarts() async throws {
        let broker = try gatewayBroker()
        let running = RunningInput(input(broker))
        _ = try await running.connected()
        broker.kill()
        let pause = try await running.next("loss") {
            if case .disconnected(_, let pause) = $0 { pause } else { nil }
        }
        XCTAssertEqual(pause, .milliseconds(10))
        // The second attempt fails as well, and its pause is twice as long.
        let longer = try await running.next("second loss") {
            if case .disconnected(.unreachable, let pause) = $0 { pause } else { nil }
        }
        XCTAssertEqual(longer, .milliseconds(20))
        try broker.restart()
        _ = try await running.connected()
        let gateway = try await GatewayPublisher(port: broker.port)
        gateway.publish("ruuvi/a/b", "again")
        let message = try await running.message()
        XCTAssertEqual(message.payload, Array("again".utf8))
        running.task.cancel()
    }

    func testAMessageWithoutArrivalIsDiscarded() async throws {
        let broker = try gatewayBroker()
        let running = RunningInput(
            input(broker) { $0.payload == Array("clock".utf8) ? nil : Instant(nanoseconds: 1) })
        _ = try await running.connected()
        let gateway = try await GatewayPublisher(port: broker.port)
        gateway.publish("ruuvi/a/b", "clock")
        gateway.publish("ruuvi/a/b", "reading")
        let message = try await running.message()
        XCTAssertEqual(message.payload, Array("reading".utf8))
        running.task.cancel()
    }

    func testACancelledInputDisconnects() async throws {
        let broker = try gatewayBroker()
        let running = RunningInput(input(broker))
        _ = try await running.connected()
        running.task.cancel()
        try await Bounded.wait(for: "end of the input") { await running.task.value }
        let deadline = ContinuousClock.now + Bounded.longest
        while !broker.log.contains("Received DISCONNECT"), ContinuousClock.now < deadline {
            // Each connection proves that the broker has gone on.
            try await GatewayPublisher(port: broker.port).close()
        }
        XCTAssertTrue(broker.log.contains("Received DISCONNECT from indoorloc"), broker.log)
    }
}
