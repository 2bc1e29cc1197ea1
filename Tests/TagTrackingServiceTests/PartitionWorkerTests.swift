import IndoorLocalization
import IndoorLocalizationTesting
import IndoorVocabulary
import TagTracking
import TagTrackingService
import XCTest

/// Workers that share partitions in memory, with lost requests and lost answers.
final class PartitionWorkerTests: XCTestCase {
    private static let partitioning = Partitioning(partitions: 6)
    /// Long enough that a process on a busy machine keeps its leases until it has stored a state.
    private static let timeToLive = Duration.seconds(1)

    /// A machine that keeps the readings of each tag in their order.
    private struct Recorder: PartitionMachine {
        var bytes: [UInt8] = []
        var wakeAt: Instant? { nil }

        mutating func observe(_ reading: TagReading) { bytes += Array("\(reading.tag) \(Int(reading.rssi))\n".utf8) }
        mutating func advance(to now: Instant) -> [FleetOutput] { [] }
        mutating func move(by step: Duration) {}
        func snapshot() -> [UInt8] { bytes }
    }

    private struct NoSink: FleetOutputSink {
        func write(_ outputs: [FleetOutput]) async {}
    }

    /// A sink that records which of the tags it has forgotten.
    private struct ForgettingSink: FleetOutputSink {
        let tags: [TagKey]
        let forgotten = WatchedState<[TagKey]>([])

        func write(_ outputs: [FleetOutput]) async {}

        func forget(_ isForgotten: @Sendable (TagKey) -> Bool) async {
            var found: [TagKey] = []
            for tag in tags where isForgotten(tag) { found.append(tag) }
            forgotten.update { $0 += found }
        }
    }

    private struct Process {
        let keeper: LeaseKeeper
        let counters: WorkerCounters
        let task: Task<Void, any Error>

        init(
            _ name: String, _ stores: MemoryStores, sink: any FleetOutputSink = NoSink(),
            isAble: @escaping @Sendable () -> Bool = { true }
        ) {
            let counters = WorkerCounters()
            let worker = PartitionWorker(
                log: stores, snapshots: stores, sink: sink, partitioning: PartitionWorkerTests.partitioning,
                name: name, counters: counters,
                unixTime: { Instant(seconds: 1_800_000_000) }, report: { _ in },
                make: { _, snapshot in Recorder(bytes: snapshot ?? []) })
            let keeper = LeaseKeeper(
                store: stores, group: .work, name: name,
                settings: LeaseMachine.Settings(
                    count: PartitionWorkerTests.partitioning.partitions, timeToLive: PartitionWorkerTests.timeToLive,
                    margin: .milliseconds(100)),
                isAble: isAble, report: { _ in }, work: { await worker.run(partition: $0, gate: $1) })
            (self.keeper, self.counters) = (keeper, counters)
            task = Task { try await keeper.run() }
        }

        func leave() async throws {
            keeper.leave()
            try await Bounded.wait(for: "the end of the keeper") { [task] in try await task.value }
        }
    }

    func testEachReadingIsCountedOnceInTheOrderOfTheLogDespiteLostRequestsAndAnswers() async throws {
        for seed in 0..<2 as Range<UInt64> {
            let stores = MemoryStores(
                partitioning: Self.partitioning, timeToLive: Self.timeToLive,
                faults: .init(lostRequest: 0.04, lostAnswer: 0.04), seed: seed)
            var processes = [Process("a", stores), Process("b", stores)]
            var expected: [Int: [String]] = [:]
            for round in 1...60 {
                let readings = try (0..<20).map { tag in
                    TagReading(
                        tag: try XCTUnwrap(TagKey("tag\(tag)")), receiver: "hall",
                        instant: Instant(seconds: 1_800_000_000), rssi: -Double(round))
                }
                for reading in readings {
                    expected[Self.partitioning.partition(of: reading.tag), default: []].append(
                        "\(reading.tag) \(-round)")
                }
                try await stores.append(readings)
                if round == 20 { processes.append(Process("c", stores)) }
                if round == 40 { try await processes.removeFirst().leave() }
            }
            let counts = expected.mapValues { UInt64($0.count) }
            try await Bounded.wait(for: "all readings, seed \(seed)") {
                try await stores.stored.wait { stored in counts.allSatisfy { stored[$0.key] ?? 0 >= $0.value } }
            }
            for process in processes { try await process.leave() }
            for (partition, stored) in await stores.allStates {
                let state = try PartitionState(stored.bytes, key: "state")
                let lines = String(decoding: state.snapshot, as: UTF8.self).split(separator: "\n").map(String.init)
                XCTAssertEqual(lines, expected[partition] ?? [], "seed \(seed), partition \(partition)")
            }
        }
    }

    func testTheSinkForgetsTheTagsOfEachPartitionWhoseWorkHasEnded() async throws {
        let stores = MemoryStores(partitioning: Self.partitioning, timeToLive: Self.timeToLive, seed: 0)
        let tags = (0..<20).map { TagKey.name("tag\($0)") }
        let sink = ForgettingSink(tags: tags)
        let process = Process("a", stores, sink: sink)
        let counters = process.counters
        try await Bounded.poll(for: "all partitions") { counters.epochs.count == Self.partitioning.partitions }
        try await process.leave()
        // On a busy machine, a lease can have ended before.
        XCTAssertEqual(Set(sink.forgotten.value), Set(tags))
    }

    /// A machine that records the times to which it advances.
    private struct Follower: PartitionMachine {
        let times: WatchedState<[Instant]>
        var wakeAt: Instant? { Instant(nanoseconds: .min) }

        mutating func observe(_ reading: TagReading) {}
        mutating func advance(to now: Instant) -> [FleetOutput] {
            times.update { $0.append(now) }
            return []
        }
        mutating func move(by step: Duration) {}
        func snapshot() -> [UInt8] { [] }
    }

    func testAMachineFollowsTheTimeThatPassesAndNoClockThatIsSet() async throws {
        let start = Instant(seconds: 1_800_000_000)
        let partitioning = Partitioning(partitions: 1)
        let stores = MemoryStores(partitioning: partitioning, timeToLive: Self.timeToLive, seed: 0)
        try await stores.append([TagReading(tag: .name("a"), receiver: "hall", instant: start, rssi: -60)])
        let (wall, times) = (WatchedState(start), WatchedState<[Instant]>([]))
        let worker = PartitionWorker(
            log: stores, snapshots: stores, sink: NoSink(), partitioning: partitioning, name: "a",
            counters: WorkerCounters(), unixTime: { wall.value }, report: { _ in },
            make: { _, _ in Follower(times: times) })
        let gate = LeaseGate(SessionClock(ContinuousClock()), validUntil: Instant(nanoseconds: .max))
        let running = Task { await worker.run(partition: 0, gate: gate) }
        try await Bounded.wait(for: "the reading") { try await times.wait { !$0.isEmpty } }
        wall.update { $0.move(by: .seconds(3_600)) }
        let before = times.value.count
        try await Bounded.wait(for: "the passing of time") { try await times.wait { $0.count > before } }
        gate.handOver()
        await running.value
        XCTAssertLessThan(try XCTUnwrap(times.value.last), start.advanced(by: .seconds(1_800)))
    }

    func testAnExchangeHasTheTimeOfItsMachine() async throws {
        let start = Instant(seconds: 1_800_000_000)
        let stores = MemoryStores(partitioning: Self.partitioning, timeToLive: Self.timeToLive, seed: 0)
        try await stores.append([TagReading(tag: .name("a"), receiver: "hall", instant: start, rssi: -60)])
        let (times, exchanged) = (WatchedState<[Instant]>([]), WatchedState<[Instant]>([]))
        let worker = PartitionWorker(
            log: stores, snapshots: stores, sink: NoSink(), partitioning: Self.partitioning, name: "a",
            counters: WorkerCounters(), unixTime: { start }, report: { _ in },
            exchange: { _, time in exchanged.update { $0.append(time) } },
            make: { _, _ in Follower(times: times) })
        let gate = LeaseGate(SessionClock(ContinuousClock()), validUntil: Instant(nanoseconds: .max))
        let partition = Self.partitioning.partition(of: .name("a"))
        let running = Task { await worker.run(partition: partition, gate: gate) }
        // On a busy machine, the first exchange can be earlier than the reading.
        try await Bounded.wait(for: "an exchange") { try await exchanged.wait { $0.contains { $0 >= start } } }
        gate.handOver()
        await running.value
        XCTAssertTrue(times.value.contains(try XCTUnwrap(exchanged.value.first { $0 >= start })))
    }

    func testTheLeasesOfAProcessThatCannotWorkGoToOthersUntilItCan() async throws {
        let stores = MemoryStores(partitioning: Self.partitioning, timeToLive: Self.timeToLive, seed: 0)
        let isAble = Guarded(true)
        let processes = [Process("a", stores, isAble: { isAble.withLock(\.self) }), Process("b", stores)]
        let keepers = processes.map(\.keeper)
        try await Bounded.poll(for: "even shares") { keepers[0].owned == 3 && keepers[1].owned == 3 }
        isAble.withLock { $0 = false }
        // A renewal that began before can announce the process once more.
        try await Bounded.poll(for: "all for the other, the only member") {
            guard keepers[0].owned == 0, keepers[1].owned == 6 else { return false }
            return try await stores.list(.work).members == ["b"]
        }
        isAble.withLock { $0 = true }
        try await Bounded.poll(for: "even shares again") { keepers[0].owned == 3 && keepers[1].owned == 3 }
        for process in processes { try await process.leave() }
    }

    func testAProcessEndsWithAnErrorThatAPersonMustCorrect() async throws {
        let keeper = LeaseKeeper(
            store: RefusingStore(), group: .work, name: "a", settings: LeaseMachine.Settings(count: 1),
            report: { _ in }, work: { _, _ in })
        do {
            try await Bounded.wait(for: "the error") { try await keeper.run() }
            XCTFail("the keeper ended without an error")
        } catch let error as FleetStoreError {
            XCTAssertEqual(error, RefusingStore.error)
        }
    }

    func testAFailureThatLastsIsReportedOnceAMinute() async throws {
        struct NoMachine: Error {}
        let stores = MemoryStores(partitioning: Self.partitioning, timeToLive: Self.timeToLive, seed: 0)
        let (attempts, reports) = (WatchedState(0), WatchedState<[String]>([]))
        let worker = PartitionWorker(
            log: stores, snapshots: stores, sink: NoSink(), partitioning: Self.partitioning, name: "a",
            counters: WorkerCounters(), unixTime: { Instant(seconds: 1_800_000_000) },
            report: { line in reports.update { $0.append(line) } },
            make: { (_: UInt64, _: [UInt8]?) throws -> Recorder in
                attempts.update { $0 += 1 }
                throw NoMachine()
            })
        let clock = ManualClock()
        let gate = LeaseGate(SessionClock(clock), validUntil: Instant(nanoseconds: .max))
        let running = Task { await worker.run(partition: 0, gate: gate) }
        try await Bounded.wait(for: "three attempts") { try await attempts.wait { $0 >= 3 } }
        XCTAssertEqual(reports.value.count, 1, "\(reports.value)")
        clock.advance(by: .seconds(60))
        try await Bounded.wait(for: "a later report") { try await reports.wait { $0.count == 2 } }
        gate.handOver()
        await running.value
        XCTAssertTrue(reports.value.first?.contains("the state of partition 0") ?? false, "\(reports.value)")
    }

    func testLeasesThatCannotBeReadAreReportedOnceUntilTheyCan() async throws {
        let (store, reports) = (UnreadStore(), WatchedState<[String]>([]))
        let keeper = LeaseKeeper(
            store: store, group: .work, name: "a",
            settings: LeaseMachine.Settings(count: 1, timeToLive: .milliseconds(40), margin: .milliseconds(10)),
            report: { line in reports.update { $0.append(line) } }, work: { _, _ in })
        let running = Task { try await keeper.run() }
        try await Bounded.wait(for: "the second failure") { try await store.lists.wait { $0 >= 8 } }
        keeper.leave()
        try await running.value
        XCTAssertEqual(reports.value.count { $0.contains("can't be read") }, 2, "\(reports.value)")
    }

    /// A store whose list can be read the fourth time only, and from the seventh time on.
    private struct UnreadStore: LeaseStore {
        let lists = WatchedState(0)

        func list(_ group: LeaseGroup) async throws(FleetStoreError) -> LeaseList {
            let count = lists.update { count in
                count += 1
                return count
            }
            guard count == 4 || count >= 7 else { throw .unavailable(reason: "a test") }
            return LeaseList()
        }

        func write(
            lease index: Int, of group: LeaseGroup, owner: String, replacing revision: UInt64?
        ) async throws(FleetStoreError) -> UInt64 { throw .unavailable(reason: "a test") }

        func announce(_ member: String, of group: LeaseGroup, isPresent: Bool) async throws(FleetStoreError) {}
    }

    private struct RefusingStore: LeaseStore {
        static let error = FleetStoreError.notPermitted(reason: "a test")

        func list(_ group: LeaseGroup) async throws(FleetStoreError) -> LeaseList { throw Self.error }

        func write(
            lease index: Int, of group: LeaseGroup, owner: String, replacing revision: UInt64?
        ) async throws(FleetStoreError) -> UInt64 { throw Self.error }

        func announce(_ member: String, of group: LeaseGroup, isPresent: Bool) async throws(FleetStoreError) {
            throw Self.error
        }
    }
}

/// A worker whose lease ends while the outcome of a write is unknown, and is renewed late.
final class DoubtfulWriteTests: XCTestCase {
    private struct Counter: PartitionMachine {
        var count: UInt8 = 0
        var wakeAt: Instant? { nil }

        mutating func observe(_ reading: TagReading) { count &+= 1 }
        mutating func advance(to now: Instant) -> [FleetOutput] { [] }
        mutating func move(by step: Duration) {}
        func snapshot() -> [UInt8] { [count] }
    }

    private struct NoSink: FleetOutputSink {
        func write(_ outputs: [FleetOutput]) async {}
    }

    /// A clock that goes on by 300 ms for each reading, and is an hour ahead for some readings.
    private final class SteppingClock: Clock {
        struct Instant: InstantProtocol {
            var offset: Duration

            func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }
            func duration(to other: Self) -> Duration { other.offset - offset }
            static func < (left: Self, right: Self) -> Bool { left.offset < right.offset }
        }

        private let state = Guarded<(readings: Int, late: Int)>((0, 0))

        var minimumResolution: Duration { .nanoseconds(1) }

        var now: Instant {
            state.withLock { state in
                state.readings += 1
                let isLate = state.late > 0
                if isLate { state.late -= 1 }
                return Instant(offset: .milliseconds(300) * state.readings + (isLate ? .seconds(3600) : .zero))
            }
        }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {}

        func jump(readings: Int) { state.withLock { $0.late = readings } }
    }

    /// A store whose second write has no answer.
    private actor Store: SnapshotStore, ReadingLog, ReadingLogReader {
        private let clock: SteppingClock
        private let lateReadings: Int
        private var writes = 0
        private var sequence: UInt64 = 0
        private var stored: StoredSnapshot?
        var gate: LeaseGate?

        init(_ clock: SteppingClock, lateReadings: Int) { (self.clock, self.lateReadings) = (clock, lateReadings) }

        func use(_ gate: LeaseGate) { self.gate = gate }

        func load(partition: Int) -> StoredSnapshot? { stored }

        func store(_ bytes: [UInt8], partition: Int, replacing revision: UInt64?) throws(FleetStoreError) -> UInt64 {
            guard stored?.revision == revision else { throw .conflict(key: "state") }
            writes += 1
            if writes == 2 {
                clock.jump(readings: lateReadings)
                throw .unavailable(reason: "a fault of the test")
            }
            if writes == 5 { gate?.handOver() }
            stored = StoredSnapshot(bytes: bytes, revision: UInt64(writes))
            return UInt64(writes)
        }

        func append(_ readings: [TagReading]) {}

        func reader(ofPartition partition: Int, after sequence: UInt64) -> any ReadingLogReader { self }

        func next(atMost count: Int, within patience: Duration) -> LogBatch {
            sequence += 1
            let now = IndoorVocabulary.Instant(seconds: 1_800_000_000)
            let reading = TagReading(tag: .name("a"), receiver: "hall", instant: now, rssi: -60)
            return LogBatch(entries: [LogEntry(sequence: sequence, storedAt: now, reading: reading)])
        }

        func close() {}

        var state: StoredSnapshot? { stored }
    }

    func testALeaseThatIsRenewedLateContinuesFromTheStoredState() async throws {
        var renewed: [Int] = []
        for lateReadings in 1...8 {
            let clock = SteppingClock()
            let session = SessionClock(clock)
            let gate = LeaseGate(session, validUntil: Instant(seconds: 1800))
            let store = Store(clock, lateReadings: lateReadings)
            await store.use(gate)
            let worker = PartitionWorker(
                log: store, snapshots: store, sink: NoSink(), partitioning: Partitioning(), name: "a",
                counters: WorkerCounters(), unixTime: { Instant(seconds: 1_800_000_000) }, report: { _ in },
                make: { _, snapshot in Counter(count: snapshot?.first ?? 0) })
            try await Bounded.wait(for: "the end of the work") { await worker.run(partition: 0, gate: gate) }
            // A lease that ended for the worker, too, isn't taken again here.
            guard let stored = await store.state, stored.revision > 1 else { continue }
            renewed.append(lateReadings)
            let state = try PartitionState(stored.bytes, key: "state")
            XCTAssertEqual(state.readings, UInt64(try XCTUnwrap(state.snapshot.first)), "\(lateReadings)")
        }
        XCTAssertFalse(renewed.isEmpty)
    }
}

/// The receivers of a fleet as two workers observe them, each with the evidence of its own tags.
final class WorkerReceiversTests: XCTestCase {
    private static let venue = Venue(
        id: 1, name: "Hall", maps: [VenueMap(id: 1, name: "Floor", level: 0, width: 40, height: 20)],
        receivers: (0..<4).map { index in
            VenueReceiver(
                id: "gateway-\(index)",
                identity: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 1), major: 0, minor: UInt16(index)), mapID: 1,
                point: MapPoint(x: 5 + 10 * Double(index), y: 10))
        })

    private static func instant(_ seconds: Int) -> Instant { Instant(seconds: 1_800_000_000 + Double(seconds)) }

    private let workers = [WorkerReceivers(venue: venue), WorkerReceivers(venue: venue)]

    private func exchange() {
        let snapshots = workers.map(\.snapshot)
        workers[0].setOthers([snapshots[1]])
        workers[1].setOthers([snapshots[0]])
    }

    /// Runs from one second to another, and returns the events of each worker as `RECEIVER HEALTH`.
    private func run(_ seconds: Range<Int>, receivers: [Set<Int>]) -> [[String]] {
        var events: [[String]] = [[], []]
        for second in seconds where second.isMultiple(of: 5) {
            for (index, worker) in workers.enumerated() {
                var evidence = ReceiverEvidence()
                for receiver in receivers[index] { evidence.addMessage(of: receiver, at: Self.instant(second)) }
                worker.observe(evidence)
            }
            exchange()
            for (index, worker) in workers.enumerated() {
                events[index] += worker.advance(to: Self.instant(second)).map { "\($0.receiver) \($0.health)" }
            }
        }
        return events
    }

    func testBothWorkersReportTheSilenceOfAReceiverThatOneOfThemObserves() {
        XCTAssertEqual(run(0..<300, receivers: [[0, 1], [2, 3]]), [[], []])
        let silent = run(300..<900, receivers: [[0, 1], [2]])
        XCTAssertEqual(silent, [["gateway-3 silent"], ["gateway-3 silent"]])
        // The other worker observes the receiver when it sends again.
        let healthy = run(900..<960, receivers: [[0, 1, 3], [2]])
        XCTAssertEqual(healthy, [["gateway-3 healthy"], ["gateway-3 healthy"]])
        XCTAssertEqual(workers.map { $0.health(of: "gateway-2") }, [.healthy, .healthy])
    }

    func testAWorkerWithoutTagsUsesTheOffsetsThatTheOtherOneLearns() {
        var evidence = ReceiverEvidence()
        for tag in 1...20 as ClosedRange<UInt64> {
            for second in 0..<20 {
                evidence.add(
                    ReceiverEvidence.Sample(
                        tag: tag, instant: Self.instant(second), mapID: 1, point: MapPoint(x: 20, y: 10),
                        isStanding: false,
                        links: (0..<4).map { receiver in
                            ReceiverEvidence.Sample.Link(
                                receiver: receiver, rssi: receiver == 2 ? -76 : -66, count: 4, isHeard: true,
                                expected: -66, common: -66)
                        }))
            }
        }
        workers[0].observe(evidence)
        exchange()
        for worker in workers { _ = worker.advance(to: Self.instant(25)) }
        XCTAssertLessThan(workers[0].offsets[2], -5)
        for (first, second) in zip(workers[0].offsets, workers[1].offsets) {
            XCTAssertEqual(first, second, accuracy: 0.1)
        }
    }

    /// A machine of one partition whose tags are away after 30 s.
    private static func machine() -> FleetMachine {
        var settings = FleetSettings()
        settings.classes["standard"] = FleetSettings.TagClass(
            particleCount: 100, cellScale: 2, awayTimeout: .seconds(30))
        return FleetMachine(venue: venue, settings: settings)
    }

    func testAMachineKnowsWhetherAnyIngestReceivesMessages() {
        var machine = Self.machine()
        machine.observe(
            TagReading(tag: .name("a"), receiver: "gateway-0", instant: Self.instant(0), rssi: -60))
        func outputs(_ seconds: ClosedRange<Int>) -> [FleetOutput] {
            seconds.flatMap { machine.advance(to: Self.instant($0)) }
        }
        XCTAssertEqual(outputs(1...5).first?.content, .present)
        workers[0].exchange(with: &machine, isListening: false, at: Self.instant(6))
        XCTAssertFalse(outputs(7...300).contains { $0.content == .away })
        workers[0].exchange(with: &machine, isListening: true, at: Self.instant(300))
        let away = outputs(301...340).filter { $0.content == .away }
        XCTAssertEqual(away.map(\.instant), [Self.instant(330)])
    }

    func testGatewaysWithoutAReceiverAreNamedWithTheirLatestMessages() {
        var machine = Self.machine()
        for (second, name) in [(1, "gatewy-3"), (3, "porch"), (2, "porch"), (4, "gateway-0")] {
            machine.observe(
                TagReading(tag: .name("a"), receiver: name, instant: Self.instant(second), rssi: -60))
            workers[0].exchange(with: &machine, isListening: true, at: Self.instant(second))
        }
        XCTAssertEqual(
            workers[0].activity.unknownGateways,
            [
                .init(name: "gatewy-3", latest: Self.instant(1), nearest: "gateway-3"),
                .init(name: "porch", latest: Self.instant(3)),
            ])
    }

    func testADamagedStateOfAnotherWorkerIsLeftOut() {
        workers[0].setOthers([[1, 2, 3]])
        XCTAssertEqual(workers[0].advance(to: Self.instant(0)), [])
    }
}

/// The log, the leases and the states of a fleet in memory, with faults by a seeded generator.
actor MemoryStores: ReadingLog, SnapshotStore, LeaseStore {
    /// The probabilities of faults of each call.
    struct Faults: Sendable {
        /// The call takes no effect, and has no answer.
        var lostRequest = 0.0
        /// The call takes effect, but has no answer.
        var lostAnswer = 0.0
    }

    private struct Fault: Sendable {
        var takesEffect: Bool
    }

    private let partitioning: Partitioning
    private let timeToLive: Duration
    private let clock = ContinuousClock()
    private var generator: SeededGenerator
    private var faults: Faults
    private var entries: [LogEntry] = []
    private var states: [Int: StoredSnapshot] = [:]
    private var leases: [Int: (lease: LeaseList.Lease, writtenAt: ContinuousClock.Instant)] = [:]
    private var members: [String: ContinuousClock.Instant] = [:]
    private var revision: UInt64 = 0
    /// The number of readings in the states, for waiting.
    let stored = WatchedState<[Int: UInt64]>([:])

    init(partitioning: Partitioning, timeToLive: Duration, faults: Faults = Faults(), seed: UInt64) {
        self.partitioning = partitioning
        self.timeToLive = timeToLive
        self.faults = faults
        generator = SeededGenerator(seed: seed)
    }

    private func fault() -> Fault? {
        let luck = generator.uniform()
        if luck < faults.lostRequest { return Fault(takesEffect: false) }
        return luck < faults.lostRequest + faults.lostAnswer ? Fault(takesEffect: true) : nil
    }

    /// Performs a call with its faults.
    private func call<Value>(
        _ body: () throws(FleetStoreError) -> Value
    ) throws(FleetStoreError) -> Value {
        guard let fault = fault() else { return try body() }
        if fault.takesEffect { _ = try? body() }
        throw .unavailable(reason: "a fault of the test")
    }

    /// The states of all partitions.
    var allStates: [Int: StoredSnapshot] { states }

    // MARK: Log

    func append(_ readings: [TagReading]) throws(FleetStoreError) {
        for reading in readings {
            entries.append(
                LogEntry(sequence: UInt64(entries.count + 1), storedAt: reading.instant, reading: reading))
        }
    }

    func reader(ofPartition partition: Int, after sequence: UInt64) throws(FleetStoreError) -> any ReadingLogReader {
        try call { () throws(FleetStoreError) in MemoryReader(self, partition, after: sequence) }
    }

    fileprivate func entries(
        of partition: Int, after sequence: UInt64, atMost count: Int
    ) throws(FleetStoreError) -> LogBatch {
        try call { () throws(FleetStoreError) in
            let rest = entries.filter {
                $0.sequence > sequence && partitioning.partition(of: $0.reading.tag) == partition
            }
            return LogBatch(entries: Array(rest.prefix(count)), pending: UInt64(max(0, rest.count - count)))
        }
    }

    // MARK: States

    func load(partition: Int) throws(FleetStoreError) -> StoredSnapshot? {
        try call { () throws(FleetStoreError) in states[partition] }
    }

    func store(_ bytes: [UInt8], partition: Int, replacing replaced: UInt64?) throws(FleetStoreError) -> UInt64 {
        try call { () throws(FleetStoreError) in
            guard states[partition]?.revision == replaced else { throw .conflict(key: "partition \(partition)") }
            revision += 1
            states[partition] = StoredSnapshot(bytes: bytes, revision: revision)
            let readings = try PartitionState(bytes, key: "state").readings
            stored.update { $0[partition] = readings }
            return revision
        }
    }

    // MARK: Leases

    func list(_ group: LeaseGroup) throws(FleetStoreError) -> LeaseList {
        try call { () throws(FleetStoreError) in
            let oldest = clock.now - timeToLive
            return LeaseList(
                leases: leases.filter { $0.value.writtenAt > oldest }.mapValues(\.lease),
                members: Set(members.filter { $0.value > oldest }.keys))
        }
    }

    func write(
        lease index: Int, of group: LeaseGroup, owner: String, replacing replaced: UInt64?
    ) throws(FleetStoreError) -> UInt64 {
        try call { () throws(FleetStoreError) in
            let current = leases[index].flatMap { $0.writtenAt > clock.now - timeToLive ? $0.lease : nil }
            guard current?.revision == replaced else { throw .conflict(key: "lease \(index)") }
            revision += 1
            leases[index] = (LeaseList.Lease(owner: owner, revision: revision), clock.now)
            return revision
        }
    }

    func announce(_ member: String, of group: LeaseGroup, isPresent: Bool) throws(FleetStoreError) {
        try call { () throws(FleetStoreError) in members[member] = isPresent ? clock.now : nil }
    }
}

/// A reader of the log in memory.
private actor MemoryReader: ReadingLogReader {
    private let stores: MemoryStores
    private let partition: Int
    private var sequence: UInt64

    init(_ stores: MemoryStores, _ partition: Int, after sequence: UInt64) {
        self.stores = stores
        self.partition = partition
        self.sequence = sequence
    }

    func next(atMost count: Int, within patience: Duration) async throws(FleetStoreError) -> LogBatch {
        let batch = try await stores.entries(of: partition, after: sequence, atMost: count)
        sequence = batch.entries.last?.sequence ?? sequence
        if batch.entries.isEmpty { try? await Task.sleep(for: .milliseconds(5)) }
        return batch
    }

    func close() {}
}
