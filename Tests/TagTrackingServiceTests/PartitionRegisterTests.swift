import IndoorLocalization
import IndoorLocalizationTesting
import IndoorVocabulary
import TagTracking
import TagTrackingService
import XCTest

/// A worker whose register of the known tags is replaced.
final class PartitionRegisterTests: XCTestCase {
    private static let start = Instant(seconds: 1_800_000_000)
    private static let partitioning = Partitioning(partitions: 1)

    /// A sink that keeps the tags of its outputs, and those that it removed.
    private struct KeepingSink: FleetOutputSink {
        struct Tags: Sendable {
            var located: [TagKey] = []
            var removed: [TagKey] = []
        }

        let tags = WatchedState(Tags())

        func write(_ outputs: [FleetOutput]) async { tags.update { $0.located += outputs.map(\.tag) } }

        func use(register: TagRegister, removing removed: [TagKey]) async {
            tags.update { $0.removed += removed }
        }
    }

    /// A register that a test replaces.
    private final class Registers: Sendable {
        private struct State: Sendable {
            var number = 0
            var register: TagRegister
        }

        private let state: Guarded<State>

        init(_ tags: String...) { state = Guarded(State(register: Self.register(tags))) }

        func replace(_ tags: String...) {
            let register = Self.register(tags)
            state.withLock { $0 = State(number: $0.number + 1, register: register) }
        }

        func content(after number: inout Int?) -> TagRegister? {
            let latest = state.withLock { $0 }
            guard number != latest.number else { return nil }
            number = latest.number
            return latest.register
        }

        private static func register(_ tags: [String]) -> TagRegister {
            TagRegister(tags.map { TagRegister.Entry(key: .name($0)) })
        }
    }

    /// A hall with one receiver, in which only known tags are located.
    private static func model() -> FleetModel {
        var settings = FleetSettings()
        settings.unknownTags = .none
        settings.classes["standard"] = .light
        let receiver = VenueReceiver(
            id: "gateway", identity: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 1), major: 0, minor: 0), mapID: 1,
            point: MapPoint(x: 5, y: 10))
        let venue = Venue(
            id: 1, name: "Hall", maps: [VenueMap(id: 1, name: "Floor", level: 0, width: 40, height: 20)],
            receivers: [receiver])
        return FleetModel(venue: venue, settings: settings)
    }

    private static func readings(_ times: (tag: String, seconds: Double)...) -> [TagReading] {
        times.map { tag, seconds in
            TagReading(
                tag: .name(tag), receiver: "gateway", instant: start.advanced(by: .seconds(seconds)), rssi: -60)
        }
    }

    /// Works on the partition during a body.
    private func work(
        _ stores: MemoryStores, _ sink: KeepingSink, _ registers: Registers, _ body: () async throws -> Void
    ) async throws {
        let model = Self.model()
        let worker = PartitionWorker(
            log: stores, snapshots: stores, sink: sink, partitioning: Self.partitioning, name: "a",
            counters: WorkerCounters(), unixTime: { Self.start }, report: { _ in },
            newRegister: { number in registers.content(after: &number) },
            make: { (epoch: UInt64, snapshot: [UInt8]?) throws -> FleetMachine in
                guard let snapshot else { return FleetMachine(model: model, epoch: epoch) }
                return try FleetMachine(model: model, epoch: epoch, restoring: snapshot)
            })
        let gate = LeaseGate(SessionClock(ContinuousClock()), validUntil: Instant(nanoseconds: .max))
        let running = Task { await worker.run(partition: 0, gate: gate) }
        try await body()
        gate.handOver()
        await running.value
    }

    private static func stores() -> MemoryStores {
        MemoryStores(partitioning: partitioning, timeToLive: .seconds(1), seed: 0)
    }

    /// Waits until the sink has outputs of tags.
    private func wait(for tags: Set<TagKey>, in sink: KeepingSink) async throws {
        try await Bounded.wait(for: "outputs of \(tags)") {
            try await sink.tags.wait { tags.isSubset(of: $0.located) }
        }
    }

    func testATagThatLeavesTheRegisterIsRemovedAndItsLaterReadingsAreNotUsed() async throws {
        let (stores, sink, registers) = (Self.stores(), KeepingSink(), Registers("a", "b", "c"))
        try await work(stores, sink, registers) {
            // The later reading advances the machine.
            try await stores.append(Self.readings(("x", 0), ("a", 0), ("b", 0), ("b", 1)))
            try await wait(for: [.name("a"), .name("b")], in: sink)
            registers.replace("b", "d")
            // Of the tag "c", an earlier process may have published outputs.
            try await Bounded.wait(for: "the removal") {
                try await sink.tags.wait { $0.removed == [.name("a"), .name("c")] }
            }
            let count = sink.tags.value.located.count
            // Later than the machine, which follows the clock meanwhile, also on a busy machine.
            try await stores.append(Self.readings(("a", 300), ("d", 300), ("b", 301)))
            try await wait(for: [.name("d")], in: sink)
            XCTAssertFalse(sink.tags.value.located.dropFirst(count).contains(.name("a")))
        }
        XCTAssertFalse(sink.tags.value.located.contains(.name("x")))
        XCTAssertEqual(sink.tags.value.removed, [.name("a"), .name("c")])
        let states = await stores.allStates
        let state = try PartitionState(try XCTUnwrap(states[0]).bytes, key: "state")
        XCTAssertEqual(state.readings, 7)
        let machine = try FleetMachine(model: Self.model(), epoch: .max, restoring: state.snapshot)
        XCTAssertEqual(Set(machine.tags), [.name("b"), .name("d")])
    }

    func testATagThatLeftTheRegisterBeforeTheWorkBeganIsRemovedFirst() async throws {
        let (stores, first) = (Self.stores(), KeepingSink())
        try await work(stores, first, Registers("a", "b")) {
            try await stores.append(Self.readings(("a", 0), ("b", 0), ("b", 1)))
            try await wait(for: [.name("a"), .name("b")], in: first)
        }
        XCTAssertEqual(first.tags.value.removed, [])
        let second = KeepingSink()
        try await work(stores, second, Registers("b")) {
            try await Bounded.wait(for: "the removal") {
                try await second.tags.wait { $0.removed == [.name("a")] }
            }
            try await stores.append(Self.readings(("a", 300), ("b", 300), ("b", 301)))
            try await wait(for: [.name("b")], in: second)
        }
        XCTAssertFalse(second.tags.value.located.contains(.name("a")))
    }
}
