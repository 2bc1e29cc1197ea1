import IndoorLocalizationTesting
import IndoorVocabulary
import TagTracking
import TagTrackingService
import XCTest

/// Workers that share partitions in memory, with lost requests and lost answers.
final class PartitionWorkerTests: XCTestCase {
    private static let partitioning = Partitioning(partitions: 6)
    private static let timeToLive = Duration.milliseconds(400)

    /// A machine that keeps the readings of each tag in their order.
    private struct Recorder: PartitionMachine {
        var bytes: [UInt8] = []
        var wakeAt: Instant? { nil }

        mutating func observe(_ reading: TagReading) { bytes += Array("\(reading.tag) \(Int(reading.rssi))\n".utf8) }
        mutating func advance(to now: Instant) -> [FleetOutput] { [] }
        func snapshot() -> [UInt8] { bytes }
    }

    private struct NoSink: FleetOutputSink {
        func write(_ outputs: [FleetOutput]) async {}
    }

    private struct Process {
        let keeper: LeaseKeeper
        let counters: WorkerCounters
        let task: Task<Void, any Error>

        init(_ name: String, _ stores: MemoryStores) {
            let counters = WorkerCounters()
            let worker = PartitionWorker(
                log: stores, snapshots: stores, sink: NoSink(), name: name, counters: counters,
                unixTime: { Instant(seconds: 1_800_000_000) }, report: { _ in },
                make: { _, snapshot in Recorder(bytes: snapshot ?? []) })
            let keeper = LeaseKeeper(
                store: stores, group: .work, name: name,
                settings: LeaseMachine.Settings(
                    count: PartitionWorkerTests.partitioning.partitions, timeToLive: PartitionWorkerTests.timeToLive,
                    margin: .milliseconds(100)),
                report: { _ in }, work: { await worker.run(partition: $0, gate: $1) })
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
