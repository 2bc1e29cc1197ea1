import IndoorLocalizationTesting
import IndoorVocabulary
import LoopbackServers
import NATSLog
import TagTracking
import VenuePackets
import XCTest

/// The processes of a fleet with real servers, killed and stopped.
final class FleetLogTests: XCTestCase {
    private static let tags = 150

    func testEachReadingIsCountedOnceAlthoughWorkersAndTheServerAreKilled() async throws {
        let stage = try await FleetStage([try natsServer()], partitions: 8)
        let history = LeaseHistory(stage.leases)
        let first = try stage.work("first")
        let second = try stage.work("second")
        try await history.wait(for: ["first": 4, "second": 4])
        var all: [TagReading] = []
        for round in 0..<40 {
            if round == 10 { first.send(SIGKILL) }
            if round == 20 { try stage.servers[0].restart() }
            if round == 30 { second.send(SIGKILL) }
            let readings = FleetStage.readings(tags: Self.tags, at: FleetStage.now)
            try await stage.log.append(readings)
            all += readings
        }
        let last = try stage.work("last")
        let states = try await stage.waitForReadings(stage.counts(of: all))
        XCTAssertEqual(states.mapValues(\.readings), stage.counts(of: all))
        let tags = Set(all.map(\.tag)).sorted()
        let counts = try FleetStage.readingCounts(of: tags, in: states, partitioning: stage.partitioning)
        XCTAssertEqual(counts, Array(repeating: 40, count: Self.tags))
        last.send(SIGTERM)
        let status = try await last.end()
        XCTAssertEqual(status, 0, last.lines.joined(separator: "\n"))
    }

    func testAWorkerReportsItsReadingsAndPartitionsAsMetrics() async throws {
        let stage = try await FleetStage([try natsServer()], partitions: 2)
        let readings = FleetStage.readings(tags: 30, at: FleetStage.now)
        try await stage.log.append(readings)
        let worker = try stage.work("worker", ["--http", "127.0.0.1:0"])
        try await stage.waitForReadings(stage.counts(of: readings))
        try await worker.wait(forLine: "page of the tags: ")
        let line = try XCTUnwrap(worker.lines.first { $0.contains("page of the tags: ") })
        let url = try XCTUnwrap(line.split(separator: " ").last)
        let metrics = try FleetProcess(["-sS", "\(url)metrics"], program: "/usr/bin/curl")
        try await metrics.end()
        for sample in [
            "indoorloc_worker_readings_total 30", "indoorloc_worker_partitions 2",
            "indoorloc_fleet_receivers{health=\"healthy\"} 2",
        ] {
            XCTAssertTrue(metrics.lines.contains(sample), metrics.lines.joined(separator: "\n"))
        }
        worker.send(SIGTERM)
        try await worker.end()
    }

    /// Returns the next readings of the log.
    private func readings(_ count: Int, from reader: any ReadingLogReader) async throws -> [TagReading] {
        try await Bounded.wait(for: "\(count) readings") {
            var readings: [TagReading] = []
            while readings.count < count {
                readings += try await reader.next(atMost: 2_048, within: .seconds(5)).entries.map(\.reading)
            }
            return readings
        }
    }

    func testWorkersShareTheirStatisticsOfTheReceivers() async throws {
        let stage = try await FleetStage([try natsServer()], partitions: 2)
        let history = LeaseHistory(stage.leases)
        let workers = [try stage.work("first"), try stage.work("second")]
        try await history.wait(for: ["first": 1, "second": 1])
        try await stage.log.append(FleetStage.readings(tags: 30, at: FleetStage.now))
        let store = try await NATSReceiverStore(stage.connection, worker: "test")
        let venue = try VenuePacketReader().read(try FleetStage.venue()).venue
        try await Bounded.wait(for: "the statistics of two workers") {
            while true {
                let monitors = try await store.others().map { try ReceiverMonitor(venue: venue, restoring: $0) }
                // Each of the receivers has received tags of both workers.
                if monitors.count(where: { $0.latestMessages.count == 2 }) == 2 { return }
                try Task.checkCancellation()
            }
        }
        for worker in workers {
            worker.send(SIGTERM)
            let status = try await worker.end()
            XCTAssertEqual(status, 0, worker.lines.joined(separator: "\n"))
        }
    }

    func testTheLogAcknowledgesAndDeliversManyReadingsInOrder() async throws {
        let stage = try await FleetStage([try natsServer()], partitions: 1)
        let start = FleetStage.now
        let all = (0..<100).flatMap {
            FleetStage.readings(tags: Self.tags, at: start.advanced(by: .milliseconds($0)))
        }
        let appending = try await ContinuousClock().measure { try await stage.log.append(all) }
        let reader = try await stage.log.reader(ofPartition: 0, after: 0)
        var read: [TagReading] = []
        let reading = try await ContinuousClock().measure { read = try await readings(all.count, from: reader) }
        await reader.close()
        XCTAssertEqual(read, all)
        print(
            "\(Int(Double(all.count) / appending.seconds)) readings acknowledged and "
                + "\(Int(Double(all.count) / reading.seconds)) read per second")
    }

    func testAReadingThatIsSentAgainIsStoredOnce() async throws {
        let stage = try await FleetStage([try natsServer()], partitions: 1)
        let readings = FleetStage.readings(tags: 10, at: FleetStage.now)
        try await stage.log.append(readings)
        try await stage.log.append(readings)
        let others = FleetStage.readings(tags: 10, at: FleetStage.now)
        try await stage.log.append(others)
        let reader = try await stage.log.reader(ofPartition: 0, after: 0)
        let read = try await self.readings(20, from: reader)
        await reader.close()
        XCTAssertEqual(read, readings + others)
    }

    func testAStoppedWorkerIsReplacedAndJoinsAgainWhenItContinues() async throws {
        let stage = try await FleetStage([try natsServer()], partitions: 8)
        let history = LeaseHistory(stage.leases)
        let stopped = try stage.work("stopped")
        try await history.wait(for: ["stopped": 8])
        let other = try stage.work("other")
        try await history.wait(for: ["stopped": 4, "other": 4])
        var all: [TagReading] = []
        func append() async throws {
            let readings = FleetStage.readings(tags: Self.tags, at: FleetStage.now)
            try await stage.log.append(readings)
            all += readings
        }
        for _ in 0..<5 { try await append() }
        stopped.send(SIGSTOP)
        for _ in 0..<5 { try await append() }
        try await history.wait(for: ["other": 8])
        try await stage.waitForReadings(stage.counts(of: all))
        let count = stopped.lines.count
        stopped.send(SIGCONT)
        // It reports that its leases have expired, and gets its share again.
        try await stopped.wait(forLine: "expired", after: count)
        try await history.wait(for: ["stopped": 4, "other": 4])
        for _ in 0..<5 { try await append() }
        let states = try await stage.waitForReadings(stage.counts(of: all))
        XCTAssertEqual(states.mapValues(\.readings), stage.counts(of: all))
        for process in [stopped, other] {
            process.send(SIGTERM)
            let status = try await process.end()
            XCTAssertEqual(status, 0, process.lines.joined(separator: "\n"))
        }
        try await checkTruths(in: NATSOutputReader(stage.connection, consumer: "test"))
        try check(history)
    }

    /// Checks that no two different outputs of a tag have the same epoch and sequence.
    private func checkTruths(in outputs: NATSOutputReader) async throws {
        var seen: [String: [UInt8]] = [:]
        while true {
            let batch = try await outputs.next(atMost: 1_000, within: .milliseconds(500))
            guard !batch.payloads.isEmpty else { break }
            for payload in batch.payloads {
                let output = try FleetOutput(json: payload)
                let key = "\(output.tag) \(output.epoch) \(output.sequence)"
                XCTAssertEqual(seen[key] ?? payload, payload, key)
                seen[key] = payload
            }
            await outputs.acknowledge(batch)
        }
        outputs.close()
        XCTAssertFalse(seen.isEmpty)
    }

    func testNoPartitionIsWithoutOwnerForFiveSecondsWhenWorkersJoinLeaveOrAreKilled() async throws {
        let stage = try await FleetStage([try natsServer()], partitions: 64)
        let history = LeaseHistory(stage.leases)
        let first = try stage.work("first")
        try await history.wait(for: ["first": 64])
        let second = try stage.work("second")
        try await history.wait(for: ["first": 32, "second": 32])
        first.send(SIGTERM)
        try await history.wait(for: ["first": 0, "second": 64])
        let firstStatus = try await first.end()
        XCTAssertEqual(firstStatus, 0, first.lines.joined(separator: "\n"))
        let third = try stage.work("third")
        try await history.wait(for: ["second": 32, "third": 32])
        second.send(SIGKILL)
        try await history.wait(for: ["third": 64])
        third.send(SIGTERM)
        let status = try await third.end()
        XCTAssertEqual(status, 0, third.lines.joined(separator: "\n"))
        try check(history)
    }

    /// Checks the times between two owners: at most 5 s, and never less than the end of the first one's lease.
    private func check(_ history: LeaseHistory) throws {
        let lease = 3_000_000_000 as Int64
        var longest = (freed: Int64.zero, expired: Int64.zero)
        for (index, holdings) in history.holdings {
            for (last, next) in zip(holdings, holdings.dropFirst()) {
                if let freedAt = last.freedAt {
                    XCTAssertGreaterThanOrEqual(next.from, freedAt, "lease \(index)")
                    longest.freed = max(longest.freed, next.from - freedAt)
                } else {
                    XCTAssertGreaterThanOrEqual(
                        next.from, last.renewedAt + lease, "lease \(index): \(last.owner) and \(next.owner)")
                    longest.expired = max(longest.expired, next.from - last.renewedAt)
                }
            }
        }
        XCTAssertLessThan(longest.freed, 5_000_000_000)
        XCTAssertLessThan(longest.expired, 5_000_000_000)
        print(
            "longest time without owner: \(longest.freed / 1_000_000) ms handed over, "
                + "\(longest.expired / 1_000_000) ms after the last renewal of a killed or stopped worker")
    }

    func testNothingIsLostWhenAServerOfAClusterIsKilled() async throws {
        let folder = try temporaryFolder()
        let servers = try NATSServer.cluster(of: 3, folder: folder)
        // XCTest requires a Sendable block; it runs after the test, when nothing else uses the servers.
        nonisolated(unsafe) let stopped = servers
        addTeardownBlock { for server in stopped { server.kill() } }
        let stage = try await FleetStage(servers, partitions: 8)
        let history = LeaseHistory(stage.leases)
        let worker = try stage.work("worker")
        try await history.wait(for: ["worker": 8])
        var all: [TagReading] = []
        for round in 0..<12 {
            if round == 4 { servers[0].kill() }
            let readings = FleetStage.readings(tags: Self.tags, at: FleetStage.now)
            try await stage.log.append(readings)
            all += readings
        }
        let states: [Int: PartitionState]
        do { states = try await stage.waitForReadings(stage.counts(of: all)) } catch {
            throw Bounded.Expired(awaited: "\(error): \(worker.lines.joined(separator: "\n"))")
        }
        XCTAssertEqual(states.mapValues(\.readings), stage.counts(of: all))
        worker.send(SIGTERM)
        let status = try await worker.end()
        XCTAssertEqual(status, 0, worker.lines.joined(separator: "\n"))
    }
}
