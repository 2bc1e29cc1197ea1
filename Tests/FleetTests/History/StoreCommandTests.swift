import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import NATSLog
import TagTracking
import TagTrackingService
import XCTest

/// The command `store` with a real broker and a real database.
final class StoreCommandTests: HistoryTestCase {
    private func run(_ arguments: String...) throws -> FleetProgram.Result {
        try FleetProgram(arguments, folder: try temporaryFolder()).end()
    }

    func testTheCommandStoresTheOutputsOfABroker() async throws {
        let broker = try mqttBroker()
        let address = try database()
        let sink = try MQTTOutputSink(MQTTBroker(host: "127.0.0.1", port: broker.port))
        await sink.start()
        // The broker retains the first outputs of the tags for the command, which starts later.
        await sink.write([
            TestOutputs.output("a", sequence: 1, .present), TestOutputs.position("a", sequence: 2, x: 12),
            TestOutputs.output("b/+#", sequence: 1, .present), TestOutputs.position("b/+#", sequence: 2, x: 3),
        ])
        let program = try FleetProgram(
            ["store", "--broker", "mqtt://127.0.0.1:\(broker.port)", "--database", address, "--create"],
            folder: try temporaryFolder())
        let connection = try TestDatabase(address)
        try connection.wait(for: ["t"], of: "SELECT to_regclass('indoorloc_history') IS NOT NULL")
        let history = "SELECT tag, sequence, type, x FROM indoorloc_history ORDER BY 1, 2"
        try connection.wait(
            for: ["a 1 present -", "a 2 position 12", "b/+# 1 present -", "b/+# 2 position 3"], of: history)
        // An event isn't retained: the subscription receives it now.
        let fence = Fence(id: 3, name: "Gate", mapID: 2, area: .polygon([]))
        let entry = LocalizationEvent(instant: .zero, venueID: 7, kind: .enterFence(fence))
        await sink.write([TestOutputs.output("a", sequence: 3, .event(entry))])
        try connection.wait(
            for: ["a 3 enterFence Gate 12"],
            of:
                "SELECT tag, sequence, type, (SELECT area FROM indoorloc_history WHERE type = 'enterFence'), x FROM indoorloc_latest WHERE tag = 'a'"
        )
        await sink.stop()
        program.send(SIGTERM)
        let result = try program.end()
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.errors.contains(" outputs stored"), result.errors)
    }

    /// The broker drops it, because the command states its largest packet. Otherwise it would be counted as invalid.
    func testAnOutputAbove64KiBIsNotReceived() async throws {
        let broker = try mqttBroker()
        let address = try database()
        let (link, events) = MQTTLink.open(
            MQTTBroker(host: "127.0.0.1", port: broker.port), clientID: "large", will: nil, keepAliveSeconds: 60)
        defer { link.ask(.close) }
        func deliver(_ tag: String, _ payload: [UInt8], isRetained: Bool = false) async throws {
            let topic = "\(MQTTOutputSettings().prefix)/tags/\(tag)/position"
            link.ask(.deliver(MQTTMessage(topic: topic, payload: payload, isRetained: isRetained)))
            try await Bounded.wait(for: "the broker's confirmation") {
                for await event in events where event == .confirmed { return }
            }
        }
        try await deliver("a", Array(TestOutputs.position("a", sequence: 1).json.utf8), isRetained: true)
        let program = try FleetProgram(
            ["store", "--broker", "mqtt://127.0.0.1:\(broker.port)", "--database", address, "--create"],
            folder: try temporaryFolder())
        let connection = try TestDatabase(address)
        try connection.wait(for: ["t"], of: "SELECT to_regclass('indoorloc_history') IS NOT NULL")
        // From then on, the command receives all outputs in their order.
        try connection.wait(for: ["1"], of: "SELECT count(*) FROM indoorloc_history")
        try await deliver("below", [UInt8](repeating: 0x20, count: 65_000))
        try await deliver("above", [UInt8](repeating: 0x20, count: 65_536))
        try await deliver("a", Array(TestOutputs.position("a", sequence: 2).json.utf8))
        try connection.wait(for: ["2"], of: "SELECT count(*) FROM indoorloc_history")
        program.send(SIGTERM)
        let result = try program.end()
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.errors.contains("tags/below/position"), result.errors)
        XCTAssertTrue(result.errors.contains("2 outputs stored, 1 invalid"), result.errors)
    }

    func testEachOutputOnANATSServerIsStoredOnceAlthoughTheCommandIsKilledAndTheDatabaseIsAway() async throws {
        let server = try NATSServer(folder: try temporaryFolder())
        defer { server.kill() }
        let nats = try await FleetStage.connection(to: [server])
        defer { nats.close() }
        let publisher = try await FleetStage.patiently {
            try await NATSOutputPublisher(nats, patience: Bounded.longest)
        }
        func publish(_ sequences: ClosedRange<UInt64>) async {
            for start in stride(from: sequences.lowerBound, through: sequences.upperBound, by: 500) {
                let part = start...min(start + 499, sequences.upperBound)
                await publisher.publish(part.map { TestOutputs.position("a", sequence: $0) })
                let isStored = await publisher.flush()
                XCTAssertTrue(isStored)
            }
        }
        // Outputs before the first start wait in the stream.
        await publish(1...20)
        let database = try self.server()
        try TestDatabase(database.address()).run("CREATE DATABASE positions")
        let address = database.address("positions")
        let options = ["store", "--nats", server.url, "--database", address, "--create"]
        let killed = try FleetProgram(options, folder: try temporaryFolder())
        let rows = "SELECT count(*), count(DISTINCT sequence), max(sequence) FROM indoorloc_history"
        var connection = try TestDatabase(address)
        try connection.wait(for: ["t"], of: "SELECT to_regclass('indoorloc_history') IS NOT NULL")
        try connection.wait(for: ["20 20 20"], of: rows)
        killed.send(SIGKILL)
        _ = try killed.end()
        await publish(21...3_000)
        let program = try FleetProgram(options, folder: try temporaryFolder())
        try connection.wait(for: ["3000 3000 3000"], of: rows)
        database.kill()
        await publish(3_001...3_500)
        try database.restart()
        connection = try TestDatabase(address)
        try connection.wait(for: ["3500 3500 3500"], of: rows)
        program.send(SIGTERM)
        let result = try program.end()
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertFalse(result.errors.contains("lost"), result.errors)
    }

    func testTheCommandEndsWithTheReasonIfTheServerHasNoStreamOfOutputs() async throws {
        let server = try NATSServer(folder: try temporaryFolder())
        defer { server.kill() }
        let result = try run("store", "--nats", server.url, "--database", try database(), "--create")
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("run 'indoorloc-fleet setup' first"), result.errors)
    }

    func testTheCommandEndsWithTheReasonIfTheDatabaseHasNoTables() throws {
        let result = try run("store", "--broker", "mqtt://127.0.0.1:1", "--database", try database())
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("indoorloc-fleet: the database has no tables"), result.errors)
        XCTAssertTrue(result.errors.contains("--create"), result.errors)
    }

    func testAnInvalidCommandLineIsAUsageError() throws {
        for (arguments, message) in [
            (["--broker", "mqtt://localhost", "--database", "postgresql://a:secret@localhost/b"], "--password-file"),
            (["--database", "postgresql:///b"], "--broker or --nats is missing"),
            (["--broker", "mqtt://localhost", "--nats", "nats://localhost"], "exclude each other"),
            (["--broker", "mqtt://localhost", "--keep-days", "0"], "--keep-days must be a whole number from 1"),
            (["--broker", "mqtt://localhost", "--prefix", "a/#"], "--prefix"),
        ] {
            let result = try FleetProgram(["store"] + arguments, folder: try temporaryFolder()).end()
            XCTAssertEqual(result.status, 2, "\(arguments)")
            XCTAssertTrue(result.errors.contains(message), result.errors)
            XCTAssertFalse(result.errors.contains("secret"), result.errors)
        }
    }
}
