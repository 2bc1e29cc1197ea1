import XCTest

import IndoorLocalization

final class PositioningEngineTests: XCTestCase {
    private typealias Stage = PositioningStage
    private static let middle = MapPoint(x: 8, y: 11)

    func testBeforeAnyEvidenceThereIsNoEstimate() {
        var engine = PositioningEngine(venue: Stage.venue, field: Stage.packetField, settings: .init(), seed: 1)
        engine.advance(to: Instant(seconds: 1))
        engine.advance(to: Instant(seconds: 2))
        XCTAssertTrue(engine.mapProbabilities.isEmpty)
        XCTAssertNil(engine.estimate(on: Stage.hall))
    }

    func testAnUnknownMapHasNoEstimate() {
        var receiver = HallReceiver(at: Self.middle, seed: 1)
        receiver.listen()
        XCTAssertNotNil(receiver.estimate)
        XCTAssertNil(receiver.engine.estimate(on: 99))
    }

    func testTheEngineLocatesAReceiverAtRestWithinTwoMetresInTenSeconds() {
        let errors = Self.restingReceivers.map(\.error).sorted()
        print("errors of 40 seeds in metres: median \(errors[20]), 75 % \(errors[29]), largest \(errors[39])")
        XCTAssertLessThan(errors[20], 1.5, "median, seeds 1...40")
        // The rest has shadows that no receiver can see through in ten seconds.
        XCTAssertLessThan(errors[29], 2, "three of four, seeds 1...40")
        XCTAssertLessThan(errors[38], 4, "all but one, seeds 1...40")
        // Strong shadows of a resting receiver are like faults of the beacons: one of them may lose its weight.
        XCTAssertLessThan(errors[39], 5, "all, seeds 1...40")
    }

    func testTheRadiusContainsTheTruePositionAboutTwoThirdsOfTheTime() {
        let held = Self.restingReceivers.filter { $0.error <= $0.estimate?.radius ?? 0 }.count
        print("the radius held in \(held) of 40 seeds")
        // The engine does not know that nobody walks, so the radius may hold more often.
        XCTAssertTrue((22...36).contains(held), "\(held) of seeds 1...40")
    }

    func testARadiusIsNeverBelowTheFloor() {
        for receiver in Self.restingReceivers {
            XCTAssertGreaterThanOrEqual(receiver.estimate?.radius ?? 0, PositioningSettings().radiusFloor)
        }
    }

    func testTheEngineRelocatesAKidnappedReceiver() {
        for seed in UInt64(1)...3 {
            var receiver = HallReceiver(at: MapPoint(x: 3, y: 4), seed: seed)
            receiver.listen(seconds: 8)
            receiver.place = MapPoint(x: 15, y: 13)
            receiver.listen(seconds: 15)
            // As good as a resting receiver at its worst.
            XCTAssertLessThan(receiver.error, 4, "seed \(seed)")
        }
    }

    func testAnInvalidRSSIChangesNothing() {
        let plain = Self.journey(seed: 3)
        let spoiled = Self.journey(seed: 3) { engine, seconds in
            for rssi in [Double.nan, 127, 0, 20, -128, .infinity, -.infinity] {
                engine.observe(Self.sighting(Stage.identity(0), rssi, at: seconds))
            }
        }
        XCTAssertNotNil(plain)
        XCTAssertEqual(plain, spoiled)
    }

    func testTheEngineIgnoresUnknownBeacons() {
        let spoiled = Self.journey(seed: 3) { engine, seconds in
            engine.observe(Self.sighting(Stage.identity(500), -40, at: seconds))
        }
        XCTAssertEqual(Self.journey(seed: 3), spoiled)
    }

    func testUnknownBeaconsAloneAreNoEvidence() {
        var engine = PositioningEngine(venue: Stage.venue, field: Stage.packetField, settings: .init(), seed: 1)
        engine.observe(Self.sighting(Stage.identity(500), -40, at: 0))
        engine.advance(to: Instant(seconds: 1))
        XCTAssertTrue(engine.mapProbabilities.isEmpty)
    }

    func testEqualSeedsGiveEqualEstimates() {
        XCTAssertEqual(Self.journey(seed: 9), Self.journey(seed: 9))
    }

    func testMapProbabilitiesSumToOne() {
        var receiver = Self.betweenFloors(seed: 2)
        receiver.listen(seconds: 4)
        XCTAssertEqual(receiver.engine.mapProbabilities.values.reduce(0, +), 1, accuracy: 1e-9)
        XCTAssertEqual(receiver.engine.mapProbabilities.count, 2)
    }

    func testTheFloorOfTheBeaconsIsTheMostProbable() {
        for seed in UInt64(1)...5 {
            var receiver = Self.betweenFloors(seed: seed)
            receiver.listen(seconds: 6)
            XCTAssertGreaterThan(receiver.engine.mapProbabilities[Stage.hall] ?? 0, 0.9, "seed \(seed)")
        }
    }

    func testAFixSetsTheStartingPosition() throws {
        var receiver = HallReceiver(at: Self.middle, seed: 1)
        receiver.observe(Self.fix(MapPoint(x: 4, y: 5), radius: 1))
        let estimate = try XCTUnwrap(receiver.estimate)
        XCTAssertEqual(estimate.point.distance(to: MapPoint(x: 4, y: 5)), 0, accuracy: 0.3)
        XCTAssertTrue((0.8...2.2).contains(estimate.radius), "\(estimate.radius)")
    }

    func testAFixMovesTheEstimateTowardsIt() {
        var receiver = HallReceiver(at: Self.middle, seed: 1)
        receiver.listen(seconds: 5)
        let place = MapPoint(x: 11, y: 11)
        let before = receiver.estimate?.point.distance(to: place) ?? 0
        receiver.observe(Self.fix(place, radius: 1))
        XCTAssertLessThan(receiver.estimate?.point.distance(to: place) ?? 99, before / 2)
    }

    func testTheEngineIgnoresAnInvalidFix() {
        var receiver = HallReceiver(at: Self.middle, seed: 1)
        receiver.listen()
        let before = receiver.estimate
        receiver.observe(Self.fix(MapPoint(x: .nan, y: 5), radius: 1))
        receiver.observe(Self.fix(MapPoint(x: 5, y: 5), radius: 0))
        receiver.observe(Self.fix(MapPoint(x: 1e30, y: 5), radius: 1))
        receiver.observe(Self.fix(MapPoint(x: 5, y: 5), radius: .infinity))
        receiver.observe(Self.fix(MapPoint(x: 5, y: 5), radius: 1, map: 99))
        XCTAssertEqual(receiver.estimate, before)
    }

    func testStepsMoveTheEstimate() throws {
        var receiver = HallReceiver(at: Self.middle, seed: 6)
        receiver.observe(Self.fix(Self.middle, radius: 0.5))
        receiver.pass(by: 0)
        let start = try XCTUnwrap(receiver.estimate).point
        for _ in 0..<4 {
            receiver.observe(.step(Step(instant: Instant(seconds: receiver.seconds + 0.4), length: 0.7, heading: 90)))
            receiver.pass(by: 0.5)
        }
        let end = try XCTUnwrap(receiver.estimate).point
        // One in ten devices is held in some way that tells nothing, the others' directions vary by 20°.
        XCTAssertEqual(end.x - start.x, 2.8 * 0.85, accuracy: 0.5)
        XCTAssertEqual(end.y - start.y, 0, accuracy: 0.5)
    }

    func testTheFingerprintMethodFindsTheReceiver() {
        expectFound(by: .fingerprint, within: 2)
    }

    func testTheTrilaterationMethodFindsTheReceiver() {
        expectFound(by: .trilateration, within: 3)
    }

    func testTrilaterationOfOneBeaconIsThatBeaconsPlace() throws {
        var settings = PositioningSettings()
        settings.method = .trilateration
        var engine = PositioningEngine(venue: Stage.venue, field: Stage.packetField, settings: settings, seed: 1)
        engine.observe(Self.sighting(Stage.identity(4), -60, at: 0))
        engine.advance(to: Instant(seconds: 1))
        let point = try XCTUnwrap(engine.estimate(on: Stage.hall)).point
        XCTAssertEqual(point.distance(to: Stage.beaconPoints[4]), 0, accuracy: 1e-6)
    }

    func testTheSimpleMethodsHaveNoEstimateBeforeEvidence() {
        for method in [PositioningMethod.fingerprint, .trilateration] {
            var receiver = HallReceiver(at: Self.middle, seed: 1, method: method)
            receiver.observe(Self.fix(Self.middle, radius: 1))
            receiver.pass(by: 1)
            XCTAssertNil(receiver.estimate)
            XCTAssertTrue(receiver.engine.mapProbabilities.isEmpty)
        }
    }

    private func expectFound(
        by method: PositioningMethod, within metres: Double, file: StaticString = #filePath, line: UInt = #line
    ) {
        let errors = (UInt64(1)...9).map { seed in
            var receiver = HallReceiver(at: Self.middle, seed: seed, method: method)
            receiver.listen(seconds: 4)
            XCTAssertEqual(
                receiver.engine.mapProbabilities[Stage.hall] ?? 0, 1, accuracy: 1e-9, file: file, line: line)
            return receiver.error
        }.sorted()
        XCTAssertLessThan(errors[4], metres, "median of seeds 1...9 in \(errors)", file: file, line: line)
    }

    /// Forty receivers at random places after ten seconds.
    private static let restingReceivers: [HallReceiver] = (UInt64(1)...40).map { seed in
        var generator = SeededGenerator(seed: seed)
        let place = MapPoint(x: 2 + 16 * generator.uniform(), y: 2 + 16 * generator.uniform())
        var receiver = HallReceiver(at: place, seed: seed)
        receiver.listen(seconds: 10)
        return receiver
    }

    private static func journey(
        seed: UInt64, spoil: (inout PositioningEngine, Double) -> Void = { _, _ in }
    ) -> PositioningEngine.Estimate? {
        var receiver = HallReceiver(at: middle, seed: seed)
        for _ in 0..<5 { receiver.listen(spoil: spoil) }
        return receiver.estimate
    }

    private static func betweenFloors(seed: UInt64) -> HallReceiver {
        HallReceiver(at: middle, seed: seed, venue: Stage.twoFloors, field: Stage.twoFloorField)
    }

    private static func sighting(_ beacon: BeaconIdentity, _ rssi: Double, at seconds: Double) -> SensorReading {
        .sighting(Sighting(instant: Instant(seconds: seconds), beacon: beacon, rssi: rssi))
    }

    private static func fix(
        _ point: MapPoint, radius: Double, map: MapID = PositioningStage.hall
    ) -> SensorReading {
        .fix(Fix(instant: .zero, mapID: map, point: point, radius: radius))
    }
}
