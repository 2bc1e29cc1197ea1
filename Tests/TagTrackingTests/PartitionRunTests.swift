import IndoorVocabulary
import TagTracking
import XCTest

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
        XCTAssertEqual(run.lag, .seconds(400))
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
