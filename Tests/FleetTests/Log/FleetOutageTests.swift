import Foundation
import IndoorLocalizationTesting
import LoopbackServers
import XCTest

/// A fleet on a real server whose processes lose their real brokers.
final class FleetOutageTests: XCTestCase {
    func testAnIngestWithoutItsBrokerLeavesItsGatewaysToTheOtherUntilBothAreWithout() async throws {
        let stage = try await FleetStage([try natsServer()], partitions: 1)
        let history = LeaseHistory(stage.leases, of: .ingest)
        let brokers = [try mqttBroker(), try mqttBroker()]
        let ingests = try zip(["first", "second"], brokers).map { name, broker in
            try FleetProcess(
                ["ingest", "--name", name, "--broker", "mqtt://127.0.0.1:\(broker.port)"] + stage.options)
        }
        try await history.wait(for: ["first": 8, "second": 8])
        let worker = try stage.work("worker")
        brokers[0].kill()
        try await history.wait(for: ["first": 0, "second": 16])
        // On a busy machine, the announcements of an ingest may expire. Then the worker reports the next one.
        let (lack, end) = ("no ingest receives messages of gateways", "an ingest receives messages of gateways again")
        try await Bounded.poll(for: "an ingest for the worker") {
            worker.lines.count { $0.contains(lack) } == worker.lines.count { $0.contains(end) }
        }
        let count = worker.lines.count
        brokers[1].kill()
        try await worker.wait(forLine: lack, after: count)
        try brokers[0].restart()
        try await history.wait(for: ["first": 16, "second": 0])
        try await worker.wait(forLine: end, after: count)
        for process in ingests + [worker] {
            process.send(SIGTERM)
            let status = try await process.end()
            XCTAssertEqual(status, 0, process.lines.joined(separator: "\n"))
        }
    }
}
