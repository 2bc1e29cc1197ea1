import IndoorLocalization
import IndoorLocalizationTesting
import XCTest
@testable import LocalizationSession

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

    func testTheNextSessionSetsTheDutyCycleOfItsOwnAccuracy() {
        var parameters = FloorPlanLocalizerParameters()
        parameters.desiredAccuracy = .low
        var stage = Stage()
        let half = stage.answer(.start(parameters), at: 1)
        XCTAssertTrue(half.contains(.schedule(ScanSchedule(cycle: .continuous, timing: .half))))
        _ = stage.handle(.stop, at: 2)
        let full = stage.answer(.start(FloorPlanLocalizerParameters()), at: 3)
        XCTAssertTrue(full.contains(.schedule(ScanSchedule())), "the radio no longer rests half the time")
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

/// Floor lock and indoor lock of a session.
final class FloorLockTests: XCTestCase {
    private typealias Stage = PositioningStage

    /// A forced map is kept until it is unlocked.
    func testALockedFloorHoldsAgainstContraryEvidence() {
        var machine = SessionStage.machine(in: .localizationRunning)
        XCTAssertEqual(machine.handle(.lockFloor(10), at: 10), [])
        _ = machine.handle(.reading(SessionStage.fix(11, at: 10.1)), at: 10.1)
        _ = machine.handle(.reading(SessionStage.heard(1, at: 20)), at: 20)
        _ = machine.pass(to: 25)
        guard case .localizationRunning(let running) = machine.state else { return XCTFail("\(machine.state)") }
        XCTAssertEqual(running.mapID, 10)
        XCTAssertEqual(machine.handle(.lockFloor(nil), at: 25), [])
        _ = machine.pass(to: 28)
        guard case .localizationRunning(let free) = machine.state else { return XCTFail("\(machine.state)") }
        XCTAssertEqual(free.mapID, 11, "evidence decides again")
    }

    func testAnUnlockWithoutALockDoesNothing() {
        var (first, second) = (
            SessionStage.machine(in: .localizationRunning), SessionStage.machine(in: .localizationRunning)
        )
        XCTAssertEqual(first.handle(.lockFloor(nil), at: 10), [])
        XCTAssertEqual(first.pass(to: 15), second.pass(to: 15))
    }

    func testALockOnAFloorOfAnotherVenueDoesNothing() {
        var machine = SessionStage.machine(in: .localizationRunning)
        _ = machine.handle(.lockFloor(99), at: 10)
        _ = machine.handle(.reading(SessionStage.fix(11, at: 10.1)), at: 10.1)
        _ = machine.pass(to: 13)
        guard case .localizationRunning(let running) = machine.state else { return XCTFail("\(machine.state)") }
        XCTAssertEqual(running.mapID, 11)
    }

    /// The hall's beacons are heard as loud as can be, and yet the device stays in the gallery.
    func testTheEngineStaysOnTheLockedFloorAndLeavesItAfterwards() throws {
        for seed in UInt64(1)...3 {
            var receiver = HallReceiver(
                at: MapPoint(x: 10, y: 10), seed: seed, venue: Stage.twoFloors, field: Stage.twoFloorField)
            receiver.lock(to: Stage.gallery)
            receiver.listen(seconds: 6)
            XCTAssertEqual(receiver.engine.mapProbabilities, [Stage.gallery: 1], "seed \(seed)")
            XCTAssertNotNil(receiver.engine.estimate(on: Stage.gallery))
            receiver.lock(to: nil)
            receiver.listen(seconds: 6)
            XCTAssertGreaterThan(receiver.engine.mapProbabilities[Stage.hall] ?? 0, 0.9, "seed \(seed)")
        }
    }

    func testALockedFloorHasNoProbabilityBeforeEvidence() {
        for method in PositioningMethod.allCases {
            var settings = PositioningSettings()
            settings.method = method
            var engine = PositioningEngine(
                venue: Stage.twoFloors, field: Stage.twoFloorField, settings: settings, seed: 1)
            engine.lock(to: Stage.gallery)
            XCTAssertEqual(engine.mapProbabilities, [:], "\(method)")
        }
    }

    func testTheFloorCertaintyIsWithinZeroAndOne() throws {
        /// The certainty of each position of a receiver that hears some of the hall's beacons.
        func certainties(beacons: Range<Int>) -> [Double] {
            var replay = SessionReplay(venues: [Stage.twoFloors], seed: 1)
            var outputs = replay.start()
            for second in 0..<10 {
                for index in beacons {
                    let rssi = Stage.rssi(from: Stage.beaconPoints[index], to: MapPoint(x: 10, y: 10))
                    let sighting = Sighting(
                        instant: Instant(seconds: Double(second)), beacon: Stage.identity(index), rssi: rssi)
                    outputs += replay.handle(.sighting(sighting))
                }
            }
            outputs += replay.finish()
            return outputs.compactMap { output in
                if case .position(let position) = output.content { position.floorCertainty } else { nil }
            }
        }
        let (clear, unclear) = (certainties(beacons: Stage.beaconPoints.indices), certainties(beacons: 0..<1))
        XCTAssertGreaterThan(min(clear.count, unclear.count), 10)
        for certainty in clear + unclear { XCTAssertTrue((0...1).contains(certainty), "\(certainty)") }
        XCTAssertGreaterThan(try XCTUnwrap(clear.last), try XCTUnwrap(clear.first), "what is heard makes it surer")
        XCTAssertGreaterThan(try XCTUnwrap(clear.last), 0.8)
        XCTAssertLessThan(
            try XCTUnwrap(unclear.first), try XCTUnwrap(clear.first) - 0.05, "one beacon tells less than eight")
    }

    func testAnIndoorLockKeepsTheDeviceInItsVenueUntilItIsLifted() {
        for isLocked in [true, false] {
            var machine = SessionStage.machine(in: .localizationRunning)
            _ = machine.handle(.lockIndoors(isLocked), at: 10)
            for second in 11...14 {
                _ = machine.handle(.reading(SessionStage.gnss(52.5, at: Double(second))), at: Double(second))
            }
            XCTAssertEqual(machine.state.name, isLocked ? "localizationRunning" : "searchVenue")
        }
    }

    func testALocalizerCanBeLockedWhileItRuns() async throws {
        let stage = LocalizerStage()
        await stage.localizer.lockFloor(11)
        await stage.localizer.lockIndoors(true)
        let states = stage.localizer.states
        try await stage.run()
        _ = try await Bounded.elements(of: states, until: "the locked floor") { state in
            if case .localizationRunning(let running) = state { running.mapID == 11 } else { false }
        }
        await stage.localizer.unlockFloor()
    }
}

final class MotionModeTests: XCTestCase {
    private typealias Stage = PositioningStage

    func testWalkingIsTheModelOfTheSettings() {
        XCTAssertEqual(MotionModel(.walking), MotionModel())
    }

    func testWheeledModesHaveNoSteps() {
        for mode in MotionMode.allCases { XCTAssertEqual(MotionModel(mode).usesSteps, mode == .walking, "\(mode)") }
    }

    func testAllModelsAreWithinTheSettingsRanges() {
        for mode in MotionMode.allCases {
            var settings = LocalizationSettings()
            settings.positioning.motion = MotionModel(mode)
            XCTAssertEqual(settings.problems, [], "\(mode)")
        }
    }

    /// The joints of the floor are no steps: on wheels they don't move the estimate.
    func testStepsMoveAWalkerButNoWheeledDevice() throws {
        for mode in MotionMode.allCases {
            var settings = PositioningSettings()
            settings.motion = MotionModel(mode)
            var engine = PositioningEngine(venue: Stage.venue, field: Stage.packetField, settings: settings, seed: 1)
            let fix = Fix(instant: .zero, mapID: Stage.hall, point: MapPoint(x: 10, y: 10), radius: 0.3)
            engine.observe(.fix(fix))
            engine.advance(to: .zero)
            for step in 1...6 {
                let instant = Instant(seconds: Double(step) / 2)
                engine.observe(.step(Step(instant: instant, length: 0.7, heading: 90)))
                engine.advance(to: instant)
            }
            let moved = try XCTUnwrap(engine.estimate(on: Stage.hall)).point.x - 10
            if mode == .walking {
                XCTAssertGreaterThan(moved, 2.5)
            } else {
                XCTAssertEqual(moved, 0, accuracy: 0.5, "\(mode)")
            }
        }
    }

    /// Whoever is faster gets lost faster: the radius grows by the speed of what carries the device.
    func testTheRadiusGrowsWithTheSpeed() throws {
        let radii = try [MotionMode.walking, .wheelchair, .shoppingCart, .robot].map { mode in
            var settings = PositioningSettings()
            settings.motion = MotionModel(mode)
            var engine = PositioningEngine(venue: Stage.venue, field: Stage.packetField, settings: settings, seed: 1)
            let fix = Fix(instant: .zero, mapID: Stage.hall, point: MapPoint(x: 10, y: 10), radius: 0.3)
            engine.observe(.fix(fix))
            for tick in 0...6 { engine.advance(to: Instant(seconds: Double(tick) / 2)) }
            return try XCTUnwrap(engine.estimate(on: Stage.hall)).radius
        }
        XCTAssertGreaterThan(radii[0], radii[2])
        XCTAssertGreaterThan(radii[0], radii[3])
        XCTAssertGreaterThan(radii[1], radii[3])
    }

    func testTheDesiredAccuracyChangesTheCostOfPositions() {
        var machine = FloorPlanLocalizerMachineStage().machine
        var parameters = FloorPlanLocalizerParameters()
        parameters.desiredAccuracy = .low
        _ = machine.handle(.start(parameters), at: .zero)
        _ = machine.handle(.catalogue(SessionStage.summaries), at: .zero)
        let told = machine.handle(.packet(SessionStage.office), at: .zero)
        XCTAssertTrue(
            told.contains(.schedule(ScanSchedule(cycle: .continuous, timing: .half))), "the radio listens half the time"
        )
    }
}

final class SpeedometerTests: XCTestCase {
    func testAWalkHasItsSpeedAfterASecond() {
        var meter = Speedometer()
        for half in 0..<20 {
            let seconds = Double(half) / 2
            let speed = meter.observe(MapPoint(x: 1.2 * seconds, y: 0), on: 1, at: Instant(seconds: seconds))
            if seconds < 1 {
                XCTAssertNil(speed)
            } else {
                expectClose(speed, 1.2, within: 1e-9, "at \(seconds) s")
            }
        }
    }

    func testAStoppedDeviceHasNoSpeedAfterTwoSeconds() {
        var meter = Speedometer()
        for half in 0..<20 {
            _ = meter.observe(MapPoint(x: Double(half), y: 0), on: 1, at: Instant(seconds: Double(half) / 2))
        }
        for half in 20..<24 {
            _ = meter.observe(MapPoint(x: 19, y: 0), on: 1, at: Instant(seconds: Double(half) / 2))
        }
        expectClose(meter.observe(MapPoint(x: 19, y: 0), on: 1, at: Instant(seconds: 12)), 0, within: 1e-9)
    }

    func testAnotherMapRestartsTheMeasurement() {
        var meter = Speedometer()
        _ = meter.observe(MapPoint(x: 0, y: 0), on: 1, at: .zero)
        XCTAssertNil(meter.observe(MapPoint(x: 9, y: 0), on: 2, at: Instant(seconds: 3)))
    }

    func testAGapIsNoStandstill() {
        var meter = Speedometer()
        _ = meter.observe(MapPoint(x: 0, y: 0), on: 1, at: .zero)
        expectClose(meter.observe(MapPoint(x: 20, y: 0), on: 1, at: Instant(seconds: 10)), 2, within: 1e-9)
    }
}

final class PositionFilterTests: XCTestCase {
    private func position(_ x: Double, at seconds: Double, course: Double? = nil, map: MapID = 10) -> Position {
        Position(
            instant: Instant(seconds: seconds), venueID: 1, mapID: map, point: MapPoint(x: x, y: 0), radius: 1,
            course: course)
    }

    private func passed(_ positions: [Position], _ filter: PositionFilter) -> [Double] {
        var gate = PositionGate()
        return positions.filter { gate.admits($0, by: filter) }.map(\.instant.seconds)
    }

    func testWithoutAFilterEveryPositionPasses() {
        let positions = [position(0, at: 0), position(0, at: 0.1), position(0, at: 0.2)]
        XCTAssertEqual(passed(positions, PositionFilter()), [0, 0.1, 0.2])
    }

    func testDistanceOrTimeIsEnough() {
        let positions = [
            position(0, at: 0), position(0.6, at: 1), position(0.75, at: 1.5), position(0.8, at: 3.4),
            position(0.8, at: 3.5),
        ]
        XCTAssertEqual(passed(positions, PositionFilter(distance: 0.7, time: .seconds(2))), [0, 1.5, 3.5])
    }

    func testAFilterIgnoresThresholdsOfZero() {
        let positions = [position(0, at: 0), position(5, at: 1), position(5, at: 30)]
        XCTAssertEqual(passed(positions, PositionFilter(distance: 0.7)), [0, 1])
        XCTAssertEqual(passed(positions, PositionFilter(time: .seconds(10))), [0, 30])
    }

    /// Distance is counted from what was told last, so that slow motion is told too.
    func testSlowMotionAddsUp() {
        let positions = (0...10).map { position(0.3 * Double($0), at: Double($0)) }
        XCTAssertEqual(passed(positions, PositionFilter(distance: 0.7)), [0, 3, 6, 9])
    }

    func testATurnIsEnough() {
        let positions = [
            position(0, at: 0, course: 359), position(0, at: 1, course: 3), position(0, at: 2, course: 4),
            position(0, at: 3), position(0, at: 4, course: 9),
        ]
        XCTAssertEqual(passed(positions, PositionFilter(heading: 5)), [0, 2, 4])
    }

    func testAnotherMapPasses() {
        let positions = [position(0, at: 0), position(0, at: 1, map: 11), position(0, at: 2, map: 11)]
        XCTAssertEqual(passed(positions, PositionFilter(distance: 1)), [0, 1])
    }

    func testASessionEmitsTheFilteredPositionsAndAllRoomEvents() {
        var settings = LocalizationSettings()
        settings.positionFilter = PositionFilter(distance: 100)
        settings.areaDwell = .zero
        var machine = SessionStage.machine(in: .localizationRunning, settings)
        let told = machine.handle(.reading(SessionStage.fix(10, 5, 5, at: 10.1)), at: 10.1) + machine.pass(to: 10.6)
        let names = told.map { directive in
            switch directive {
            case .emit: "position"
            case .emitEvent: "event"
            default: "other"
            }
        }
        XCTAssertEqual(names, ["event", "event"])
    }

    func testFiltersOutOfRangeAreNamed() {
        var settings = LocalizationSettings()
        settings.positionFilter = PositionFilter(distance: -1, time: .seconds(-1), heading: 181)
        XCTAssertEqual(settings.problems.count, 3)
        for key in ["positionFilter.distance", "positionFilter.time", "positionFilter.heading"] {
            XCTAssertTrue(settings.problems.contains { $0.contains(key) }, "\(key): \(settings.problems)")
        }
    }
}
