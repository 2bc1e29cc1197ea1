import IndoorLocalizationTesting
import IndoorVocabulary
import LoopbackServers
import MQTTSharing
import NATSLog
import TagTracking
import XCTest

/// The way from gateways on a real broker to the log.
final class FleetIngestTests: XCTestCase {
    private func broker() throws -> MosquittoBroker {
        let broker = try MosquittoBroker(folder: try temporaryFolder())
        // XCTest requires a Sendable block; it runs after the test, when nothing else uses the broker.
        nonisolated(unsafe) let stopped = broker
        addTeardownBlock { stopped.kill() }
        return broker
    }

    private func publish(tag: Int, gateway: String, rssi: Int, to port: UInt16) async throws {
        let id = "iBeacon:e5ca1ade-f007-ba11-0000-000000000000-1-\(tag)"
        let payload = "{\"id\":\"\(id)\",\"mac\":\"c8252d8e9c2c\",\"rssi\":\(rssi),\"rssi@1m\":-59,\"distance\":2.5}"
        let message = MQTTMessage(topic: "espresense/devices/\(id)/\(gateway)", payload: Array(payload.utf8))
        try await MQTTDelivery.deliver(
            message, to: MQTTBroker(host: "127.0.0.1", port: port), patience: .seconds(20))
    }

    func testTwoIngestsAppendEachReadingOnceAndTheOtherOneContinuesForOneThatEnds() async throws {
        let stage = try await FleetStage([try natsServer()], partitions: 1)
        let broker = try broker()
        let words = ["ingest", "--broker", "mqtt://127.0.0.1:\(broker.port)"] + stage.options
        let history = LeaseHistory(stage.leases, of: .ingest)
        let first = try FleetProcess(words + ["--name", "first"])
        let second = try FleetProcess(words + ["--name", "second", "--http", "127.0.0.1:0"])
        for process in [first, second] { try await process.wait(forLine: "granted") }
        try await history.wait(for: ["first": 8, "second": 8])

        let gateways = (0..<12).map { "gateway\($0)" }
        for (index, gateway) in gateways.enumerated() {
            try await publish(tag: 1, gateway: gateway, rssi: -50 - index, to: broker.port)
        }
        let reader = try await stage.log.reader(ofPartition: 0, after: 0)
        var read: [TagReading] = []
        while read.count < gateways.count {
            read += try await reader.next(atMost: 100, within: .seconds(5)).entries.map(\.reading)
        }
        first.send(SIGTERM)
        let status = try await first.end()
        XCTAssertEqual(status, 0, first.lines.joined(separator: "\n"))
        try await history.wait(for: ["second": 16])
        for (index, gateway) in gateways.enumerated() {
            try await publish(tag: 2, gateway: gateway, rssi: -70 - index, to: broker.port)
        }
        while read.count < 2 * gateways.count {
            read += try await reader.next(atMost: 100, within: .seconds(5)).entries.map(\.reading)
        }
        await reader.close()
        // Each ingest appends its readings in the order of the broker.
        let expected = (0..<12).map { "gateway\($0) \(-50 - $0)" } + (0..<12).map { "gateway\($0) \(-70 - $0)" }
        XCTAssertEqual(read.map { "\($0.receiver) \(Int($0.rssi))" }.sorted(), expected.sorted())
        let line = try XCTUnwrap(second.lines.first { $0.contains("metrics: ") })
        let url = try XCTUnwrap(line.split(separator: " ").last)
        let metrics = try FleetProcess(
            ["-sS", "-w", "\\n", String(url), String(url.replacing(/metrics$/, with: "api/v1/health"))],
            program: "/usr/bin/curl")
        try await metrics.end()
        for text in [
            "indoorloc_ingest_gateway_groups 16", "indoorloc_ingest_lost_messages_total 0", "{\"status\":\"ok\"}",
        ] {
            XCTAssertTrue(metrics.lines.contains(text), metrics.lines.joined(separator: "\n"))
        }
        second.send(SIGTERM)
        try await second.end()
        XCTAssertTrue(
            second.lines.contains { $0.contains("readings appended, 0 messages lost") },
            second.lines.joined(separator: "\n"))
    }
}
