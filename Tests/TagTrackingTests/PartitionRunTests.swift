import IndoorLocalizationTesting
import IndoorVocabulary
import TagTracking
import XCTest

final class PartitioningTests: XCTestCase {
    private var keys: [TagKey] {
        [
            .name("cart"), .name("Cart"), .name("a=b"), .name("a=3Db"), .name("a b"), .name("ä/ö.*>#"), .name("-"),
            .address(DeviceAddress(rawValue: 0xAABB_CCDD_EEFF)),
            .beacon(BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)),
        ]
    }

    func testATokenHasNoCharacterWithAMeaningInSubjectsAndDifferentKeysHaveDifferentTokens() {
        let tokens = keys.map { Partitioning.token($0.description) }
        for token in tokens {
            XCTAssertFalse(token.isEmpty || token.utf8.contains { ".*> \t\r\n/".utf8.contains($0) }, token)
            XCTAssertTrue(token.utf8.allSatisfy { $0 < 0x80 }, token)
        }
        XCTAssertEqual(Set(tokens).count, keys.count)
        XCTAssertEqual(Partitioning.token("a_b c=ä"), "a_b=20c=3D=C3=A4")
    }

    func testThePartitionIsTheFoldedReferenceHashModuloTheCount() {
        // FNV-1a of "foobar": draft-eastlake-fnv, test vectors.
        let hash: UInt64 = 0x8594_4171_f739_67e8
        let folded = hash ^ (hash >> 32)
        XCTAssertEqual(Partitioning(partitions: 64).partition(of: .name("foobar")), Int(folded % 64))
        XCTAssertEqual(Partitioning(partitions: 1000).partition(of: .name("foobar")), Int(folded % 1000))
        XCTAssertEqual(Partitioning(gatewayGroups: 16).group(ofGateway: "foobar"), Int(folded % 16))
    }

    func testThePartitionsOfManyTagsHaveSimilarSizes() {
        let partitioning = Partitioning()
        var sizes = Array(repeating: 0, count: partitioning.partitions)
        for index in 0..<64_000 {
            sizes[partitioning.partition(of: .address(DeviceAddress(rawValue: UInt64(index))))] += 1
        }
        // Five standard deviations of the binomial distribution.
        XCTAssertTrue(sizes.allSatisfy { abs($0 - 1000) < 158 }, "\(sizes)")
    }

    func testACanonicalKeyHasNoKindOfAddress() {
        let key = TagKey.address(DeviceAddress(rawValue: 7, kind: .random))
        XCTAssertEqual(key.canonical, .address(DeviceAddress(rawValue: 7)))
        XCTAssertEqual(Partitioning().partition(of: key.canonical), Partitioning().partition(of: key))
        XCTAssertEqual(TagKey.name("a").canonical, .name("a"))
    }
}

final class PartitionRunTests: XCTestCase {
    private static let start = Instant(seconds: 1_800_000_000)

    private func entry(_ sequence: UInt64, tag: String = "a", after seconds: Double = 0) throws -> LogEntry {
        let instant = Self.start.advanced(by: .seconds(seconds))
        let reading = TagReading(
            tag: try XCTUnwrap(TagKey(tag)), receiver: "hall", instant: instant, rssi: -60)
        return LogEntry(sequence: sequence, storedAt: instant.advanced(by: .milliseconds(20)), reading: reading)
    }

    private func run(
        continuing stored: StoredSnapshot? = nil, owner: String = "one"
    ) throws -> PartitionRun<CountingMachine> {
        try PartitionRun(
            partition: 3, continuing: stored, owner: owner, leastEpoch: 100, at: .zero, unixTime: Self.start,
            make: CountingMachine.init)
    }

    private func owning(_ stored: StoredSnapshot? = nil, revision: UInt64 = 1) throws -> PartitionRun<CountingMachine> {
        var run = try run(continuing: stored)
        run.recordStored(revision: revision, at: .zero)
        return run
    }

    func testALaterOwnerContinuesAfterTheStoredSequenceWithAGreaterEpoch() throws {
        var first = try owning()
        _ = first.observe([try entry(5), try entry(9, tag: "b")], isLast: true, unixTime: Self.start)
        let stored = StoredSnapshot(bytes: first.write().bytes, revision: 2)

        let second = try run(continuing: stored, owner: "two")
        XCTAssertEqual(second.sequence, 9)
        XCTAssertEqual(second.readings, 2)
        XCTAssertEqual(second.epoch, first.epoch + 1)
        XCTAssertEqual(second.machine.seen, first.machine.seen)
        XCTAssertEqual(second.write().revision, 2)
    }

    func testTheEpochIsAtLeastTheGivenBound() throws {
        XCTAssertEqual(try run().epoch, 100)
    }

    func testARepeatedEntryIsSkipped() throws {
        var run = try owning()
        _ = run.observe([try entry(5), try entry(5)], isLast: true, unixTime: Self.start)
        _ = run.observe([try entry(4), try entry(6)], isLast: true, unixTime: Self.start)
        XCTAssertEqual(run.readings, 2)
        XCTAssertEqual(run.repeatedEntries, 2)
    }

    func testABatchOfALateWorkerHasOneOutputForEachTagAndAllReadings() throws {
        var run = try owning()
        let batch = try (1...100).map { try entry($0, tag: $0.isMultiple(of: 2) ? "a" : "b", after: Double($0)) }
        let outputs = run.observe(batch, isLast: false, unixTime: Self.start.advanced(by: .seconds(500)))
        XCTAssertEqual(outputs.count, 2)
        XCTAssertEqual(run.readings, 100)
        XCTAssertEqual(run.lag(at: Self.start.advanced(by: .seconds(500))), .seconds(400))
    }

    func testTheMachineOfALateWorkerFollowsTheReadingsAndNotTheClock() throws {
        var run = try owning()
        let late = Self.start.advanced(by: .seconds(300))
        _ = run.observe([try entry(1, after: 10)], isLast: false, unixTime: late)
        XCTAssertEqual(run.machineTime, Self.start.advanced(by: .seconds(10)))
        // Without further entries, it follows the clock with the delay of the latest reading.
        _ = run.observe([], isLast: true, unixTime: late.advanced(by: .seconds(2)))
        XCTAssertEqual(run.machineTime, Self.start.advanced(by: .milliseconds(11_500)))
    }

    func testTheMachineDoesNotFollowTheClockAfterAnInterruptionOfTheLog() throws {
        var run = try owning()
        _ = run.observe([try entry(1)], isLast: true, unixTime: Self.start)
        run.recordInterruption(unixTime: Self.start.advanced(by: .seconds(60)))
        _ = run.observe([], isLast: true, unixTime: Self.start.advanced(by: .seconds(61)))
        XCTAssertEqual(run.machineTime, Self.start)
        _ = run.observe([], isLast: true, unixTime: Self.start.advanced(by: .seconds(66)))
        XCTAssertEqual(run.machineTime, Self.start.advanced(by: .milliseconds(65_500)))
    }

    func testAGatewayWhoseClockRunsAheadDoesNotAdvanceTheLog() throws {
        var run = try owning()
        var fast = try entry(1)
        fast.reading.instant = Self.start.advanced(by: .seconds(3_600))
        _ = run.observe([fast], isLast: false, unixTime: Self.start)
        XCTAssertEqual(run.machineTime, Self.start.advanced(by: .milliseconds(20)))
    }

    func testEntriesThatAreLateAndALogThatIsSilentMoveNoTimes() throws {
        var run = try owning()
        func observe(_ entries: [LogEntry], _ milliseconds: Int) {
            _ = run.observe(entries, isLast: true, unixTime: Self.start.advanced(by: .milliseconds(milliseconds)))
        }
        // The log has not delivered its old entries yet.
        observe([], 1_000)
        observe([try entry(1, after: -5_000), try entry(2, after: -4_900), try entry(3, after: -10)], 2_000)
        observe([try entry(4, after: 10)], 10_100)
        observe([], 900_000)
        XCTAssertEqual(run.machineTime, Self.start.advanced(by: .milliseconds(899_400)))
        // The server had lost the consumer for some seconds.
        observe([try entry(5, after: 895)], 900_000)
        observe([try entry(6, after: 4_000)], 4_000_100)
        XCTAssertEqual(run.machine.moved, .zero)
    }

    func testAStateIsDueAfterTheIntervalAndOnlyAfterChanges() throws {
        var run = try owning()
        XCTAssertFalse(run.isSnapshotDue(at: Instant(seconds: 5)))
        _ = run.observe([try entry(1)], isLast: true, unixTime: Self.start)
        XCTAssertFalse(run.isSnapshotDue(at: Instant(seconds: 0.9)))
        XCTAssertTrue(run.isSnapshotDue(at: Instant(seconds: 1)))
        run.recordStored(revision: 2, at: Instant(seconds: 1))
        XCTAssertFalse(run.isSnapshotDue(at: Instant(seconds: 9)))
    }

    func testAStateThatTheStoreDoesNotAcceptIsPostponedWhileReadingsGoOn() throws {
        var run = try owning()
        _ = run.observe([try entry(1)], isLast: true, unixTime: Self.start)
        run.postponeSnapshot(at: Instant(seconds: 1))
        XCTAssertFalse(run.isSnapshotDue(at: Instant(seconds: 61)))
        _ = run.observe([try entry(2)], isLast: true, unixTime: Self.start)
        XCTAssertEqual(run.readings, 2)
        XCTAssertTrue(run.isSnapshotDue(at: Instant(seconds: 62)))
    }

    func testARefusedWriteFencesTheRunIfAnotherOwnerHasTheState() throws {
        var first = try owning()
        var second = try run(continuing: StoredSnapshot(bytes: first.write().bytes, revision: 1), owner: "two")
        second.recordStored(revision: 2, at: .zero)
        first.recordFailure()
        try first.reconcile(StoredSnapshot(bytes: second.write().bytes, revision: 2), at: .zero)
        XCTAssertEqual(first.phase, .fenced(by: second.epoch))
        XCTAssertFalse(first.hasUnstoredChanges)
    }

    func testAWriteWhoseAnswerWasLostDoesNotFenceTheRun() throws {
        var run = try owning()
        let bytes = run.write().bytes
        run.recordFailure()
        try run.reconcile(StoredSnapshot(bytes: bytes, revision: 7), at: .zero)
        XCTAssertEqual(run.phase, .owning)
        XCTAssertEqual(run.write().revision, 7)
    }

    func testAClaimIsFencedByAnotherClaimWithTheSameEpoch() throws {
        var first = try run(owner: "one")
        var second = try run(owner: "two")
        XCTAssertEqual(first.epoch, second.epoch)
        second.recordStored(revision: 1, at: .zero)
        first.recordFailure()
        try first.reconcile(StoredSnapshot(bytes: second.write().bytes, revision: 1), at: .zero)
        XCTAssertEqual(first.phase, .fenced(by: second.epoch))
    }

    func testADamagedStateIsReportedWithItsPartition() throws {
        // No epoch and no entry follow the greatest ones.
        let last = [(UInt64.max, UInt64(1)), (1, .max)].map { epoch, sequence in
            PartitionState(
                epoch: epoch, owner: "one", sequence: sequence, readings: 1, instant: Self.start, snapshot: [])
        }
        for bytes in [[], [1, 2, 3], try owning().write().bytes.dropLast(20).map { $0 ^ 0xFF }] + last.map(\.bytes) {
            XCTAssertThrowsError(try run(continuing: StoredSnapshot(bytes: bytes, revision: 1))) { error in
                XCTAssertTrue("\(error)".hasPrefix("the state of partition 3 is damaged"), "\(error)")
            }
        }
    }

    func testTheStateKeepsAllItsParts() throws {
        let state = PartitionState(
            epoch: 7, owner: "machine/12", sequence: .max - 1, readings: 3, instant: Self.start, snapshot: [0, 255])
        XCTAssertEqual(try PartitionState(state.bytes, key: "state"), state)
    }
}

/// The clock of the log and of the gateways' times is set while tags are located.
final class PartitionClockTests: XCTestCase {
    private let hall = FleetHall()
    private var model: FleetModel { FleetModel(venue: hall.venue, settings: FleetHall.settings) }

    /// Locates three tags for two minutes, and sets the clock by a step after the first one.
    private func locate(step: Duration) throws -> (outputs: [FleetOutput], expired: Int) {
        let model = model
        var run: PartitionRun<FleetMachine> = try PartitionRun(
            partition: 0, continuing: nil, owner: "one", leastEpoch: 1, at: .zero, unixTime: FleetHall.start
        ) { epoch, _ in FleetMachine(model: model, epoch: epoch, seed: 1) }
        run.recordStored(revision: 1, at: .zero)
        var rest = hall.readings(of: 3, seconds: 120)[...]
        var (outputs, sequence) = ([FleetOutput](), 0 as UInt64)
        for tick in 1...1_200 {
            let now = FleetHall.at(Double(tick) / 10)
            var entries: [LogEntry] = []
            while var reading = rest.first, reading.instant < now {
                rest.removeFirst()
                sequence += 1
                if tick > 600 { reading.instant.move(by: step) }
                let storedAt = reading.instant.advanced(by: .milliseconds(20))
                entries.append(LogEntry(sequence: sequence, storedAt: storedAt, reading: reading))
            }
            outputs += run.observe(entries, isLast: true, unixTime: now)
        }
        return (outputs, run.machine.statistics.expiredReadings)
    }

    func testTagsStayLocatedWhenTheClockOfTheLogIsSet() throws {
        let expected = try locate(step: .zero)
        let positions = expected.outputs.count { $0.kind == "position" }
        XCTAssertGreaterThan(positions, 300)
        for step in [Duration.seconds(3_600), .seconds(-3_600)] {
            let (outputs, expired) = try locate(step: step)
            XCTAssertEqual(expired, 0, "\(step)")
            XCTAssertEqual(outputs.count { $0.kind == "present" }, 3, "\(step)")
            XCTAssertEqual(outputs.count { $0.kind == "away" }, 0, "\(step)")
            XCTAssertGreaterThan(outputs.count { $0.kind == "position" }, positions * 9 / 10, "\(step)")
        }
    }

    func testAStateThatIsAheadOfTheLogContinuesAtTheTimeOfTheLog() throws {
        let model = model
        func continued(_ stored: StoredSnapshot?) throws -> PartitionRun<FleetMachine> {
            var run: PartitionRun<FleetMachine> = try PartitionRun(
                partition: 0, continuing: stored, owner: "one", leastEpoch: 1, at: .zero, unixTime: FleetHall.start
            ) { epoch, snapshot in
                guard let snapshot else { return FleetMachine(model: model, epoch: epoch) }
                return try FleetMachine(model: model, epoch: epoch, restoring: snapshot)
            }
            run.recordStored(revision: 1, at: .zero)
            return run
        }
        func observe(_ run: inout PartitionRun<FleetMachine>, _ seconds: Range<Int>) -> [FleetOutput] {
            seconds.flatMap { second in
                let reading = FleetHall.reading(1, at: Double(second))
                let entry = LogEntry(
                    sequence: run.sequence + 1, storedAt: reading.instant.advanced(by: .milliseconds(20)),
                    reading: reading)
                return run.observe([entry], isLast: false, unixTime: FleetHall.at(0))
            }
        }
        var first = try continued(nil)
        _ = observe(&first, 86_400..<86_410)
        var second = try continued(StoredSnapshot(bytes: first.write().bytes, revision: 1))
        let outputs = observe(&second, 0..<10)
        XCTAssertEqual(second.machine.statistics.expiredReadings, 0)
        XCTAssertGreaterThan(outputs.count, 5)
        XCTAssertTrue(outputs.allSatisfy { $0.kind == "position" && $0.instant <= FleetHall.at(10) }, "\(outputs)")
    }
}

/// Random stops, delays and lost answers of several owners of one partition, against a store with compare-and-set.
final class PartitionTakeoverTests: XCTestCase {
    private static let start = Instant(seconds: 1_800_000_000)

    /// A store whose answers can be lost, and whose writes can take effect late.
    private struct Store {
        private(set) var value: StoredSnapshot?
        /// The writes on their way.
        var late: [PartitionRun<CountingMachine>.Write] = []
        private var lastRevision: UInt64 = 0

        /// Returns the new revision; nil if the revision is another one.
        mutating func apply(_ write: PartitionRun<CountingMachine>.Write) -> UInt64? {
            guard write.revision == value?.revision else { return nil }
            lastRevision += 1
            value = StoredSnapshot(bytes: write.bytes, revision: lastRevision)
            return lastRevision
        }
    }

    private struct Simulation {
        var store = Store()
        var runs: [PartitionRun<CountingMachine>] = []
        var emitted: [FleetOutput] = []
        var claims: [UInt64] = []
        let entries: [LogEntry]
        var appended = 0

        init() throws {
            entries = try (1...120).map { number in
                let instant = start.advanced(by: .milliseconds(number * 10))
                let reading = TagReading(
                    tag: try XCTUnwrap(TagKey("tag\(number % 5)")), receiver: "hall", instant: instant, rssi: -60)
                return LogEntry(sequence: UInt64(number) * 3, storedAt: instant, reading: reading)
            }
        }

        mutating func takeOver(_ name: Int) throws {
            runs.append(
                try PartitionRun(
                    partition: 0, continuing: store.value, owner: "\(name)", leastEpoch: 1, at: .zero,
                    unixTime: start, make: CountingMachine.init))
        }

        mutating func step(_ index: Int, using generator: inout SeededGenerator) throws {
            switch runs[index].phase {
            case .claiming: try write(index, using: &generator)
            case .owning where generator.uniform() < 0.3: try write(index, using: &generator)
            case .owning:
                let next = entries.prefix(appended).filter { $0.sequence > runs[index].sequence }
                // The log delivers an entry again now and then.
                let first = entries.prefix(appended).filter { $0.sequence <= runs[index].sequence }.suffix(1)
                let batch = (generator.uniform() < 0.2 ? Array(first) : []) + next.prefix(4)
                emitted += runs[index].observe(batch, isLast: next.count <= 4, unixTime: start)
            case .doubtful:
                if generator.uniform() < 0.5 { try runs[index].reconcile(store.value, at: .zero) }
            case .fenced: break
            }
        }

        private mutating func write(_ index: Int, using generator: inout SeededGenerator) throws {
            let write = runs[index].write()
            let isClaim = runs[index].phase == .claiming
            switch generator.uniform() {
            case ..<0.6:
                guard let revision = store.apply(write) else { return runs[index].recordFailure() }
                runs[index].recordStored(revision: revision, at: .zero)
                if isClaim { claims.append(runs[index].epoch) }
            case ..<0.75:
                // The write takes effect, but the answer is lost.
                _ = store.apply(write)
                runs[index].recordFailure()
            case ..<0.9:
                store.late.append(write)
                runs[index].recordFailure()
            default: runs[index].recordFailure()
            }
        }
    }

    func testEachReadingIsCountedOnceUnderRandomStopsDelaysAndLostAnswers() throws {
        for seed in 0..<100 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var simulation = try Simulation()
            try simulation.takeOver(0)
            for step in 1...400 {
                simulation.appended = min(simulation.entries.count, step / 2)
                if generator.uniform() < 0.03 { try simulation.takeOver(step) }
                if generator.uniform() < 0.05, !simulation.store.late.isEmpty {
                    _ = simulation.store.apply(simulation.store.late.removeFirst())
                }
                // Owners that have lost the partition go on, as stopped processes do when they continue.
                let index = Int(generator.uniform() * Double(simulation.runs.count))
                try simulation.step(min(index, simulation.runs.count - 1), using: &generator)
            }
            try finish(&simulation)
            try check(simulation, seed)
        }
    }

    /// Lets one last owner observe the rest of the log.
    private func finish(_ simulation: inout Simulation) throws {
        simulation.appended = simulation.entries.count
        try simulation.takeOver(-1)
        let last = simulation.runs.count - 1
        for _ in 0..<100 {
            let write = simulation.runs[last].write()
            if let revision = simulation.store.apply(write) {
                simulation.runs[last].recordStored(revision: revision, at: .zero)
            }
            let sequence = simulation.runs[last].sequence
            let rest = simulation.entries.filter { $0.sequence > sequence }
            simulation.emitted += simulation.runs[last].observe(
                Array(rest.prefix(7)), isLast: rest.isEmpty, unixTime: Self.start)
        }
    }

    private func check(_ simulation: Simulation, _ seed: UInt64) throws {
        let stored = try XCTUnwrap(simulation.store.value)
        let state = try PartitionState(stored.bytes, key: "state")
        let machine = try CountingMachine(epoch: 0, snapshot: state.snapshot)
        let expected = Dictionary(grouping: simulation.entries, by: { $0.reading.tag.description })
            .mapValues { $0.map(\.reading.instant.nanoseconds) }
        XCTAssertEqual(machine.seen, expected, "seed \(seed)")
        XCTAssertEqual(state.readings, UInt64(simulation.entries.count), "seed \(seed)")
        // Stored claims increase in their epoch.
        XCTAssertEqual(simulation.claims, Array(Set(simulation.claims)).sorted(), "seed \(seed)")
        // A reader that drops outputs of an earlier epoch or sequence has the counts in increasing order.
        var latest: [TagKey: FleetOutput] = [:]
        for output in simulation.emitted {
            if let last = latest[output.tag], (last.epoch, last.sequence) >= (output.epoch, output.sequence) {
                continue
            }
            latest[output.tag] = output
        }
        for (tag, output) in latest {
            XCTAssertEqual(output.name, "\(expected[tag.description]?.count ?? 0)", "seed \(seed), \(tag)")
        }
        // All runs but the last one are fenced as soon as they write.
        for var run in simulation.runs.dropLast() where run.phase != .claiming {
            run.recordFailure()
            try run.reconcile(stored, at: .zero)
            guard case .fenced = run.phase else { return XCTFail("seed \(seed): \(run.owner) is \(run.phase)") }
        }
    }
}

/// A machine that counts the readings of each tag, and emits a position-like output for each tag with new readings.
struct CountingMachine: PartitionMachine, Equatable {
    let epoch: UInt64
    /// The readings of each tag by their instants, which are unique in these tests.
    private(set) var seen: [String: [Int64]] = [:]
    private(set) var moved = Duration.zero
    private var changed: Set<String> = []
    private var sequence: UInt64 = 0

    init(epoch: UInt64, snapshot: [UInt8]?) throws {
        self.epoch = epoch
        guard let snapshot else { return }
        var reader = BinaryReader(snapshot)
        while !reader.isAtEnd {
            let tag = try reader.text()
            for _ in 0..<Int(try reader.number(UInt32.self)) { seen[tag, default: []].append(try reader.number()) }
        }
    }

    var wakeAt: Instant? { changed.isEmpty ? nil : Instant(nanoseconds: .min) }

    mutating func observe(_ reading: TagReading) {
        seen[reading.tag.description, default: []].append(reading.instant.nanoseconds)
        changed.insert(reading.tag.description)
    }

    mutating func advance(to now: Instant) -> [FleetOutput] {
        defer { changed = [] }
        return changed.sorted().compactMap { tag in
            sequence += 1
            guard let key = TagKey(tag) else { return nil }
            return FleetOutput(
                tag: key, name: "\(seen[tag]?.count ?? 0)", epoch: epoch, sequence: sequence, instant: now,
                content: .present)
        }
    }

    mutating func move(by step: Duration) { moved += step }

    func snapshot() -> [UInt8] {
        var writer = BinaryWriter()
        for (tag, instants) in seen.sorted(by: { $0.key < $1.key }) {
            writer.write(tag)
            writer.write(UInt32(instants.count))
            for instant in instants { writer.write(instant) }
        }
        return writer.bytes
    }
}
