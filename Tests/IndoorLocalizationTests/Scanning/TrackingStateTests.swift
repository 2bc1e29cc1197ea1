import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// What a scanner tells of its own work, and that it listens all the time unless it is told to rest.
final class TrackingStateTests: XCTestCase {
    private func state(
        _ isMonitoring: Bool, _ isRanging: Bool = false, _ regions: [String] = [], paused: Bool = false
    ) -> TrackingState {
        TrackingState(isMonitoring: isMonitoring, isRanging: isRanging, insideRegions: regions, isPaused: paused)
    }

    func testEachChangeOfTheTrackingStateIsEmitted() async throws {
        let stage = ScannerStage(ScriptedSource(), ScannerSettings(dutyCycle: .continuous))
        let states = stage.scanner.trackingStates
        await stage.scanner.track(BeaconRegion(uuid: ScannerStage.uuid), id: "home")
        try await stage.start()
        try await stage.hear()
        await stage.scanner.pauseTracking()
        await stage.scanner.pauseTracking()
        await stage.scanner.resumeTracking()
        await stage.scanner.resumeTracking()
        try await stage.hear()
        await stage.scanner.stop()
        let seen = try await Bounded.first(7, of: states)
        XCTAssertEqual(
            seen,
            [
                state(false), state(true), state(true, true, ["home"]), state(false, paused: true), state(true),
                state(true, true, ["home"]), state(false),
            ])
        let late = try await Bounded.first(1, of: stage.scanner.trackingStates)
        XCTAssertEqual(late, [state(false)], "the present state first")
    }

    func testAWatchOfTrackingStatesIsCalledWithThePause() async throws {
        let stage = ScannerStage()
        let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
        let observation = stage.scanner.watch(\.trackingStates) { continuation.yield($0.isPaused) }
        await stage.scanner.pauseTracking()
        await stage.scanner.resumeTracking()
        let seen = try await Bounded.first(3, of: stream)
        XCTAssertEqual(seen, [false, true, false])
        observation.close()
    }

    /// Nothing rests by default, so the exit comes with the exit timeout.
    func testAScannerListensAllTheTimeWithoutADutyCycle() async throws {
        let clock = ManualClock(now: Instant(seconds: 777))
        let source = ScriptedSource()
        let scanner = BeaconScanner(source: source, clock: clock)
        let events = scanner.regionEvents
        let alarms = Task { while true { clock.advance(to: try await clock.waitForSleeper()) } }
        defer { alarms.cancel() }
        await scanner.track(BeaconRegion(uuid: ScannerStage.uuid), id: "home")
        await scanner.start()
        try await source.waitUntilScanning()
        source.send(ScannerStage.sighting(at: 5000))
        let seen = try await Bounded.first(2, of: events)
        XCTAssertEqual(seen.map(\.kind), [.enter, .exit])
        XCTAssertEqual(seen[0].instant.duration(to: seen[1].instant), .seconds(30))
        await scanner.stop()
    }

    /// What the migration page warns of.
    func testADutyCycleDelaysTheExit() async throws {
        let stage = ScannerStage(ScriptedSource(), ScannerSettings(dutyCycle: DutyCycle()))
        let events = stage.scanner.regionEvents
        await stage.scanner.track(BeaconRegion(uuid: ScannerStage.uuid), id: "home")
        try await stage.start()
        try await stage.hear()
        let seen = try await stage.passTime(until: "the exit", of: events) { $0.kind == .exit }
        let delay = try XCTUnwrap(seen.first).instant.duration(to: try XCTUnwrap(seen.last).instant)
        XCTAssertEqual(delay, .seconds(210))
    }
}
