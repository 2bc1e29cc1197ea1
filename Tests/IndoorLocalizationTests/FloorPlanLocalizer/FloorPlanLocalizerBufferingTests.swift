import IndoorLocalization
import XCTest

/// What a positioner tells while the radio falls silent, fails or falls behind.
final class FloorPlanLocalizerBufferingTests: XCTestCase {
    private typealias Stage = FloorPlanLocalizerMachineStage

    private var running: Stage {
        var stage = Stage()
        stage.run()
        return stage
    }

    func testSilenceCausesBufferingThenHeavyBufferingAndOneBeaconReturnsToBuffering() {
        var stage = running
        XCTAssertEqual(stage.pass(to: 12.999).states, [])
        XCTAssertEqual(stage.pass(to: 13).states, ["buffering"])
        XCTAssertEqual(stage.pass(to: 19.999).states, [])
        XCTAssertEqual(stage.pass(to: 20).states, ["heavyBuffering"])
        XCTAssertEqual(stage.hear(at: 25.01).states, ["buffering"], "one packet")
        XCTAssertEqual(stage.hear(at: 25.02).states, ["positioning"])
    }

    func testPositionsContinueWhileBufferingAndPauseWhileHeavyBuffering() {
        var stage = running
        XCTAssertEqual(stage.pass(to: 19.9).positions.count, 19)
        XCTAssertEqual(stage.pass(to: 35).positions, [])
        XCTAssertEqual(stage.machine.state, .heavyBuffering)
        XCTAssertEqual(stage.machine.latency, .zero)
    }

    func testPositionsReturnWithTheBeaconsOfALostVenue() {
        var stage = running
        _ = stage.pass(to: 100)
        XCTAssertEqual(stage.machine.state, .heavyBuffering)
        var told = stage.hear(at: 100)
        told += stage.handle(.fix(Stage.fix()), at: 100.1)
        told += stage.pass(to: 100.5)
        told += stage.hear(at: 101)
        told += stage.pass(to: 101)
        XCTAssertEqual(told.states, ["buffering", "positioning"])
        XCTAssertFalse(told.positions.isEmpty)
    }

    func testLateReadingsCauseBuffering() {
        var stage = running
        XCTAssertEqual(stage.hear(at: 11, delay: 2.9).states, [])
        XCTAssertEqual(stage.hear(at: 11.1, delay: 3).states, ["buffering"])
        XCTAssertEqual(stage.hear(at: 11.2, delay: 30).states, [], "something comes, though late")
        XCTAssertEqual(stage.hear(at: 11.3).states, ["positioning"])
    }

    func testBeaconsOfOtherVenuesAndMotionDoNotPreventBuffering() {
        var stage = running
        for tenth in 101...130 {
            let seconds = Double(tenth) / 10
            _ = stage.handle(.reading(SessionStage.heard(7, at: seconds), delay: .zero), at: seconds)
            _ = stage.handle(.reading(SessionStage.motion(at: seconds), delay: .zero), at: seconds)
        }
        XCTAssertEqual(stage.machine.state, .buffering)
    }

    func testTheLatencyIsTheTimeFromTheRadioToThePosition() {
        var stage = running
        _ = stage.hear(at: 10.4, delay: 0.25)
        XCTAssertEqual(stage.pass(to: 10.5).positions.count, 1)
        XCTAssertEqual(stage.machine.latency.seconds, 0.35, accuracy: 1e-9)
    }

    func testTheLatencyIsZeroBeforeThereArePositions() {
        var stage = Stage()
        XCTAssertEqual(stage.machine.latency, .zero)
        _ = stage.answer(.start(FloorPlanLocalizerParameters()), at: 10)
        _ = stage.hear(at: 10, delay: 0.5)
        _ = stage.pass(to: 10.5)
        XCTAssertEqual(stage.machine.state, .waitingForFix)
        XCTAssertEqual(stage.machine.latency, .zero)
    }

    func testAFailedScanIsReconnectingUntilABeaconIsReceived() {
        var stage = running
        let failed = stage.handle(.sourceFailed(Stage.network), at: 11)
        XCTAssertEqual(failed.states, ["reconnecting"])
        XCTAssertTrue(failed.contains(.report(Stage.network)))
        XCTAssertTrue(stage.pass(to: 12).contains(.startScanning), "the first pause is at most a second")
        XCTAssertEqual(stage.machine.state, .reconnecting(Stage.network))
        XCTAssertEqual(stage.hear(at: 12.5).states, ["positioning"])
    }

    func testARadioWithoutPowerIsReconnectingUntilItReceives() {
        var stage = running
        let off = RadioEvent(instant: Instant(seconds: 11), status: .poweredOff)
        XCTAssertEqual(stage.handle(.reading(.radio(off), delay: .zero), at: 11).states, ["reconnecting"])
        XCTAssertNotNil(stage.machine.state.error)
        _ = stage.handle(.reading(SessionStage.motion(at: 11.5), delay: .zero), at: 11.5)
        XCTAssertEqual(stage.machine.state.name, "reconnecting", "motion says nothing of the radio")
        let on = RadioEvent(instant: Instant(seconds: 12), status: .scanning)
        XCTAssertEqual(stage.handle(.reading(.radio(on), delay: .zero), at: 12).states, ["positioning"])
    }

    func testARestOfTheRadioIsNotCountedAsSilence() {
        var stage = running
        let rest = RadioEvent(instant: Instant(seconds: 12), status: .resting)
        XCTAssertEqual(stage.handle(.reading(.radio(rest), delay: .zero), at: 12).states, [])
        XCTAssertEqual(stage.pass(to: 100).states, [])
        let scan = RadioEvent(instant: Instant(seconds: 100), status: .scanning)
        XCTAssertEqual(stage.handle(.reading(.radio(scan), delay: .zero), at: 100).states, [])
        // 2 s of silence before the rest, and 1 s behind it.
        XCTAssertEqual(stage.pass(to: 100.9).states, [])
        XCTAssertEqual(stage.pass(to: 101).states, ["buffering"])
        XCTAssertEqual(stage.pass(to: 108).states, ["heavyBuffering"])
    }

    func testAFailedRadioWithoutAPositionReturnsToWaitingForFix() {
        var stage = Stage()
        _ = stage.answer(.start(FloorPlanLocalizerParameters()), at: 10)
        XCTAssertEqual(stage.handle(.sourceFailed(Stage.network), at: 11).states, ["reconnecting"])
        _ = stage.pass(to: 12)
        let foreign = SessionStage.heard(7, at: 12.5)
        XCTAssertEqual(stage.handle(.reading(foreign, delay: .zero), at: 12.5).states, ["waitingForFix"])
    }

    func testSatellitesEndTheVenueOnlyWithoutTheIndoorLock() {
        for isLocked in [true, false] {
            var parameters = FloorPlanLocalizerParameters()
            parameters.isLockedIndoors = isLocked
            var stage = Stage()
            stage.run(parameters)
            var told: [Stage.Machine.Directive] = []
            for second in 11...14 {
                let far = SessionStage.gnss(52.5, at: Double(second))
                told += stage.handle(.reading(far, delay: .zero), at: Double(second))
                told += stage.hear(at: Double(second) + 0.5)
            }
            XCTAssertEqual(told.states, isLocked ? [] : ["buffering"], "locked: \(isLocked)")
        }
    }

    func testAFixBeforeTheStartIsTheStartingPoint() {
        var stage = Stage()
        _ = stage.answer(.connect, at: 1)
        XCTAssertEqual(stage.handle(.fix(Stage.fix(7, 8)), at: 2), [])
        XCTAssertEqual(stage.machine.fixOutcome, .kept)
        var told = stage.answer(.start(FloorPlanLocalizerParameters()), at: 3)
        told += stage.pass(to: 3)
        XCTAssertEqual(
            told.states, ["loading", "ready", "waitingForFix", "positioning"], "no beacon needs to be heard")
        XCTAssertEqual(told.positions.first?.point, MapPoint(x: 7, y: 8))
    }

    func testAFilterReducesThePositions() {
        var parameters = FloorPlanLocalizerParameters()
        parameters.filter = PositionFilter(distance: 100, time: .seconds(2))
        var stage = Stage()
        _ = stage.answer(.start(parameters), at: 10)
        _ = stage.handle(.fix(Stage.fix()), at: 10)
        var told: [Stage.Machine.Directive] = []
        for second in 10...18 { told += stage.hear(at: Double(second)) + stage.pass(to: Double(second)) }
        XCTAssertEqual(told.positions.map(\.instant.seconds), [10, 12, 14, 16, 18])
    }
}
