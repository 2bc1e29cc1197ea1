import Foundation
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

    private static let gateways = (0..<12).map { "gateway\($0)" }
    /// Readings with this RSSI in dBm only show that an ingest appends those of a gateway.
    private static let probeRSSI = -40

    private static func publish(tag: Int, gateway: String, rssi: Int, to port: UInt16) async throws {
        let id = "iBeacon:e5ca1ade-f007-ba11-0000-000000000000-1-\(tag)"
        let payload = "{\"id\":\"\(id)\",\"mac\":\"c8252d8e9c2c\",\"rssi\":\(rssi),\"rssi@1m\":-59,\"distance\":2.5}"
        let message = MQTTMessage(topic: "espresense/devices/\(id)/\(gateway)", payload: Array(payload.utf8))
        try await MQTTDelivery.deliver(
            message, to: MQTTBroker(host: "127.0.0.1", port: port), patience: Bounded.longest)
    }

    /// Publishes readings until those of each gateway arrive in the log.
    ///
    /// A process owns a lease in the bucket a little before it appends the readings of its gateways.
    private func waitForOwners(_ reader: any ReadingLogReader, _ port: UInt16) async throws {
        try await Bounded.wait(for: "an ingest for each gateway") {
            var (missing, attempt) = (Set(Self.gateways), 0)
            while !missing.isEmpty {
                attempt += 1
                for gateway in missing.sorted() {
                    // The gateway filters its readings, so that a second one of the same tag might not count.
                    try await Self.publish(
                        tag: 100 + attempt, gateway: gateway, rssi: Self.probeRSSI, to: port)
                }
                let entries = try await reader.next(atMost: 100, within: .milliseconds(500)).entries
                missing.subtract(entries.map(\.reading.receiver))
            }
        }
    }

    /// Returns the next readings that are no probes.
    private func readings(_ count: Int, from reader: any ReadingLogReader) async throws -> [TagReading] {
        try await Bounded.wait(for: "\(count) readings") {
            var readings: [TagReading] = []
            while readings.count < count {
                let entries = try await reader.next(atMost: 100, within: .seconds(5)).entries
                readings += entries.map(\.reading).filter { Int($0.rssi) != Self.probeRSSI }
            }
            return readings
        }
    }

    func testTwoIngestsAppendEachReadingOnceAndTheOtherOneContinuesForOneThatEnds() async throws {
        let stage = try await FleetStage([try natsServer()], partitions: 1)
        let broker = try broker()
        // Tags outside of a register must be heard several times.
        let register = try temporaryFolder() + "/tags.csv"
        let keys = (1...1000).map { "e5ca1ade-f007-ba11-0000-000000000000/1/\($0)\n" }
        try Data(("key\n" + keys.joined()).utf8).write(to: URL(filePath: register))
        let words = ["ingest", "--broker", "mqtt://127.0.0.1:\(broker.port)", "--tags", register] + stage.options
        let history = LeaseHistory(stage.leases, of: .ingest)
        let first = try FleetProcess(words + ["--name", "first"])
        let second = try FleetProcess(words + ["--name", "second", "--http", "127.0.0.1:0"])
        for process in [first, second] { try await process.wait(forLine: "granted") }
        try await history.wait(for: ["first": 8, "second": 8])

        let reader = try await stage.log.reader(ofPartition: 0, after: 0)
        try await waitForOwners(reader, broker.port)
        for (index, gateway) in Self.gateways.enumerated() {
            try await Self.publish(tag: 1, gateway: gateway, rssi: -50 - index, to: broker.port)
        }
        var read = try await readings(Self.gateways.count, from: reader)
        first.send(SIGTERM)
        let status = try await first.end()
        XCTAssertEqual(status, 0, first.lines.joined(separator: "\n"))
        try await history.wait(for: ["second": 16])
        try await waitForOwners(reader, broker.port)
        for (index, gateway) in Self.gateways.enumerated() {
            try await Self.publish(tag: 2, gateway: gateway, rssi: -70 - index, to: broker.port)
        }
        read += try await readings(Self.gateways.count, from: reader)
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
