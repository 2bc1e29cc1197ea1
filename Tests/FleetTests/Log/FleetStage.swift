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

    /// Creates the log and the stores on servers.
    ///
    /// - Parameter leaseTime: the time after which a lease expires. A process on a busy machine can miss the usual one.
    init(
        _ servers: [NATSServer], partitions: Int, leaseTime: Duration = NATSSetup().leaseTime
    ) async throws {
        var setup = NATSSetup()
        setup.partitioning.partitions = partitions
        setup.leaseTime = leaseTime
        setup.replicas = servers.count
        let partitioning = setup.partitioning
        let connection = try await Self.connection(to: servers, setup)
        (log, snapshots, leases) = try await Bounded.wait(for: "the log and the stores") {
            try await Self.patiently {
                (
                    try await NATSReadingLog(connection, partitioning: partitioning),
                    try await NATSSnapshotStore(connection), try await NATSLeaseStore(connection)
                )
            }
        }
        (self.servers, self.connection, self.partitioning) = (servers, connection, partitioning)
    }

    /// Connects to servers, and creates the streams and the buckets.
    static func connection(to servers: [NATSServer], _ setup: NATSSetup = NATSSetup()) async throws -> NATSConnection {
        let (urls, isCluster) = (servers.map(\.url), servers.count > 1)
        // A cluster has a leader a little after its servers listen. A busy server may answer too late.
        return try await Bounded.wait(for: "a fleet on the servers") {
            while true {
                do throws(FleetStoreError) {
                    let connection = try await NATSConnection.open(NATSServers(urls: urls), name: "test")
                    _ = try await setup.run(connection)
                    return connection
                } catch {
                    guard isCluster || error.isTransient else { throw error }
                    try Task.checkCancellation()
                }
            }
        }
    }

    /// Returns the result of requests, which are repeated if a busy server doesn't answer in time.
    static func patiently<Value>(_ body: () async throws -> Value) async throws -> Value {
        while true {
            do { return try await body() } catch let error as FleetStoreError where error.isTransient {
                try Task.checkCancellation()
            }
        }
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

    /// A broker that runs until the test ends.
    func mqttBroker() throws -> MosquittoBroker {
        let broker = try MosquittoBroker(folder: try temporaryFolder())
        // XCTest requires a Sendable block; it runs after the test, when nothing else uses the broker.
        nonisolated(unsafe) let stopped = broker
        addTeardownBlock { stopped.kill() }
        return broker
    }
}

/// The built program `indoorloc-fleet` in a process that a test stops, continues or kills, and whose lines it awaits.
final class FleetProcess: Sendable {
    private struct Output: Sendable {
        var lines: [String] = []
        /// Whether all lines were read: the process may end before.
        var isRead = false
        var status: Int32?
    }

    private let number: Int32
    private let output: WatchedState<Output>

    /// Starts the program.
    ///
    /// - Parameter program: the path of another program.
    init(_ arguments: [String], program: String? = nil) throws {
        let process = Process()
        process.executableURL = URL(filePath: try program ?? FleetProgram.path())
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        let output = WatchedState(Output())
        self.output = output
        process.terminationHandler = { process in
            let signal: Int32 = process.terminationReason == .uncaughtSignal ? 128 : 0
            output.update { $0.status = signal + process.terminationStatus }
        }
        try ProcessSignals.withAll { try process.run() }
        number = process.processIdentifier
        let reader = pipe.fileHandleForReading
        Thread.detachNewThread {
            // Bytes, as a part can end within a character.
            var rest = Data()
            while case let data = reader.availableData, !data.isEmpty {
                rest += data
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: rest[..<end], as: UTF8.self)
                    output.update { $0.lines.append(line) }
                    rest.removeSubrange(...end)
                }
            }
            output.update { $0.isRead = true }
        }
    }

    deinit { send(SIGKILL) }

    /// The lines on standard output and standard error so far.
    var lines: [String] { output.value.lines }

    /// Sends a signal, unless the process has ended.
    func send(_ signal: Int32) {
        if output.value.status == nil { kill(number, signal) }
    }

    /// Waits for a line that contains the text, from the given number of lines on.
    func wait(forLine texts: String..., after count: Int = 0) async throws {
        let output = output
        try await Bounded.wait(for: "a line with \(texts.map { "'\($0)'" }.joined(separator: " or "))") {
            try await output.wait { output in
                output.lines.dropFirst(count).contains { line in texts.contains { line.contains($0) } }
            }
        }
    }

    /// Waits for the end of the process and of its output; returns its status.
    @discardableResult func end() async throws -> Int32? {
        let output = output
        try await Bounded.wait(for: "the end of indoorloc-fleet") {
            try await output.wait { $0.status != nil && $0.isRead }
        }
        return output.value.status
    }
}
