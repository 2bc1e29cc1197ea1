import XCTest

import IndoorLocalization

/// What a device learns of itself in the background.
final class CalibrationTests: XCTestCase {
    private typealias Stage = PositioningStage

    /// A walk around the hall: what is heard is louder by some decibels, and steps are longer than they are told.
    ///
    /// - Parameter told: called with what the engine knows after each half second.
    private static func walk(
        decibels: Double, stride: Double, seconds: Int, seed: UInt64, from calibration: Calibration? = nil,
        told: (_ half: Int, PositioningEngine) -> Void = { _, _ in }
    ) -> PositioningEngine {
        var settings = PositioningSettings()
        settings.particleCount = 1000
        var engine = PositioningEngine(
            venue: Stage.surveyedVenue, field: Stage.surveyedField, settings: settings, seed: seed)
        if let calibration { engine.begin(with: calibration) }
        var generator = SeededGenerator(seed: seed &+ 77)
        for half in 1...2 * seconds {
            let time = Double(half) / 2
            let (before, place) = (HallWalk.place(at: time - 0.5), HallWalk.place(at: time))
            // HallWalk goes at 1 m/s: two steps a second, of half a metre.
            let step = Step(
                instant: Instant(seconds: time), length: 0.5 / stride, heading: (place - before).course)
            engine.observe(.step(step))
            for (index, beacon) in Stage.beaconPoints.enumerated() where generator.uniform() < 0.8 {
                let rssi = Stage.rssi(from: beacon, to: place) + decibels + 3 * generator.normal()
                engine.observe(
                    .sighting(Sighting(instant: Instant(seconds: time), beacon: Stage.identity(index), rssi: rssi)))
            }
            engine.advance(to: Instant(seconds: time))
            told(half, engine)
        }
        return engine
    }

    /// What the receiver of the survey learns of itself in one, 60 and 120 s, by the seed of the walk.
    private static let plain = (UInt64(1)...3).map { seed in
        var learned: [Int: Calibration] = [:]
        _ = walk(decibels: 0, stride: 1, seconds: 120, seed: seed) { half, engine in
            if [2, 120, 240].contains(half) { learned[half / 2] = engine.calibration }
        }
        return learned
    }

    /// What a receiver learns of itself.
    private func learned(_ decibels: Double, _ stride: Double, seconds: Int, seed: UInt64) throws -> Calibration {
        if decibels == 0, stride == 1 { return try XCTUnwrap(Self.plain[Int(seed) - 1][seconds]) }
        return try XCTUnwrap(
            Self.walk(decibels: decibels, stride: stride, seconds: seconds, seed: seed).calibration)
    }

    func testASessionEstimatesTheReceiversOffsetDuringAWalk() throws {
        for decibels in [-6.0, 0, 5] {
            let errors = try (UInt64(1)...3).map { seed in
                let learned = try self.learned(decibels, 1, seconds: 60, seed: seed)
                XCTAssertGreaterThanOrEqual(learned.quality, .ok, "seed \(seed): \(learned)")
                return learned.rssiOffset - decibels
            }
            for error in errors { XCTAssertEqual(error, 0, accuracy: 1.5, "\(decibels) dB, seeds 1...3: \(errors)") }
        }
    }

    func testASessionEstimatesTheStepLengthDuringAWalk() throws {
        for stride in [0.85, 1.0, 1.2] {
            let scales = try (UInt64(1)...3).map { seed in
                try learned(0, stride, seconds: 120, seed: seed).stepScale
            }
            let mean = scales.reduce(0, +) / 3
            XCTAssertEqual(mean, stride, accuracy: 0.08, "stride \(stride), seeds 1...3: \(scales)")
        }
    }

    func testALongWalkMakesAnExcellentCalibration() throws {
        let short = try learned(0, 1, seconds: 1, seed: 1)
        let long = try learned(0, 1, seconds: 120, seed: 1)
        XCTAssertEqual(short.quality, .poor, "\(short)")
        XCTAssertEqual(long.quality, .excellent, "\(long)")
    }

    func testTheNextSessionBeginsWithTheCalibration() throws {
        let learned = try self.learned(6, 1.2, seconds: 120, seed: 1)
        let next = try XCTUnwrap(
            Self.walk(decibels: 6, stride: 1.2, seconds: 1, seed: 2, from: learned).calibration)
        XCTAssertEqual(next.rssiOffset, 6, accuracy: 1.5)
        XCTAssertEqual(next.stepScale, learned.stepScale, accuracy: 0.03)
        XCTAssertGreaterThan(next.rssiDeviation, learned.rssiDeviation, "another pocket, perhaps")
        XCTAssertGreaterThanOrEqual(next.quality, .ok)
    }

    func testThereIsNoCalibrationWithoutEvidenceOrMemory() {
        for method in PositioningMethod.allCases {
            var settings = PositioningSettings()
            settings.method = method
            var engine = PositioningEngine(venue: Stage.venue, field: Stage.packetField, settings: settings, seed: 1)
            XCTAssertNil(engine.calibration, "\(method)")
            guard method != .particle else { continue }
            engine.observe(
                .sighting(Sighting(instant: .zero, beacon: Stage.identity(1), rssi: -60)))
            engine.advance(to: Instant(seconds: 1))
            XCTAssertNil(engine.calibration, "\(method)")
        }
    }

    func testTheQualityIsThatOfTheLeastCertainParameter() {
        var calibration = Calibration()
        XCTAssertEqual(calibration.quality, .poor)
        calibration.rssiDeviation = 1.5
        XCTAssertEqual(calibration.quality, .ok)
        calibration.rssiDeviation = 1
        XCTAssertEqual(calibration.quality, .ok)
        calibration.stepDeviation = 0.08
        XCTAssertEqual(calibration.quality, .excellent)
    }

    func testADocumentIsReadAsItWasWritten() throws {
        var calibration = Calibration()
        calibration.rssiOffset = -3.5
        calibration.rssiDeviation = 0.75
        calibration.stepScale = 1.0625
        calibration.stepDeviation = 0.05
        XCTAssertEqual(try Calibration(calibration.document), calibration)
        guard case .object(var members) = calibration.document else { return XCTFail("\(calibration.document)") }
        members["madeBy"] = "somebody"
        XCTAssertEqual(try Calibration(.object(members)), calibration, "what is not known is ignored")
    }

    func testAnInvalidDocumentIsRejected() {
        XCTAssertThrowsError(try Calibration(.array([]))) { XCTAssertEqual($0 as? CalibrationError, .notAnObject) }
        guard case .object(let members) = Calibration().document else { return XCTFail("no object") }
        let wrong: [(String, JSONValue?)] = [
            ("rssiOffset", nil), ("rssiOffset", "loud"), ("rssiOffset", 51), ("rssiDeviation", -1),
            ("stepScale", 0), ("stepDeviation", .number(.nan)),
        ]
        for (name, value) in wrong {
            var changed = members
            changed[name] = value
            XCTAssertThrowsError(try Calibration(.object(changed)), name) { error in
                guard case .invalidNumber(let named, _)? = error as? CalibrationError else {
                    return XCTFail("\(error)")
                }
                XCTAssertEqual(named, name)
            }
        }
    }

    func testALocalizerKeepsItsCalibrationBetweenSessions() async throws {
        let stage = LocalizerStage()
        var given = Calibration()
        given.rssiOffset = 2
        given.rssiDeviation = 0.5
        await stage.localizer.setCalibration(given)
        let before = await stage.localizer.calibration
        XCTAssertEqual(before, given)
        try await stage.run()
        // Until then, readings may still change it.
        await stage.localizer.stop()
        let learned = await stage.localizer.calibration
        XCTAssertNotEqual(learned, given)
        XCTAssertEqual(learned.rssiOffset, 2, accuracy: 4, "begins with what was given")
        await stage.localizer.start()
        let kept = await stage.localizer.calibration
        XCTAssertEqual(kept, learned)
    }

    func testAFloorPlanLocalizerKeepsItsCalibrationBetweenSessions() async throws {
        let stage = FloorPlanLocalizerStage()
        let unknown = await stage.positioner.calibration
        XCTAssertEqual(unknown, Calibration())
        try await stage.run()
        // Until then, readings may still change it.
        await stage.positioner.stop()
        let learned = await stage.positioner.calibration
        XCTAssertNotEqual(learned, Calibration())
        await stage.positioner.start()
        let kept = await stage.positioner.calibration
        XCTAssertEqual(kept, learned)
    }
}
