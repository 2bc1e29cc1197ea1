import IndoorLocalization
import XCTest

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
