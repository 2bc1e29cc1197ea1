import CBench
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// What a session does while its radio, its clock or its machine has a fault, and after it.
///
/// Each fault begins 15 s after the start of a walk. A test compares the positions with those of the undisturbed walk.
final class SourceFaultTests: XCTestCase {
    /// The undisturbed walk.
    private static let undisturbed = Task { try await story([]) }

    private static func story(_ faults: [ScanFault]) async throws -> FaultStory {
        let stage = try await FaultStage(faults)
        try await stage.play(until: 120)
        return await stage.end()
    }

    /// Asserts that a session gave as many and as good positions between two times as without the fault.
    ///
    /// - Parameter shift: the difference between the session's instants and those of the undisturbed walk.
    private func assertLocates(
        _ story: FaultStory, from begin: Double, to end: Double = 119, shift: Double = 0, line: UInt = #line
    ) async throws {
        let (own, best) = (
            story.accuracy(from: begin, to: end, shift: shift),
            try await Self.undisturbed.value.accuracy(from: begin, to: end)
        )
        XCTAssertGreaterThan(best.count, 20, line: line)
        XCTAssertGreaterThanOrEqual(own.count, best.count - 2, line: line)
        XCTAssertLessThan(own.error, best.error + 1.5, "instead of \(best.error) m", line: line)
    }

    private static let whole = ["started", "searchVenue", "getPacket", "getPacket", "findFloor", "localizationRunning"]

    func testDuplicatesChangeNothing() async throws {
        let story = try await Self.story([ScanFault(.duplicates(share: 1), at: .seconds(15), for: .seconds(60))])
        XCTAssertEqual(story.states, Self.whole + ["idle"])
        XCTAssertEqual(story.errors, [])
        try await assertLocates(story, from: 15)
    }

    func testReadingsInTheWrongOrderAreUsed() async throws {
        let story = try await Self.story([
            ScanFault(.reordering(longest: .seconds(2)), at: .seconds(15), for: .seconds(60))
        ])
        XCTAssertEqual(story.states, Self.whole + ["idle"])
        XCTAssertEqual(story.errors, [])
        try await assertLocates(story, from: 15)
    }

    func testTheSessionFindsTheVenueAgainAfterInstantsJumpForward() async throws {
        let story = try await Self.story([ScanFault(.instantJump(by: .seconds(3600)), at: .seconds(15))])
        XCTAssertEqual(story.statesWithoutFloorChanges, Self.whole + Self.whole.dropFirst() + ["idle"])
        XCTAssertEqual(story.reasons, [.silentBeacons, .noReadings, .located])
        try await assertLocates(story, from: 20, shift: 3600)
    }

    func testTheSessionContinuesAfterInstantsJumpBack() async throws {
        let story = try await Self.story([ScanFault(.instantJump(by: .seconds(-3600)), at: .seconds(15))])
        XCTAssertEqual(story.states, Self.whole + ["idle"])
        // The session's own time goes on.
        try await assertLocates(story, from: 20)
    }

    func testTheSessionContinuesAfterOneWrongInstant() async throws {
        let story = try await Self.story([
            ScanFault(.instantJump(by: .seconds(3600)), at: .seconds(15), for: .seconds(0.3))
        ])
        XCTAssertEqual(story.statesWithoutFloorChanges, Self.whole + Self.whole.dropFirst() + ["idle"])
        try await assertLocates(story, from: 30, shift: 3600)
    }

    func testTheSessionFindsTheVenueAgainAfterASuspensionThatTheInstantsCount() async throws {
        let night = Duration.seconds(8 * 3600)
        let stage = try await FaultStage([ScanFault(.suspension(night, isCounted: true), at: .seconds(15))])
        try await stage.play(until: 15)
        stage.clock.advance(by: night)
        try await stage.play(until: 120)
        let story = await stage.end()
        XCTAssertEqual(story.statesWithoutFloorChanges, Self.whole + Self.whole.dropFirst() + ["idle"])
        XCTAssertEqual(story.errors, [])
        try await assertLocates(story, from: 20, shift: night.seconds)
    }

    func testTheSessionContinuesAfterASuspensionThatTheInstantsDoNotCount() async throws {
        let night = Duration.seconds(8 * 3600)
        let stage = try await FaultStage([ScanFault(.suspension(night, isCounted: false), at: .seconds(15))])
        try await stage.play(until: 15)
        stage.clock.advance(by: night)
        try await stage.play(until: 120)
        let story = await stage.end()
        XCTAssertEqual(story.errors, [])
        try await assertLocates(story, from: 60)
        // The times of day follow the machine's clock.
        XCTAssertEqual(Set(story.wallShifts(within: 60)), [0, night.seconds])
    }

    func testAChangeOfTheWallClockChangesTimesOfDayOnly() async throws {
        let story = try await Self.story([
            ScanFault(.wallClockJump(by: .seconds(-86_400)), at: .seconds(15), for: .seconds(60))
        ])
        XCTAssertEqual(story.states, Self.whole + ["idle"])
        XCTAssertEqual(story.errors, [])
        try await assertLocates(story, from: 15)
        XCTAssertEqual(Set(story.wallShifts(within: 1)), [0, -86_400])
        XCTAssertEqual(story.wallShifts(within: 1).last, 0)
    }

    func testTheSessionFindsTheVenueAgainAfterHoursOfSilence() async throws {
        let pause = 2 * 3600.0
        let stage = try await FaultStage([ScanFault(.silence, at: .seconds(15), for: .seconds(pause))])
        try await stage.play(until: 60)
        let before = cbench_heap_bytes()
        try await stage.play(until: pause, step: 60)
        XCTAssertLessThan(Int(cbench_heap_bytes()) - Int(before), 1 << 20)
        let reason = await stage.localizer.diagnosis.reason
        XCTAssertEqual(reason, .noReadings)
        try await stage.play(until: pause + 120)
        let story = await stage.end()
        XCTAssertEqual(story.statesWithoutFloorChanges, Self.whole + Self.whole.dropFirst() + ["idle"])
        XCTAssertEqual(story.reasons, [.silentBeacons, .noReadings, .located])
        let silent = story.outputs.filter { (61..<pause).contains($0.instant.seconds - FaultStage.beginning) }
        XCTAssertEqual(silent, [], "nothing is repeated during the silence")
        let (count, error) = story.accuracy(from: pause + 25, to: pause + 119)
        XCTAssertGreaterThan(count, 180)
        XCTAssertLessThan(error, 4)
    }

    func testAnAdapterThatIsPulledOutIsReportedAndTheSessionContinuesWithIt() async throws {
        let stage = try await FaultStage([ScanFault(.unplugging, at: .seconds(15), for: .seconds(20))])
        try await stage.play(until: 30)
        let diagnosis = await stage.localizer.diagnosis
        XCTAssertEqual(diagnosis.reason, .radioFailed)
        XCTAssertEqual(diagnosis.radio?.status, .unplugged)
        try await stage.play(until: 120)
        let story = await stage.end()
        XCTAssertEqual(story.errors.map(\.message), ["hci0 is not plugged in"])
        XCTAssertEqual(story.reasons, [.radioFailed, .located])
        XCTAssertEqual(story.states, Self.whole + ["idle"])
        try await assertLocates(story, from: 45)
    }

    func testAScanThatFailsIsStartedAgainUntilItSucceeds() async throws {
        let stage = try await FaultStage([ScanFault(.failure, at: .seconds(15), for: .seconds(20))])
        try await stage.play(until: 30)
        var diagnosis = await stage.localizer.diagnosis
        // During an attempt, no next attempt is known.
        for half in 1...8 where diagnosis.retryAfter == nil {
            try await stage.play(until: 30 + Double(half) / 2)
            diagnosis = await stage.localizer.diagnosis
        }
        XCTAssertEqual(diagnosis.reason, .radioFailed)
        XCTAssertEqual(diagnosis.error, ScanFault.failure)
        XCTAssertNotNil(diagnosis.retryAfter)
        try await stage.play(until: 120)
        let story = await stage.end()
        // The pauses grow: at most 1, 2, 4, 8 and 16 s.
        XCTAssertEqual(Set(story.errors), [ScanFault.failure])
        XCTAssertLessThan(story.errors.count, 8)
        XCTAssertEqual(story.reasons, [.radioFailed, .located])
        XCTAssertEqual(story.states, Self.whole + ["idle"])
        let (count, error) = story.accuracy(from: 70, to: 119)
        XCTAssertGreaterThan(count, 90)
        XCTAssertLessThan(error, 6)
    }

    func testAFloodLosesReadingsAndIsCountedAndTheSessionStillAnswers() async throws {
        let flood = ScanFault(.flood(rate: 100_000, identities: 1 << 40), at: .seconds(15), for: .seconds(3))
        let stage = try await FaultStage([flood], capacity: 4096)
        try await stage.play(until: 15)
        let before = cbench_heap_bytes()
        try await stage.play(until: 16)
        // During the flood.
        let (state, diagnosis) = (await stage.localizer.state.name, await stage.localizer.diagnosis)
        XCTAssertEqual(state, "localizationRunning")
        XCTAssertEqual(diagnosis.reason, .located)
        try await stage.play(until: 20)
        XCTAssertGreaterThan(stage.source.deliveredReadings, 250_000)
        XCTAssertGreaterThan(stage.source.lostReadings, 100_000)
        // Nearly each reading names another beacon: none of them stays.
        XCTAssertLessThan(Int(cbench_heap_bytes()) - Int(before), 8 << 20)
        try await stage.play(until: 120)
        let story = await stage.end()
        XCTAssertEqual(story.states, Self.whole + ["idle"])
        try await assertLocates(story, from: 25)
    }
}
