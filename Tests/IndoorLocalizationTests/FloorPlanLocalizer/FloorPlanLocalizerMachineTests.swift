import IndoorLocalization
import XCTest

/// The steps of a positioner up to its first position, and its end.
final class FloorPlanLocalizerMachineTests: XCTestCase {
    private typealias Stage = FloorPlanLocalizerMachineStage

    func testAStartFromStoppedGoesThroughAllStatesInOrder() {
        var stage = Stage()
        var told = stage.answer(.start(FloorPlanLocalizerParameters()), at: 10)
        XCTAssertEqual(stage.machine.state, .waitingForFix)
        told += stage.hear(at: 10)
        told += stage.pass(to: 10)
        told += stage.handle(.reading(SessionStage.fix(10, at: 10.1), delay: .zero), at: 10.1)
        told += stage.pass(to: 11)
        XCTAssertEqual(
            told.states, ["connecting", "connected", "loading", "ready", "waitingForFix", "positioning"])
        XCTAssertEqual(told.positions.first?.mapID, 10)
    }

    /// A fix that goes to all sessions counts on its own plan only.
    func testAFixOnAnotherFloorPlanIsIgnored() {
        var stage = Stage()
        stage.run()
        _ = stage.handle(.reading(SessionStage.fix(11, at: 10.1), delay: .zero), at: 10.1)
        let positions = stage.pass(to: 12).positions
        XCTAssertFalse(positions.isEmpty)
        XCTAssertEqual(Set(positions.map(\.point)), [MapPoint(x: 20, y: 20)], "where it was before")
    }

    func testThePositionFollowsItsState() throws {
        var stage = Stage()
        _ = stage.answer(.start(FloorPlanLocalizerParameters()), at: 10)
        _ = stage.handle(.fix(Stage.fix()), at: 10)
        let told = stage.hear(at: 10) + stage.pass(to: 10)
        let state = try XCTUnwrap(told.firstIndex(of: .publish(.positioning)))
        let position = try XCTUnwrap(told.firstIndex { if case .emit = $0 { true } else { false } })
        XCTAssertLessThan(state, position)
    }

    func testConnectConnectsAndDoesNothingElse() {
        var stage = Stage()
        XCTAssertEqual(stage.handle(.connect, at: 1), [.publish(.connecting), .fetchCatalogue])
        XCTAssertEqual(stage.handle(.catalogue(SessionStage.summaries), at: 2), [.publish(.connected)])
        XCTAssertEqual(stage.machine.state, .connected)
        XCTAssertEqual(stage.handle(.connect, at: 3), [])
    }

    func testPrepareConnectsFirstAndDoesNotStart() {
        var stage = Stage()
        let told = stage.answer(.prepare(FloorPlanLocalizerParameters()), at: 1)
        XCTAssertEqual(told.states, ["connecting", "connected", "loading", "ready"])
        XCTAssertFalse(told.contains(.startScanning))
    }

    func testASecondPreparationDoesNothingAndKeepsTheParameters() {
        var stage = Stage()
        _ = stage.answer(.prepare(FloorPlanLocalizerParameters(motionMode: .shoppingCart)), at: 1)
        XCTAssertEqual(stage.answer(.prepare(FloorPlanLocalizerParameters(motionMode: .robot)), at: 2), [])
        let told = stage.answer(.start(FloorPlanLocalizerParameters(motionMode: .robot)), at: 3)
        XCTAssertEqual(told.states, ["waitingForFix"])
        XCTAssertTrue(told.contains(.startScanning))
        XCTAssertEqual(stage.machine.parameters?.motionMode, .shoppingCart)
    }

    func testTheParametersReachTheMotionModel() {
        let told = Heard()
        for mode in MotionMode.allCases {
            var machine = FloorPlanLocalizerMachine<FixBelief>(
                plan: Stage.plan, settings: LocalizationSettings(), seed: 1
            ) {
                told.note($1.motion)
                return FixBelief()
            }
            _ = machine.handle(.prepare(FloorPlanLocalizerParameters(motionMode: mode)), at: .zero)
            _ = machine.handle(.catalogue(SessionStage.summaries), at: .zero)
            _ = machine.handle(.packet(Stage.venue), at: .zero)
        }
        XCTAssertEqual(told.motions, MotionMode.allCases.map(MotionModel.init))
    }

    func testAStartDuringTheConnectionTakesEffectAfterIt() {
        var stage = Stage()
        _ = stage.handle(.connect, at: 1)
        XCTAssertEqual(stage.handle(.start(FloorPlanLocalizerParameters()), at: 2), [])
        let told = stage.answer(.catalogue(SessionStage.summaries), at: 3)
        XCTAssertEqual(told.states, ["connected", "loading", "ready", "waitingForFix"])
    }

    func testAStopEndsTheSessionAndIsPublishedOnce() {
        var stage = Stage()
        stage.run()
        XCTAssertEqual(stage.machine.state, .positioning)
        let told = stage.handle(.stop, at: 11)
        XCTAssertEqual(told.states, ["stopped"])
        XCTAssertTrue(told.contains(.stopScanning))
        XCTAssertEqual(stage.handle(.stop, at: 12), [])
        XCTAssertEqual(stage.hear(at: 13), [], "a late reading")
        XCTAssertNil(stage.machine.nextWake)
        XCTAssertEqual(stage.machine.latency, .zero)
    }

    func testAStopForgetsTheParameters() {
        var stage = Stage()
        _ = stage.answer(.prepare(FloorPlanLocalizerParameters(motionMode: .robot)), at: 1)
        _ = stage.handle(.stop, at: 2)
        _ = stage.answer(.start(FloorPlanLocalizerParameters(motionMode: .wheelchair)), at: 3)
        XCTAssertEqual(stage.machine.parameters?.motionMode, .wheelchair)
    }

    func testAnUnknownVenueStopsWithAnError() {
        var stage = Stage(plan: FloorPlan(venueID: 99, map: Stage.venue.maps[0]))
        _ = stage.handle(.start(FloorPlanLocalizerParameters()), at: 1)
        _ = stage.handle(.catalogue(SessionStage.summaries), at: 2)
        XCTAssertEqual(stage.machine.state.name, "stopped")
        XCTAssertEqual(stage.machine.state.error?.code, .critical)
    }

    func testAPacketWithoutTheFloorPlanStopsWithAnError() {
        var map = Stage.venue.maps[0]
        map.id = 77
        var stage = Stage(plan: FloorPlan(venueID: 1, map: map))
        let told = stage.answer(.prepare(FloorPlanLocalizerParameters()), at: 1)
        XCTAssertEqual(told.states, ["connecting", "connected", "loading", "stopped"])
        XCTAssertEqual(stage.machine.state.error?.code, .critical)
    }

    func testAFailedRequestIsReconnectingUntilItIsAnswered() throws {
        var stage = Stage()
        _ = stage.handle(.start(FloorPlanLocalizerParameters()), at: 1)
        let failed = stage.handle(.catalogueFailed(Stage.network), at: 2)
        XCTAssertEqual(failed, [.publish(.reconnecting(Stage.network)), .report(Stage.network)])
        let wake = try XCTUnwrap(stage.machine.nextWake)
        XCTAssertEqual(stage.machine.handle(.tick, at: wake), [.fetchCatalogue])
        // Connecting is told for the first connection alone.
        XCTAssertEqual(
            stage.handle(.catalogue(SessionStage.summaries), at: 5).states, ["connected", "loading"])
        XCTAssertEqual(stage.handle(.packetFailed(Stage.network), at: 6).states, ["reconnecting"])
        let told = stage.pass(to: 70)
        XCTAssertEqual(told, [.publish(.loading), .fetchPacket(1)])
        XCTAssertEqual(stage.handle(.packet(Stage.venue), at: 71).states, ["ready", "waitingForFix"])
    }

    func testRefusedCredentialsStop() {
        var stage = Stage()
        _ = stage.handle(.start(FloorPlanLocalizerParameters()), at: 1)
        let told = stage.handle(.catalogueFailed(Stage.credential), at: 2)
        XCTAssertEqual(told, [.cancelFetch, .publish(.stopped(Stage.credential)), .report(Stage.credential)])
    }

    func testWrongParametersStopWithAnErrorThatNamesThem() {
        var parameters = FloorPlanLocalizerParameters()
        parameters.heavyBufferingAfter = .seconds(1)
        var stage = Stage()
        _ = stage.answer(.prepare(parameters), at: 1)
        XCTAssertEqual(stage.machine.state.error?.code, .critical)
        XCTAssertTrue(stage.machine.state.error?.message.contains("bufferingAfter") ?? false)
    }

    func testTheEndOfTheScanStopsAfterALastPosition() {
        var stage = Stage()
        stage.run()
        _ = stage.hear(at: 10.3)
        let told = stage.handle(.sourceEnded, at: 10.4)
        XCTAssertEqual(told.positions.last?.instant, Instant(seconds: 10.4))
        XCTAssertEqual(told.last, .publish(.stopped(nil)))
    }

    func testAnErrorThatEndsTheScanForGoodStopsAndIsReportedOnce() {
        var stage = Stage()
        stage.run()
        let told = stage.handle(.sourceFailed(Stage.credential), at: 11)
        XCTAssertEqual(stage.machine.state, .stopped(Stage.credential))
        XCTAssertEqual(told.filter { $0 == .report(Stage.credential) }.count, 1)
    }

    private struct Unclassified: Error {}

    func testAnUnknownErrorOfTheScanStopsWithACriticalError() {
        var stage = Stage()
        stage.run()
        let told = stage.handle(.sourceFailed(Unclassified()), at: 11)
        let error = LocalizationError(code: .critical, message: "the scan failed", cause: "Unclassified()")
        XCTAssertEqual(stage.machine.state, .stopped(error))
        XCTAssertEqual(told.filter { $0 == .report(error) }.count, 1)
    }

    func testOnARecordingEveryErrorOfTheScanStops() {
        var stage = Stage(pace: .recorded)
        stage.run()
        _ = stage.handle(.sourceFailed(Stage.network), at: 11)
        var error = Stage.network
        error.code = .critical
        XCTAssertEqual(stage.machine.state, .stopped(error))
    }

    func testTheProgressOfThePacketIsEmitted() {
        var stage = Stage()
        _ = stage.handle(.prepare(FloorPlanLocalizerParameters()), at: 1)
        _ = stage.handle(.catalogue(SessionStage.summaries), at: 2)
        XCTAssertEqual(stage.handle(.progress(0.5), at: 3), [.emitProgress(0.5)])
        XCTAssertEqual(stage.machine.state, .loading)
    }

    func testLateAnswersToASessionThatIsOverAreIgnored() {
        var stage = Stage()
        _ = stage.handle(.start(FloorPlanLocalizerParameters()), at: 1)
        _ = stage.handle(.stop, at: 2)
        for event: Stage.Machine.Event in [
            .catalogue(SessionStage.summaries), .catalogueFailed(Stage.network), .progress(1),
            .packet(Stage.venue), .packetFailed(Stage.network), .sourceEnded, .sourceFailed(Stage.network), .tick,
        ] {
            XCTAssertEqual(stage.handle(event, at: 3), [], "\(event)")
        }
    }
}

/// Notes the motion models that beliefs are made with.
private final class Heard: Sendable {
    private let noted = Guarded([MotionModel]())
    var motions: [MotionModel] { noted.withLock { $0 } }
    func note(_ motion: MotionModel) { noted.withLock { $0.append(motion) } }
}
