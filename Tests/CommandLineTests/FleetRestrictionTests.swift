import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import VenuePackets
import XCTest

/// The services of a fleet under the system calls and socket families that their systemd units permit. A forbidden call
/// ends the process with SIGSYS.
final class FleetRestrictionTests: XCTestCase {
    private static func program() throws -> String {
        URL(filePath: try Tool.path()).deletingLastPathComponent().appending(path: "indoorloc-fleet").path
    }

    private func service(_ command: String, unit: String, _ arguments: [String]) throws -> ServiceProcess {
        try ServiceProcess(
            arguments, command: command, wrapper: try UnitRestrictions(unit).wrapper(of: try Self.program()))
    }

    /// Subscribes to the positions of all tags; the stream ends with the test.
    private func positions(_ port: UInt16) async throws -> AsyncStream<MQTTLinkEvent> {
        let (link, events) = MQTTLink.open(
            MQTTBroker(host: "127.0.0.1", port: port), clientID: "reader", will: nil, keepAliveSeconds: 60)
        addTeardownBlock { link.ask(.close) }
        link.ask(.subscribe("indoorloc/v1/tags/+/position", .atLeastOnce))
        _ = try await Bounded.wait(for: "the subscription") {
            await events.first { if case .subscribed = $0 { true } else { false } }
        }
        return events
    }

    func testAFleetLocatesTagsAndStoresTheirPositions() async throws {
        let nats = try NATSServer(folder: try temporaryFolder())
        defer { nats.kill() }
        let database = try PostgreSQLServer(folder: try temporaryFolder())
        defer { database.kill() }
        let broker = try broker()
        let setup = try Tool.run(["setup", "--nats", nats.url], program: try Self.program())
        XCTAssertEqual(setup.status, 0, setup.errors)
        let (venue, address) = (try FixtureFolder("tags/office").path, "mqtt://127.0.0.1:\(broker.port)")
        let store = try service(
            "store", unit: "indoorloc-fleet-store.service",
            ["--nats", nats.url, "--database", database.address(), "--create"])
        let work = try service(
            "work", unit: "indoorloc-fleet-work@.service",
            ["--nats", nats.url, "--venue", venue, "--outputs", "nats", "--outputs", address, "--http", "127.0.0.1:0"])
        let ingest = try service(
            "ingest", unit: "indoorloc-fleet-ingest@.service",
            ["--nats", nats.url, "--broker", address, "--http", "127.0.0.1:0"])
        try ingest.waitForError("granted")
        try store.waitForError("connected to the database")
        let positions = try await positions(broker.port)
        let stage = GatewayStage(
            client: try await GatewayClient(port: broker.port), venue: try VenuePacketReader().read(venue).venue)
        // The messages before the first lease of ingest are lost.
        let gateways = Task {
            while !Task.isCancelled { try await stage.publish(tag: "C3:00:00:12:AB:01", at: MapPoint(x: 30, y: 6)) }
        }
        defer { gateways.cancel() }
        _ = try await Bounded.wait(for: "a position") {
            await positions.first { if case .received = $0 { true } else { false } }
        }
        for service in [ingest, work, store] {
            service.send(SIGTERM)
            XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        }
    }
}
