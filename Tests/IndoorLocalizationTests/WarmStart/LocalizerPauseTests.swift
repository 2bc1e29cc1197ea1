import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// A session that is paused and goes on.
final class LocalizerPauseTests: XCTestCase {
    private let stage = LocalizerStage()

    /// Rooms are not left, and the place is known again at once.
    func testASessionContinuesWhereItWasPaused() async throws {
        try await stage.run()
        let isPausedBefore = await stage.localizer.isPaused
        XCTAssertFalse(isPausedBefore)
        let eventsBefore = await stage.localizer.eventHistory
        await stage.localizer.pause()
        let (state, isPaused) = (await stage.localizer.state, await stage.localizer.isPaused)
        XCTAssertEqual(state, .idle)
        XCTAssertTrue(isPaused)
        try await Bounded.wait(for: "the radio being let go of") { [stage] in
            try await stage.source.waitUntilNothingRuns()
        }
        stage.clock.advance(by: .seconds(60))
        await stage.localizer.resume()
        try await stage.source.waitUntilScanning(2)
        let (memory, events) = (await stage.localizer.memory, await stage.localizer.eventHistory)
        XCTAssertEqual(memory.stay?.venueID, SessionStage.office.id)
        XCTAssertGreaterThanOrEqual(memory.age, .seconds(60))
        XCTAssertEqual(events, eventsBefore, "no room or fence was left")
        let positions = stage.localizer.positions
        for reading in LocalizerStage.walk(from: LocalizerStage.beginning + 65, for: 5) { stage.source.send(reading) }
        _ = try await Bounded.first(1, of: positions)
        let isPausedAfter = await stage.localizer.isPaused
        XCTAssertFalse(isPausedAfter)
        await stage.localizer.stop()
    }

    func testMotionContinuesInItsFrameAndAStartResetsIt() async throws {
        var device = CarriedDevice()
        var machine = Machine(settings: LocalizationSettings(), seed: 1, reportsMotion: true) { _ in FixBelief() }
        func last(_ readings: [SensorReading]) -> MotionEstimate? {
            readings.flatMap { machine.handle(.reading($0), at: $0.instant) }.compactMap {
                if case .emitMotion(.motion(let estimate)) = $0 { estimate } else { nil }
            }.last
        }
        _ = machine.handle(.start, at: .zero)
        let before = try XCTUnwrap(last(device.samples(10, steps: 2)))
        XCTAssertGreaterThan(before.statistics.steps, 10)
        _ = machine.handle(.suspend, at: device.now)
        _ = device.samples(30, steps: 2)
        _ = machine.handle(.resume, at: device.now)
        let after = try XCTUnwrap(last(device.samples(1)))
        XCTAssertEqual(after.statistics.steps, before.statistics.steps)
        XCTAssertEqual(after.position.x, before.position.x, accuracy: 1)
        XCTAssertEqual(after.position.y, before.position.y, accuracy: 1)
        _ = machine.handle(.suspend, at: device.now)
        _ = machine.handle(.start, at: device.now)
        XCTAssertEqual(try XCTUnwrap(last(device.samples(1))).statistics.steps, 0)
    }

    func testPauseAndResumeDoNothingWithoutASession() async throws {
        await stage.localizer.pause()
        await stage.localizer.resume()
        var state = await stage.localizer.state
        XCTAssertEqual(state, .idle)
        try await stage.run()
        await stage.localizer.pause()
        await stage.localizer.stop()
        await stage.localizer.resume()
        state = await stage.localizer.state
        XCTAssertEqual(state, .idle, "stop ends the pause")
        await stage.localizer.start()
        await stage.localizer.pause()
        await stage.localizer.start()
        let isPaused = await stage.localizer.isPaused
        XCTAssertFalse(isPaused, "start begins anew")
        await stage.localizer.stop()
    }
}
