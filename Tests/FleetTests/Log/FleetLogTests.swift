import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import LoopbackServers
import MQTTSharing
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
        // A worker that loses a lease before it has stored its state reads, and counts, the readings again.
        let stage = try await FleetStage([try natsServer()], partitions: 2, leaseTime: .seconds(30))
        let readings = FleetStage.readings(tags: 30, at: FleetStage.now)
        try await stage.log.append(readings)
        let worker = try stage.work("worker", ["--http", "127.0.0.1:0"])
        try await stage.waitForReadings(stage.counts(of: readings))
        try await worker.wait(forLine: "page of the tags: ")
        let line = try XCTUnwrap(worker.lines.first { $0.contains("page of the tags: ") })
        let url = try XCTUnwrap(line.split(separator: " ").last)
        // On a busy machine, the worker may be without a lease at times.
        try await Self.wait(
            for: [
                "indoorloc_worker_readings_total 30", "indoorloc_worker_partitions 2",
                "indoorloc_fleet_receivers{health=\"healthy\"} 2",
            ], at: "\(url)metrics")
        worker.send(SIGTERM)
        try await worker.end()
    }

    /// Waits until the answers to requests have all these lines at once.
    static func wait(for lines: [String], at urls: String...) async throws {
        let start = ContinuousClock.now
        while true {
            let answer = try FleetProcess(["-sS", "-w", "\\n"] + urls, program: "/usr/bin/curl")
            try await answer.end()
            if lines.allSatisfy({ answer.lines.contains($0) }) { return }
            guard start.duration(to: .now) < Bounded.longest else {
                throw Bounded.Expired(awaited: "\(lines) in \(answer.lines.joined(separator: "\n"))")
            }
        }
    }

    /// Returns the next readings of the log.
    private func readings(_ count: Int, from reader: any ReadingLogReader) async throws -> [TagReading] {
        try await Bounded.wait(for: "\(count) readings") {
            var readings: [TagReading] = []
            while readings.count < count {
                readings += try await FleetStage.patiently {
                    try await reader.next(atMost: 2_048, within: .seconds(5))
                }.entries.map(\.reading)
            }
            return readings
        }
    }

    func testWorkersShareTheirStatisticsOfTheReceiversAndReportUnknownGateways() async throws {
        let stage = try await FleetStage([try natsServer()], partitions: 2)
        let history = LeaseHistory(stage.leases)
        let workers = [try stage.work("first", ["--http", "127.0.0.1:0"]), try stage.work("second")]
        try await history.wait(for: ["first": 1, "second": 1])
        let store = try await FleetStage.patiently {
            try await NATSReceiverStore(stage.connection, worker: "test")
        }
        let venue = try VenuePacketReader().read(try FleetStage.venue()).venue
        let log = stage.log
        let append = { @Sendable in
            let readings = FleetStage.readings(tags: 30, at: FleetStage.now)
            let strangers = readings.map { reading in
                var reading = reading
                reading.receiver = "kitchn"
                return reading
            }
            try await log.append(readings + strangers)
        }
        try await Bounded.wait(for: "the statistics of two workers") {
            var next = ContinuousClock.now
            while true {
                // On a busy machine, a worker may lose its lease for a while, and miss the readings of that time.
                if ContinuousClock.now >= next {
                    try await append()
                    next = .now + .seconds(1)
                }
                let monitors = try await FleetStage.patiently { try await store.others() }
                    .map { try ReceiverMonitor(venue: venue, restoring: $0) }
                // Each of the receivers has received tags of both workers.
                if monitors.count(where: { $0.latestMessages.count == 2 }) == 2 { return }
                try Task.checkCancellation()
            }
        }
        for worker in workers { try await worker.wait(forLine: #"unknown gateway "kitchn": is it "kitchen"?"#) }
        let page = try XCTUnwrap(workers[0].lines.first { $0.contains("page of the tags: ") })
        let url = try XCTUnwrap(page.split(separator: " ").last)
        try await Bounded.poll(for: "the unknown gateway on the page") {
            let answer = try FleetProcess(["-sS", "-w", "\\n", "\(url)api/v1/receivers"], program: "/usr/bin/curl")
            try await answer.end()
            return answer.lines.contains { $0.contains(#""kitchn""#) }
        }
        for worker in workers {
            worker.send(SIGTERM)
            let status = try await worker.end()
            XCTAssertEqual(status, 0, worker.lines.joined(separator: "\n"))
        }
    }

    func testAWorkerLocatesTheTagsOfARegisterThatItReadsAgain() async throws {
        let stage = try await FleetStage([try natsServer()], partitions: 2)
        let register = try temporaryFolder() + "/tags.csv"
        try Data("key\ntag-0\n".utf8).write(to: URL(filePath: register))
        let worker = try stage.work("worker", ["--tags", register, "--unknown", "none"])
        try await worker.wait(forLine: "shares 2 partitions")
        // A register that can't be used changes nothing.
        try Data("key,power\ntag-1,loud\n".utf8).write(to: URL(filePath: register))
        worker.send(SIGHUP)
        try await worker.wait(forLine: "the earlier register stays in use")
        let refusal = try XCTUnwrap(worker.lines.first { $0.contains("the earlier register stays in use") })
        XCTAssertTrue(refusal.hasPrefix("indoorloc-fleet: "), refusal)
        let tags = try (0..<3).map { try XCTUnwrap(TagKey("tag-\($0)")) }
        let before = FleetStage.readings(tags: tags.count, at: FleetStage.now)
        try await stage.log.append(before)
        var states = try await stage.waitForReadings(stage.counts(of: before))
        var counts = try FleetStage.readingCounts(of: tags, in: states, partitioning: stage.partitioning)
        XCTAssertEqual(counts, [1, nil, nil])
        try Data("key\ntag-1\n".utf8).write(to: URL(filePath: register))
        worker.send(SIGHUP)
        try await worker.wait(forLine: "tags.csv: read again, 1 tag")
        let after = FleetStage.readings(tags: tags.count, at: FleetStage.now)
        try await stage.log.append(after)
        states = try await stage.waitForReadings(stage.counts(of: before + after))
        counts = try FleetStage.readingCounts(of: tags, in: states, partitioning: stage.partitioning)
        XCTAssertEqual(counts, [nil, 1, nil])
        worker.send(SIGTERM)
        let status = try await worker.end()
        XCTAssertEqual(status, 0, worker.lines.joined(separator: "\n"))
    }

    func testTheLogAcknowledgesAndDeliversManyReadingsInOrder() async throws {
        let stage = try await FleetStage([try natsServer()], partitions: 1)
        let start = FleetStage.now
        let all = (0..<100).flatMap {
            FleetStage.readings(tags: Self.tags, at: start.advanced(by: .milliseconds($0)))
        }
        let appending = try await ContinuousClock().measure { try await stage.log.append(all) }
        let reader = try await FleetStage.patiently { try await stage.log.reader(ofPartition: 0, after: 0) }
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
        let reader = try await FleetStage.patiently { try await stage.log.reader(ofPartition: 0, after: 0) }
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
        // It reports the end of its leases, and gets its share again. A renewal on its way while the process stood is refused:
        // then the lease is lost.
        try await stopped.wait(forLine: "is expired", "is lost", after: count)
        try await history.wait(for: ["stopped": 4, "other": 4])
        for _ in 0..<5 { try await append() }
        let states = try await stage.waitForReadings(stage.counts(of: all))
        XCTAssertEqual(states.mapValues(\.readings), stage.counts(of: all))
        for process in [stopped, other] {
            process.send(SIGTERM)
            let status = try await process.end()
            XCTAssertEqual(status, 0, process.lines.joined(separator: "\n"))
        }
        try await checkTruths(of: stage)
        try check(history)
    }

    /// Checks that no two different outputs of a tag have the same epoch and sequence.
    private func checkTruths(of stage: FleetStage) async throws {
        @Sendable func name(of output: FleetOutput) -> String { "\(output.tag) \(output.epoch) \(output.sequence)" }
        // A busy server may have nothing for a while. The output that is stored last is the end.
        let last = TestOutputs.position("last", sequence: 1)
        let connection = stage.connection
        let publisher = try await FleetStage.patiently {
            try await NATSOutputPublisher(connection, patience: Bounded.longest)
        }
        await publisher.publish([last])
        let isStored = await publisher.flush()
        XCTAssertTrue(isStored)
        let outputs = NATSOutputReader(connection, consumer: "test")
        let count = try await Bounded.wait(for: "all outputs") {
            var seen: [String: [UInt8]] = [:]
            while seen[name(of: last)] == nil {
                let batch = try await FleetStage.patiently {
                    try await outputs.next(atMost: 1_000, within: .milliseconds(500))
                }
                for payload in batch.payloads {
                    let key = name(of: try FleetOutput(json: payload))
                    XCTAssertEqual(seen[key] ?? payload, payload, key)
                    seen[key] = payload
                }
                await outputs.acknowledge(batch)
                try Task.checkCancellation()
            }
            return seen.count
        }
        outputs.close()
        XCTAssertGreaterThan(count, 1)
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

    /// Checks the times between two owners: never less than the end of the first one's lease, and at most 5 s, as in the
    /// simulation of `LeaseMachineTests`.
    ///
    /// A busy machine delays the rounds of the next owner, in which it takes free leases. The limit of the time therefore
    /// grows with their delay; the number of rounds has a limit that no load reaches.
    private func check(_ history: LeaseHistory) throws {
        let (lease, limit, mostRounds) = (3_000_000_000 as Int64, 5_000_000_000 as Int64, 20)
        var longest = (freed: Int64.zero, expired: Int64.zero, rounds: 0)
        for (index, holdings) in history.holdings {
            for (last, next) in zip(holdings, holdings.dropFirst()) {
                let place = "lease \(index): \(last.owner) and \(next.owner)"
                let free = last.freedAt ?? last.renewedAt + lease
                XCTAssertGreaterThanOrEqual(next.from, free, place)
                let rounds = history.rounds(before: next, since: free)
                XCTAssertLessThanOrEqual(rounds.count, mostRounds, place)
                // A round without an answer of the server takes a second instead of 750 ms.
                let delay = 4 * (rounds.delay + history.delay(of: last, before: next))
                let time = next.from - (last.freedAt ?? last.renewedAt)
                XCTAssertLessThan(time, limit + delay, place)
                longest.rounds = max(longest.rounds, rounds.count)
                if last.freedAt != nil {
                    longest.freed = max(longest.freed, time)
                } else {
                    longest.expired = max(longest.expired, time)
                }
            }
        }
        print(
            "longest time without owner: \(longest.freed / 1_000_000) ms handed over, "
                + "\(longest.expired / 1_000_000) ms after the last renewal of a killed or stopped worker, "
                + "\(longest.rounds) rounds of the next one")
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

/// The way from gateways on a real broker to the log.
final class FleetIngestTests: XCTestCase {
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
                let entries = try await FleetStage.patiently {
                    try await reader.next(atMost: 100, within: .milliseconds(500))
                }.entries
                missing.subtract(entries.map(\.reading.receiver))
            }
        }
    }

    /// Returns the next readings that are no probes.
    private func readings(_ count: Int, from reader: any ReadingLogReader) async throws -> [TagReading] {
        try await Bounded.wait(for: "\(count) readings") {
            var readings: [TagReading] = []
            while readings.count < count {
                let entries = try await FleetStage.patiently {
                    try await reader.next(atMost: 100, within: .seconds(5))
                }.entries
                readings += entries.map(\.reading).filter { Int($0.rssi) != Self.probeRSSI }
            }
            return readings
        }
    }

    func testTwoIngestsAppendEachReadingOnceAndTheOtherOneContinuesForOneThatEnds() async throws {
        // Between the end of a lease and its next owner, readings are lost. On a busy machine, a process may not renew a
        // lease for many seconds.
        let stage = try await FleetStage([try natsServer()], partitions: 1, leaseTime: .seconds(30))
        let broker = try mqttBroker()
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

        let reader = try await FleetStage.patiently { try await stage.log.reader(ofPartition: 0, after: 0) }
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
        try await second.wait(forLine: "metrics: ")
        let line = try XCTUnwrap(second.lines.first { $0.contains("metrics: ") })
        let url = String(try XCTUnwrap(line.split(separator: " ").last))
        // The process counts a group a little after the bucket has its lease.
        try await FleetLogTests.wait(
            for: [
                "indoorloc_ingest_gateway_groups 16", "indoorloc_ingest_lost_messages_total 0", "{\"status\":\"ok\"}",
            ], at: url, url.replacing(/metrics$/, with: "api/v1/health"))
        second.send(SIGTERM)
        try await second.end()
        XCTAssertTrue(
            second.lines.contains { $0.contains("readings appended, 0 messages lost") },
            second.lines.joined(separator: "\n"))
    }

    func testAnIngestAppendsTheTagsOfARegisterWhoseFileChanges() async throws {
        let stage = try await FleetStage([try natsServer()], partitions: 1)
        let broker = try mqttBroker()
        let register = try temporaryFolder() + "/tags.csv"
        try Data("key\nother\n".utf8).write(to: URL(filePath: register))
        let ingest = try FleetProcess(
            ["ingest", "--broker", "mqtt://127.0.0.1:\(broker.port)", "--tags", register, "--unknown", "none"]
                + stage.options)
        try await ingest.wait(forLine: "granted")
        // A register that can't be used changes nothing, and the process goes on.
        try Data("key,power\nother,loud\n".utf8).write(to: URL(filePath: register))
        ingest.send(SIGHUP)
        try await ingest.wait(forLine: "the earlier register stays in use")
        let keys = (1...1000).map { "e5ca1ade-f007-ba11-0000-000000000000/1/\($0)\n" }
        try Data(("key\n" + keys.joined()).utf8).write(to: URL(filePath: register))
        try await ingest.wait(forLine: "tags.csv: read again")
        let reader = try await FleetStage.patiently { try await stage.log.reader(ofPartition: 0, after: 0) }
        try await waitForOwners(reader, broker.port)
        await reader.close()
        ingest.send(SIGTERM)
        let status = try await ingest.end()
        XCTAssertEqual(status, 0, ingest.lines.joined(separator: "\n"))
    }
}

/// The outputs of a worker on a real broker that requires a password.
final class FleetOutputTests: XCTestCase {
    func testAWorkerPublishesItsOutputsOnABrokerWithAPassword() async throws {
        let folder = try temporaryFolder()
        let passwords = try FleetProcess(
            ["-c", "-b", folder + "/passwords", "fleet", "swordfish"], program: "/usr/bin/mosquitto_passwd")
        try await passwords.end()
        // The broker reads the file as another user.
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder + "/passwords")
        let listener = "allow_anonymous false\npassword_file \(folder)/passwords"
        let broker = try MosquittoBroker(folder: folder, MosquittoBroker.Configuration(listener: listener))
        defer { broker.kill() }
        let file = folder + "/password"
        try SecretText.write("swordfish\n", to: file)
        let stage = try await FleetStage([try natsServer()], partitions: 1)
        let worker = try stage.work(
            "worker",
            [
                "--outputs", "mqtt://fleet@127.0.0.1:\(broker.port)", "--broker-password-file", file,
                "--broker-plain-password",
            ])
        try await stage.log.append(FleetStage.readings(tags: 4, at: FleetStage.now))
        // The reader of the log runs on this task only, while the test waits for it.
        nonisolated(unsafe) let logged = broker
        try await Bounded.wait(for: "the outputs of a tag") {
            while !logged.log.contains("'indoorloc/v1/tags/tag-1/presence'") { try Task.checkCancellation() }
        }
        XCTAssertTrue(broker.log.contains("u'fleet'"), broker.log)
        worker.send(SIGTERM)
        let status = try await worker.end()
        XCTAssertEqual(status, 0, worker.lines.joined(separator: "\n"))
    }

    func testTheOptionsOfTheBrokerAreChecked() throws {
        for (arguments, message) in [
            (["--outputs", "mqtt://fleet@localhost", "--broker-password-file", "/dev/null"], "no password"),
            (["--outputs", "mqtt://localhost", "--broker-ca", "ca.pem"], "--broker-ca requires an address"),
            (["--outputs", "mqtt://localhost", "--broker-password-file", "a"], "requires a user"),
        ] {
            let words = ["work", "--nats", "nats://localhost", "--venue", try FleetStage.venue()] + arguments
            let result = try FleetProgram(words, folder: try temporaryFolder()).end()
            XCTAssertNotEqual(result.status, 0, "\(arguments)")
            XCTAssertTrue(result.errors.contains(message), result.errors)
        }
    }
}

/// The owners of the leases over time, from the writes in the bucket.
final class LeaseHistory: Sendable {
    /// The writes of a lease by its current owner.
    struct Holding: Sendable {
        var owner: String
        var from: Int64
        /// The time of the latest write by this owner.
        var renewedAt: Int64
        /// The time at which the owner freed the lease; nil if it did not.
        var freedAt: Int64?
    }

    private struct State: Sendable {
        var holdings: [Int: [Holding]] = [:]
        var owners: [Int: String] = [:]
        /// The rounds of each process: it announces itself in each one, after it has renewed its leases and before it
        /// takes free ones.
        var rounds: [String: [Int64]] = [:]
    }

    /// The time between two rounds in nanoseconds.
    private static let period = 750_000_000 as Int64

    private let state = WatchedState(State())
    private let task: Task<Void, Never>

    init(_ leases: NATSLeaseStore, of group: LeaseGroup = .work) {
        task = Task { [state] in
            for await entry in leases.changes(of: group) {
                guard let index = entry.lease else {
                    if !entry.owner.isEmpty {
                        state.update { $0.rounds[entry.owner, default: []].append(entry.writtenAt) }
                    }
                    continue
                }
                state.update { state in
                    state.owners[index] = entry.owner.isEmpty ? nil : entry.owner
                    let last = (state.holdings[index]?.count ?? 0) - 1
                    if entry.owner.isEmpty {
                        if last >= 0 { state.holdings[index]?[last].freedAt = entry.writtenAt }
                    } else if last >= 0, let known = state.holdings[index]?[last], known.owner == entry.owner,
                        known.freedAt == nil
                    {
                        state.holdings[index]?[last].renewedAt = entry.writtenAt
                    } else {
                        state.holdings[index, default: []].append(
                            Holding(owner: entry.owner, from: entry.writtenAt, renewedAt: entry.writtenAt))
                    }
                }
            }
        }
    }

    deinit { task.cancel() }

    /// The holdings of each lease in their order.
    var holdings: [Int: [Holding]] { state.value.holdings }

    /// Returns the number of rounds that an owner needed to take a lease that was free, and how much longer than usual
    /// these took, in nanoseconds.
    func rounds(before holding: Holding, since free: Int64) -> (count: Int, delay: Int64) {
        let rounds = state.value.rounds[holding.owner] ?? []
        let later = rounds.filter { $0 > free && $0 <= holding.from }
        let points = [rounds.last { $0 <= free } ?? free] + later + [holding.from]
        let delay = zip(points, points.dropFirst()).reduce(0 as Int64) { $0 + max(0, $1.1 - $1.0 - Self.period) }
        return (later.count, delay)
    }

    /// Returns the time for which an owner that didn't free its lease counted as a member after the end of the lease, in
    /// nanoseconds: the time between its latest renewal and its announcement in the same round.
    func delay(of last: Holding, before next: Holding) -> Int64 {
        guard last.freedAt == nil else { return 0 }
        let announced = state.value.rounds[last.owner]?.first { $0 > last.renewedAt && $0 <= next.from }
        return announced.map { $0 - last.renewedAt } ?? 0
    }

    /// Waits until processes whose names begin as given hold these numbers of leases.
    func wait(for shares: [String: Int]) async throws {
        let state = state
        do {
            try await Bounded.wait(for: "the shares \(shares)") {
                try await state.wait { state in
                    shares.allSatisfy { share in
                        state.owners.values.count { $0.hasPrefix(share.key + "-") } == share.value
                    }
                }
            }
        } catch { throw Bounded.Expired(awaited: "the shares \(shares), not \(state.value.owners)") }
    }
}
