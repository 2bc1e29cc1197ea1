import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// The memory of a localizer, as its users handle it.
final class LocalizerMemoryTests: XCTestCase {
    func testARunningSessionRemembersItsVenueAndItsPlace() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        let memory = await stage.localizer.memory
        let stay = try XCTUnwrap(memory.stay)
        XCTAssertEqual(stay.venueID, SessionStage.office.id)
        XCTAssertFalse(stay.places.isEmpty)
        XCTAssertNotNil(memory.calibration)
        let delay = await stage.localizer.delay
        XCTAssertEqual(delay, .zero, "all that was due is done")
    }

    func testSuspendEndsTheSessionAndReturnsItsMemory() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        let before = await stage.localizer.memory
        let memory = await stage.localizer.suspend()
        XCTAssertEqual(memory.stay, before.stay)
        let state = await stage.localizer.state
        XCTAssertEqual(state, .idle)
        let again = await stage.localizer.suspend()
        XCTAssertEqual(again.stay, memory.stay, "it is there until the next start")
    }

    func testAnotherLocalizerContinuesWithAnAgingMemory() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        let memory = await stage.localizer.suspend()
        let next = LocalizerStage()
        await next.localizer.restore(memory, after: .seconds(20))
        await next.localizer.restore(memory, after: .seconds(-20))
        var known = await next.localizer.memory
        XCTAssertEqual(known.age, memory.age, "a clock that was set back makes nothing younger than it was")
        await next.localizer.restore(memory, after: .seconds(20))
        await next.localizer.start()
        next.clock.advance(by: .seconds(5))
        known = await next.localizer.memory
        XCTAssertEqual(known.age, memory.age + .seconds(25))
        XCTAssertEqual(known.stay, memory.stay, "as long as nothing is heard")
        await next.localizer.restore(SessionMemory())
        known = await next.localizer.memory
        XCTAssertEqual(known.stay, memory.stay, "while a session is on, nothing else is remembered")
    }

    func testFinishedStreamsEndAfterTheEmittedElements() async throws {
        let stage = LocalizerStage()
        let positions = stage.localizer.positions
        try await stage.run()
        _ = await stage.localizer.suspend()
        stage.localizer.finishStreams()
        let told = try await Bounded.wait(for: "the end of the positions") {
            var count = 0
            for await _ in positions { count += 1 }
            return count
        }
        XCTAssertGreaterThan(told, 0)
    }

    func testTheDelayIsTheTimeSinceAMissedWakeUp() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        // Time passes in one leap: until the alarm has rung, what was due is late.
        stage.clock.advance(by: .seconds(100))
        var delay = await stage.localizer.delay
        XCTAssertTrue(delay == .zero || delay > .seconds(90), "\(delay)")
        try await stage.reach("searchVenue")
        delay = await stage.localizer.delay
        XCTAssertEqual(delay, .zero, "the venue is lost, and nothing is due any more")
    }
}
