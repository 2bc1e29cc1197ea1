import Foundation
import IndoorLocalizationTesting
import LoopbackServers
import XCTest
@testable import MQTTSharing

/// The link that connects to a broker again, with a real broker.
final class ReconnectingLinkTests: XCTestCase {
    /// A link that runs in a task, whose events a test awaits.
    private struct RunningLink: Sendable {
        let events: AsyncStream<ReconnectingLink.Event>
        let task: Task<Void, Never>

        init(_ link: ReconnectingLink) {
            let (events, continuation) = AsyncStream.makeStream(of: ReconnectingLink.Event.self)
            self.events = events
            task = Task {
                await link.run { continuation.yield($0) }
                continuation.finish()
            }
        }

        /// Waits for the next event for which `value` returns a value.
        func next<Value: Sendable>(
            _ awaited: String, _ value: @escaping @Sendable (ReconnectingLink.Event) -> Value?
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

        func disconnected() async throws -> (error: MQTTSharingError, pause: Duration) {
            try await next("failure") {
                if case .disconnected(let error, let pause) = $0 { (error, pause) } else { nil }
            }
        }
    }

    private func link(port: UInt16, filters: [String] = [], needsAllFilters: Bool = false) -> ReconnectingLink {
        var link = ReconnectingLink(
            MQTTBroker(host: "127.0.0.1", port: port), clientIDPrefix: "test", largestPacket: 1 << 14)
        link.subscription = .init(filters, .atMostOnce, needsAllFilters: needsAllFilters)
        link.firstPause = .milliseconds(4)
        link.patience = Bounded.longest
        return link
    }

    /// A broker that permits no subscription.
    private func brokerWithoutSubscriptions() throws -> MosquittoBroker {
        let plugins = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/mosquitto_dynamic_security.so" }
        let plugin = try XCTUnwrap(plugins.first(where: FileManager.default.fileExists(atPath:)))
        let rules = try temporaryFolder() + "/rules.json"
        try Data(
            #"""
            {"clients": [], "groups": [], "roles": [], "defaultACLAccess": {"publishClientSend": true,
            "publishClientReceive": true, "subscribe": false, "unsubscribe": true}}
            """#.utf8
        ).write(to: URL(filePath: rules))
        return try broker(
            MosquittoBroker.Configuration(
                listener: "allow_anonymous true\nplugin \(plugin)\nplugin_opt_config_file \(rules)"))
    }

    func testThePausesDoubleWithJitter() async throws {
        let running = RunningLink(link(port: try TestPort.free()))
        var longest = Duration.milliseconds(4)
        for attempt in 1...6 {
            let (error, pause) = try await running.disconnected()
            guard case .unreachable = error else { return XCTFail("\(error)") }
            XCTAssertTrue((longest / 2...longest).contains(pause), "\(pause) after attempt \(attempt)")
            longest = longest * 2
        }
        running.task.cancel()
        try await Bounded.wait(for: "the end") { await running.task.value }
    }

    func testAServerThatDoesNotAnswerIsLeft() async throws {
        let silent = try SilentListener()
        defer { silent.close() }
        var link = link(port: silent.port, filters: ["a"])
        link.patience = .milliseconds(100)
        let running = RunningLink(link)
        let error = try await running.disconnected().error
        XCTAssertEqual(error, .noAnswer(host: "127.0.0.1", port: silent.port, to: "to the connection request"))
        running.task.cancel()
    }

    func testARefusedFilterIsReportedOrEndsTheConnection() async throws {
        let broker = try brokerWithoutSubscriptions()
        let tolerant = RunningLink(link(port: broker.port, filters: ["a/#", "b"]))
        let refused = try await tolerant.connected()
        XCTAssertEqual(refused.sorted(), ["a/#", "b"])
        tolerant.task.cancel()
        let strict = RunningLink(link(port: broker.port, filters: ["a/#"], needsAllFilters: true))
        let error = try await strict.disconnected().error
        XCTAssertEqual(error, .forbidden(topic: "a/#"))
        strict.task.cancel()
    }

    func testAClosedLinkDoesNotConnectAgain() async throws {
        let broker = try broker()
        let running = RunningLink(link(port: broker.port))
        let opened = try await running.next("attempt") { if case .opening(let link) = $0 { link } else { nil } }
        _ = try await running.connected()
        opened.ask(.close)
        var rest: [ReconnectingLink.Event] = []
        for event in try await Bounded.all(running.events) { rest.append(event) }
        XCTAssertTrue(rest.isEmpty, "\(rest)")
        try await Bounded.wait(for: "the end") { await running.task.value }
    }
}
