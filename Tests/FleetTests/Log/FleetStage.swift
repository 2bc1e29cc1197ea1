import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import LoopbackServers
import NATSLog
import TagTracking
import VenuePackets
import XCTest

/// A fleet on real servers: the log, the stores, and the processes of `indoorloc-fleet`.
struct FleetStage {
    let servers: [NATSServer]
    let connection: NATSConnection
    let log: NATSReadingLog
    let snapshots: NATSSnapshotStore
    let leases: NATSLeaseStore
    let partitioning: Partitioning

    /// The venue of the tests, with the receivers `kitchen` and `door`.
    static func venue() throws -> String {
        try FixtureFolder("packets").path + "/accepted/receivers"
    }

    /// Starts servers, and creates the log and the stores.
    init(_ servers: [NATSServer], partitions: Int) async throws {
        self.servers = servers
        let (urls, isCluster) = (servers.map(\.url), servers.count > 1)
        var setup = NATSSetup()
        setup.partitioning.partitions = partitions
        setup.replicas = servers.count
        partitioning = setup.partitioning
        // A cluster has a leader a little after its servers listen.
        connection = try await Bounded.wait(for: "a cluster with a leader") { [setup] in
            while true {
                do throws(FleetStoreError) {
                    let connection = try await NATSConnection.open(NATSServers(urls: urls), name: "test")
                    _ = try await setup.run(connection)
                    return connection
                } catch {
                    guard isCluster else { throw error }
                    try Task.checkCancellation()
                }
            }
        }
        log = try await NATSReadingLog(connection, partitioning: partitioning)
        snapshots = try await NATSSnapshotStore(connection)
        leases = try await NATSLeaseStore(connection)
    }

    /// The options of all commands for these servers.
    var options: [String] { servers.flatMap { ["--nats", $0.url] } }

    /// Starts a process of `indoorloc-fleet work`.
    func work(_ name: String, _ further: [String] = []) throws -> FleetProcess {
        try FleetProcess(
            ["work", "--venue", try Self.venue(), "--name", name, "--class", "light"] + options + further)
    }

    /// Returns one reading of each of `count` tags, with instants in increasing order from the given one.
    static func readings(tags count: Int, at instant: Instant) -> [TagReading] {
        (0..<count).compactMap { number in
            TagKey("tag-\(number)").map {
                TagReading(
                    tag: $0, receiver: number.isMultiple(of: 2) ? "kitchen" : "door",
                    instant: instant.advanced(by: .microseconds(number)), rssi: -60 - Double(number % 20))
            }
        }
    }

    /// The time of the wall clock.
    static var now: Instant { Instant(nanoseconds: Int64(Date().timeIntervalSince1970 * 1e9)) }

    /// Waits until each partition's state has the given number of readings; returns the states.
    @discardableResult func waitForReadings(
        _ counts: [Int: UInt64]
    ) async throws -> [Int: PartitionState] {
        let states = snapshots.states()
        return try await Bounded.wait(for: "the readings of all partitions") {
            var latest: [Int: PartitionState] = [:]
            for await (partition, state) in states {
                latest[partition] = state
                if counts.allSatisfy({ (latest[$0.key]?.readings ?? 0) >= $0.value }) { return latest }
            }
            throw Bounded.Expired(awaited: "readings; the states are \(latest.mapValues(\.readings))")
        }
    }

    /// Returns the number of readings that the states have of each tag, after the readings in the reorder window.
    static func readingCounts(
        of tags: [TagKey], in states: [Int: PartitionState], partitioning: Partitioning
    ) throws -> [UInt64?] {
        let model = FleetModel(venue: try VenuePacketReader().read(try venue()).venue)
        let machines = try states.mapValues { state in
            var machine = try FleetMachine(model: model, epoch: .max, restoring: state.snapshot)
            _ = machine.advance(to: state.instant.advanced(by: .seconds(1)))
            return machine
        }
        return tags.map { machines[partitioning.partition(of: $0)]?.readingCount(of: $0) }
    }

    /// Returns the number of readings of each partition.
    func counts(of readings: [TagReading]) -> [Int: UInt64] {
        Dictionary(grouping: readings) { partitioning.partition(of: $0.tag) }.mapValues { UInt64($0.count) }
    }
}

extension XCTestCase {
    /// A server that runs until the test ends.
    func natsServer(configuration: String = "") throws -> NATSServer {
        let server = try NATSServer(folder: try temporaryFolder(), configuration: configuration)
        // XCTest requires a Sendable block; it runs after the test, when nothing else uses the server.
        nonisolated(unsafe) let stopped = server
        addTeardownBlock { stopped.kill() }
        return server
    }
}
