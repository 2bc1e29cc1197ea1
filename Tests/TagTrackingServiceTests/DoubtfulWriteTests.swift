import IndoorLocalizationTesting
import IndoorVocabulary
import TagTracking
import TagTrackingService
import XCTest

/// A worker whose lease ends while the outcome of a write is unknown, and is renewed late.
final class DoubtfulWriteTests: XCTestCase {
    private struct Counter: PartitionMachine {
        var count: UInt8 = 0
        var wakeAt: Instant? { nil }

        mutating func observe(_ reading: TagReading) { count &+= 1 }
        mutating func advance(to now: Instant) -> [FleetOutput] { [] }
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
                log: store, snapshots: store, sink: NoSink(), name: "a", counters: WorkerCounters(),
                unixTime: { Instant(seconds: 1_800_000_000) }, report: { _ in },
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
