import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class ManualClockTests: XCTestCase {
    func testTheClockStandsStillUntilATestAdvancesIt() {
        let clock = ManualClock(now: Instant(seconds: 5))
        XCTAssertEqual(clock.now, Instant(seconds: 5))
        clock.advance(by: .seconds(2))
        XCTAssertEqual(clock.now, Instant(seconds: 7))
        clock.advance(to: Instant(seconds: 9))
        XCTAssertEqual(clock.now, Instant(seconds: 9))
    }

    func testTheClockNeverRunsBackwards() {
        let clock = ManualClock(now: Instant(seconds: 5))
        clock.advance(by: .seconds(-1))
        clock.advance(to: .zero)
        XCTAssertEqual(clock.now, Instant(seconds: 5))
    }

    func testASleeperWakesAtItsDeadlineAndNotBefore() async throws {
        let clock = ManualClock()
        let woken = Task {
            try await clock.sleep(until: Instant(seconds: 10))
            return clock.now
        }
        let deadline = try await clock.waitForSleeper()
        XCTAssertEqual(deadline, Instant(seconds: 10))
        clock.advance(to: Instant(seconds: 9.999))
        XCTAssertEqual(clock.deadlines, [Instant(seconds: 10)], "the task still sleeps")
        clock.advance(to: Instant(seconds: 12))
        let now = try await woken.value
        XCTAssertEqual(now, Instant(seconds: 12))
        XCTAssertEqual(clock.deadlines, [])
    }

    func testATaskWithAPastDeadlineDoesNotSleep() async throws {
        let clock = ManualClock(now: Instant(seconds: 10))
        try await clock.sleep(until: Instant(seconds: 10))
        try await clock.sleep(for: .seconds(-1))
        XCTAssertEqual(clock.deadlines, [])
    }

    func testACancelledSleeperThrowsAndIsRemoved() async throws {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.waitForSleeper()
        sleeper.cancel()
        do {
            try await sleeper.value
            XCTFail("no error")
        } catch { XCTAssertTrue(error is CancellationError, "\(error)") }
        try await clock.waitUntilNobodySleeps()
        XCTAssertEqual(clock.deadlines, [])
    }

    func testATaskThatIsAlreadyCancelledDoesNotSleep() async throws {
        let clock = ManualClock()
        let sleeper = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        do {
            try await sleeper.value
            XCTFail("no error")
        } catch { XCTAssertTrue(error is CancellationError, "\(error)") }
    }

    func testTheClockWaitsForTheEarliestDeadline() async throws {
        let clock = ManualClock()
        // By instants: a task that only begins to sleep after the clock has advanced must not wait again.
        let sleepers = [30.0, 10, 20].map { seconds in
            Task { try await clock.sleep(until: Instant(seconds: seconds)) }
        }
        let first = try await clock.waitForSleeper(dueBy: Instant(seconds: 15))
        XCTAssertEqual(first, Instant(seconds: 10))
        clock.advance(by: .seconds(30))
        for sleeper in sleepers { try await sleeper.value }
        XCTAssertEqual(clock.deadlines, [])
    }
}
