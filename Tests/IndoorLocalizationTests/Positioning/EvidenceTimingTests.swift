import XCTest

import IndoorLocalization

/// What is heard counts at the time at which it was heard; steps since then carry the belief on.
final class EvidenceTimingTests: XCTestCase {
    private typealias Stage = PositioningStage
    private static let start = MapPoint(x: 7, y: 10)

    func testStepsAfterAReadingMoveTheBeliefOnFromThere() throws {
        let (early, late) = (try Self.end(heardAt: 0.1), try Self.end(heardAt: 1.95))
        let way = 2.8
        XCTAssertEqual(early.x, Self.start.x + way, accuracy: 0.5)
        // Heard at the end of the way, the same speaks against having gone it.
        XCTAssertGreaterThan(early.x, late.x + 0.3)
    }

    func testTheEngineAppliesAStepOnce() throws {
        var engine = Self.engine()
        for half in 1...8 {
            let instant = Instant(seconds: Double(half) / 2)
            Self.hear(&engine, at: Instant(seconds: Double(half) / 2 - 0.4))
            engine.observe(.step(Step(instant: instant, length: 0, heading: 90)))
            engine.advance(to: instant)
        }
        let before = try XCTUnwrap(engine.estimate(on: Stage.hall)).point
        engine.observe(.step(Step(instant: Instant(seconds: 4.2), length: 2, heading: 90)))
        engine.advance(to: Instant(seconds: 4.5))
        engine.advance(to: Instant(seconds: 5))
        let after = try XCTUnwrap(engine.estimate(on: Stage.hall)).point
        XCTAssertEqual(after.x - before.x, 2 * 0.85, accuracy: 0.4)
    }

    /// Where the device is believed to be after four steps to the right in two seconds, with what the start sounds like
    /// heard at one moment of them.
    private static func end(heardAt seconds: Double) throws -> MapPoint {
        var engine = engine()
        for second in 1...4 {
            hear(&engine, at: Instant(seconds: Double(second) - 0.5))
            engine.observe(.step(Step(instant: Instant(seconds: Double(second) - 0.5), length: 0, heading: 90)))
            engine.advance(to: Instant(seconds: Double(second)))
        }
        hear(&engine, at: Instant(seconds: 4 + seconds))
        for step in 1...4 {
            engine.observe(
                .step(Step(instant: Instant(seconds: 4 + Double(step) * 0.45), length: 0.7, heading: 90)))
        }
        engine.advance(to: Instant(seconds: 6))
        return try XCTUnwrap(engine.estimate(on: Stage.hall)).point
    }

    private static func engine() -> PositioningEngine {
        var settings = PositioningSettings()
        // All devices are held the same way, but steps may be much longer or shorter than the detector says.
        (settings.motion.headingUnknown, settings.motion.headingBias, settings.motion.stepScale) = (0, 0, 0.4)
        var engine = PositioningEngine(
            venue: Stage.surveyedVenue, field: Stage.surveyedField, settings: settings, seed: 1)
        engine.observe(.fix(Fix(instant: .zero, mapID: Stage.hall, point: start, radius: 0.5)))
        engine.advance(to: .zero)
        return engine
    }

    private static func hear(_ engine: inout PositioningEngine, at instant: Instant) {
        for (index, beacon) in Stage.beaconPoints.enumerated() {
            let rssi = Stage.rssi(from: beacon, to: start)
            engine.observe(.sighting(Sighting(instant: instant, beacon: Stage.identity(index), rssi: rssi)))
        }
    }
}
