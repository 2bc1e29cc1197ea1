import IndoorLocalization
import XCTest
@testable import IndoorPositioning

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

final class PositioningPartsTests: XCTestCase {
    private typealias Stage = PositioningStage

    /// Whoever is far from a beacon hears it loudly: the contrary of path loss.
    private struct Contrary: MeasurementModel {
        func expectation(of beacon: VenueBeacon, at point: MapPoint, on mapID: MapID) -> SignalExpectation? {
            SignalExpectation(rssi: -90 + 1.5 * beacon.point.distance(to: point), variance: 4)
        }
    }

    /// What another model says, asked cell by cell.
    private struct Passing: MeasurementModel {
        let base: SurveyedPathLoss

        func expectation(of beacon: VenueBeacon, at point: MapPoint, on mapID: MapID) -> SignalExpectation? {
            base.expectation(of: beacon, at: point, on: mapID)
        }
    }

    /// Anything that a closure says.
    private struct Stated: MeasurementModel {
        let state: @Sendable (VenueBeacon, MapPoint) -> SignalExpectation?

        func expectation(of beacon: VenueBeacon, at point: MapPoint, on mapID: MapID) -> SignalExpectation? {
            state(beacon, point)
        }
    }

    /// The left or the right half of the hall.
    private struct Half: MapPrior {
        let isLeft: Bool

        func weight(at point: MapPoint, on mapID: MapID) -> Double { (point.x < 10) == isLeft ? 1 : 0.001 }
    }

    func testTheEngineLocatesADeviceWithAModelThatContradictsPathLoss() {
        let place = MapPoint(x: 6, y: 13)
        let parts = PositioningParts(measurement: Contrary())
        let rssi: (MapPoint) -> Double = { -90 + 1.5 * $0.distance(to: place) }
        expectClose(Self.estimate(parts, rssi: rssi)?.point.distance(to: place), 0, within: 1.5, "seed 1")
        let standard = Self.estimate(PositioningParts(), rssi: rssi)?.point.distance(to: place)
        XCTAssertGreaterThan(standard ?? 0, 4, "path loss explains it as well")
    }

    func testAPriorMovesTheBelief() {
        // Of the beacon in the middle of a wall alone, left and right sound alike.
        for isLeft in [true, false] {
            let parts = PositioningParts(prior: Half(isLeft: isLeft))
            let estimate = Self.estimate(parts, beacons: [1]) { Stage.rssi(from: $0, to: MapPoint(x: 10, y: 9)) }
            guard let x = estimate?.point.x else { return XCTFail("there is no estimate") }
            XCTAssertEqual(x < 10, isLeft, "x \(x)")
            XCTAssertGreaterThan(abs(x - 10), 1, "x \(x)")
        }
    }

    func testTheStandardModelAskedCellByCellGivesTheSameTables() {
        for venue in [Stage.venue, Stage.surveyedVenue, Stage.twoFloors] {
            let standard = SignalField(venue: venue)
            let asked = SignalField(
                venue: venue, parts: PositioningParts(measurement: Passing(base: SurveyedPathLoss(venue: venue))))
            XCTAssertEqual(asked.areRatesKnown, standard.areRatesKnown)
            for (one, other) in zip(asked.maps, standard.maps) {
                // Summed in another way, to all but the last digits.
                XCTAssertEqual(one.logRate.count, other.logRate.count)
                for (one, other) in zip(one.logRate, other.logRate) { XCTAssertEqual(one, other, accuracy: 1e-5) }
                XCTAssertEqual(one.tables.count, other.tables.count)
                for (one, other) in zip(one.tables, other.tables) {
                    XCTAssertEqual(one?.columns, other?.columns)
                    XCTAssertEqual(one?.rows, other?.rows)
                    XCTAssertEqual(one?.mean, other?.mean)
                    XCTAssertEqual(one?.variance, other?.variance)
                    XCTAssertEqual(one?.logRate, other?.logRate)
                }
            }
        }
    }

    func testTheSurveyedTablesArePathLossPlusTheSumOfAllReadings() throws {
        let model = SignalModel()
        let map = try XCTUnwrap(Stage.surveyedVenue.radioMap)
        let field = Stage.surveyedField.maps[0]
        var compared = 0
        for (index, beacon) in map.beacons.enumerated() {
            let table = try XCTUnwrap(field.tables[index])
            let heard = map.fingerprints.flatMap { place in
                place.readings.filter { $0.beacon == index }.map { (place: place.point, reading: $0) }
            }
            let shared = heard.reduce(0) { $0 + $1.reading.weight } * 25
            for (row, column) in [(3, 5), (17, 30), (38, 2), (22, 22)] {
                guard let entry = table.index(column: column, row: row) else { continue }
                let center = field.grid.center(of: row * field.grid.columns + column)
                let planar = center.distance(to: beacon.point)
                var mean = Float(
                    model.pathLoss(
                        power: beacon.power, exponent: map.pathLossExponent, planar: planar, height: 0.5))
                mean += Float(shared)
                for (place, reading) in heard
                where max(abs(place.x - center.x), abs(place.y - center.y)) <= 4 * model.shadowingLength {
                    let distance = center.distance(to: place)
                    mean += Float(16 * model.shadowingCorrelation(distance: distance) * reading.weight)
                }
                XCTAssertEqual(
                    table.mean[entry], mean, accuracy: 1e-4, "beacon \(index), row \(row), column \(column)")
                compared += 1
            }
        }
        XCTAssertGreaterThan(compared, 20)
    }

    func testTheStandardPriorAskedCellByCellGivesTheSameWeights() {
        var venue = Stage.surveyedVenue
        venue.maps[0].walkable = [
            [MapPoint(x: 0, y: 0), MapPoint(x: 10, y: 0), MapPoint(x: 10, y: 20), MapPoint(x: 0, y: 20)]
        ]
        venue.radioMap?.fingerprints.removeAll { $0.point.y > 8 }
        let map = SignalField(venue: venue).maps[0]
        let prior = SurveyPrior(venue: venue)
        for cell in map.prior.indices {
            let weight = prior.weight(at: map.grid.center(of: cell), on: Stage.hall)
            XCTAssertEqual(map.prior[cell], Float(weight), "cell \(cell)")
        }
        XCTAssertGreaterThan(Set(map.prior).count, 10)
    }

    func testATableHasTheOutsideValuesWhereItsBeaconCannotBeDetected() throws {
        let field = Self.field { _, point in
            abs(point.x - 10) > 6 && point.y < 10 ? SignalExpectation(rssi: -70, variance: 4, rate: 2) : nil
        }
        let map = field.maps[0]
        let table = try XCTUnwrap(map.tables[0])
        XCTAssertTrue(field.areRatesKnown)
        XCTAssertEqual(table.columns, 0..<map.grid.columns)
        XCTAssertEqual(Double(table.rows.count) * map.grid.cellSize, 10, accuracy: 0.01)
        let middle = try XCTUnwrap(table.index(column: map.grid.columns / 2, row: 3))
        XCTAssertEqual(table.mean[middle], SignalField.inaudible)
        XCTAssertEqual(table.variance[middle], 16)
        XCTAssertEqual(exp(Double(table.logRate[middle])), SignalModel().unsurveyedRate / 8, accuracy: 1e-8)
        XCTAssertEqual(table.mean[0], -70)
        XCTAssertEqual(exp(Double(table.logRate[0])), 2, accuracy: 1e-6)
    }

    func testABeaconThatIsDetectedNowhereHasNoTable() {
        let field = Self.field { _, _ in nil }
        XCTAssertTrue(field.maps[0].tables.allSatisfy { $0 == nil })
        XCTAssertFalse(field.areRatesKnown)
    }

    func testTheEngineIgnoresIncompleteRates() {
        let field = Self.field { beacon, _ in
            SignalExpectation(rssi: -70, variance: 4, rate: beacon.identity == Stage.identity(0) ? nil : 1)
        }
        XCTAssertFalse(field.areRatesKnown)
        XCTAssertTrue(field.maps[0].logRate.isEmpty)
        XCTAssertTrue(field.maps[0].tables.allSatisfy { $0?.logRate.isEmpty ?? false })
    }

    func testTheEngineTreatsInvalidNumbersAsNoSignal() {
        let odd: [SignalExpectation] = [
            SignalExpectation(rssi: .nan, variance: 4), SignalExpectation(rssi: .infinity, variance: 4),
            SignalExpectation(rssi: -70, variance: .nan), SignalExpectation(rssi: -70, variance: 4, rate: .nan),
        ]
        for answer in odd {
            let tables = Self.field { _, _ in answer }.maps[0].tables
            XCTAssertEqual(tables.map { $0 == nil }, Stage.beaconPoints.map { _ in true }, "\(answer)")
        }
    }

    func testAModelReceivesThePowerAndTheExponentOfEachBeacon() {
        let told = Self.field { beacon, point in
            guard let power = beacon.measuredPower, let exponent = beacon.pathLossExponent else { return nil }
            return SignalExpectation(rssi: power - exponent, variance: 0)
        }
        XCTAssertEqual(
            told.maps[0].tables.map { $0?.mean.first },
            Stage.beaconPoints.map { _ in Float(Stage.power - Stage.exponent) })
    }

    func testANaNPriorLeavesThePlacePossible() {
        struct Odd: MapPrior {
            let value: Double
            func weight(at point: MapPoint, on mapID: MapID) -> Double { value }
        }
        for (value, expected) in [(Double.nan, Float(1e-30)), (0, 1e-30), (-3, 1e-30), (7, 1)] {
            let field = SignalField(venue: Stage.venue, parts: PositioningParts(prior: Odd(value: value)))
            XCTAssertEqual(Set(field.maps[0].prior), [expected], "\(value)")
        }
    }

    private static func field(_ state: @escaping @Sendable (VenueBeacon, MapPoint) -> SignalExpectation?) -> SignalField
    {
        SignalField(venue: Stage.venue, parts: PositioningParts(measurement: Stated(state: state)))
    }

    /// After ten seconds of listening to some beacons, with no noise.
    private static func estimate(
        _ parts: PositioningParts, beacons: [Int] = Array(0..<8), rssi: (MapPoint) -> Double
    ) -> PositioningEngine.Estimate? {
        var engine = PositioningEngine(venue: Stage.venue, parts: parts, seed: 1)
        for second in 0..<10 {
            for index in beacons {
                let sighting = Sighting(
                    instant: Instant(seconds: Double(second) + 0.5), beacon: Stage.identity(index),
                    rssi: rssi(Stage.beaconPoints[index]))
                engine.observe(.sighting(sighting))
            }
            engine.advance(to: Instant(seconds: Double(second + 1)))
        }
        return engine.estimate(on: Stage.hall)
    }
}

/// Many engines in one process.
final class SharedEngineTests: XCTestCase {
    private typealias Stage = PositioningStage

    private func engine(
        _ effort: PositioningEffort = PositioningEffort(), venue: Venue = Stage.venue, seed: UInt64 = 1
    ) -> PositioningEngine {
        PositioningEngine(
            venue: venue, tables: SharedTables(), settings: PositioningSettings(), effort: effort, seed: seed)
    }

    private func hear(_ engine: inout PositioningEngine, at place: MapPoint, _ seconds: Double) {
        for (index, point) in Stage.beaconPoints.enumerated() {
            engine.observe(
                .sighting(
                    Sighting(
                        instant: Instant(seconds: seconds), beacon: Stage.identity(index),
                        rssi: Stage.rssi(from: point, to: place))))
        }
    }

    func testACoarserFieldHasAQuarterOfTheCellsInTheSameStore() {
        let tables = SharedTables()
        let fine = tables.field(of: Stage.surveyedVenue, model: SignalModel())
        let coarse = tables.field(of: Stage.surveyedVenue, model: SignalModel(), cellScale: 2)
        XCTAssertEqual(coarse.maps[0].grid.cellSize, 2 * fine.maps[0].grid.cellSize)
        XCTAssertEqual(coarse.maps[0].grid.count * 4, fine.maps[0].grid.count)
        XCTAssertEqual(tables.field(of: Stage.surveyedVenue, model: SignalModel()).maps[0].grid, fine.maps[0].grid)
        // The tables of the standard model belong to the same grid.
        let place = MapPoint(x: 8, y: 8)
        for beacon in coarse.beacons.indices {
            let values = [fine, coarse].map { $0.expectation(of: beacon, at: place, on: Stage.hall)?.rssi ?? 0 }
            XCTAssertEqual(values[0], values[1], accuracy: 3, "beacon \(beacon)")
        }
    }

    func testAnExchangedWorkspaceLeavesTheParticlesOnly() {
        var (engine, owner) = (engine(), engine())
        var workspace = ParticleFilter.Workspace()
        for second in 1...6 {
            hear(&engine, at: MapPoint(x: 5, y: 5), Double(second))
            hear(&owner, at: MapPoint(x: 5, y: 5), Double(second))
            engine.exchangeWorkspace(with: &workspace)
            engine.advance(to: Instant(seconds: Double(second)))
            engine.exchangeWorkspace(with: &workspace)
            owner.advance(to: Instant(seconds: Double(second)))
        }
        XCTAssertEqual(engine.estimate(on: Stage.hall), owner.estimate(on: Stage.hall))
        XCTAssertEqual(engine.belief.filter.workspace.byteCount, 0)
        XCTAssertGreaterThan(workspace.byteCount, 100_000)
        XCTAssertLessThan(engine.byteCount, 140_000)
        XCTAssertGreaterThan(owner.byteCount, engine.byteCount + 100_000)
    }

    func testACopyWithAnotherSeedHasThePositionsOfAnEngineWithThatSeed() {
        var (copy, original) = (engine(seed: 1), engine(seed: 2))
        copy.begin(seed: 2)
        for second in 1...4 {
            hear(&copy, at: MapPoint(x: 15, y: 5), Double(second))
            hear(&original, at: MapPoint(x: 15, y: 5), Double(second))
            copy.advance(to: Instant(seconds: Double(second)))
            original.advance(to: Instant(seconds: Double(second)))
        }
        XCTAssertEqual(copy.estimate(on: Stage.hall), original.estimate(on: Stage.hall))
    }

    func testAnImprobableMapHasTheFewestParticles() {
        var effort = PositioningEffort()
        effort.fewestParticles = 20
        for (effort, expected) in [(PositioningEffort(), 100), (effort, 20)] {
            var engine = engine(effort, venue: Stage.twoFloors)
            for second in 1...20 {
                hear(&engine, at: MapPoint(x: 2.5, y: 2.5), Double(second))
                engine.advance(to: Instant(seconds: Double(second)))
            }
            XCTAssertEqual(engine.belief.filter.particles.range(of: 1).count, expected)
        }
    }

    /// Without a new reading, the readings of the last seconds are those of an earlier place.
    func testAnEngineOfAFleetMakesNoGlobalUpdateWithoutANewReading() {
        var effort = PositioningEffort()
        effort.needsNewEvidence = true
        for (effort, makesUpdates) in [(PositioningEffort(), true), (effort, false)] {
            var engine = engine(effort)
            hear(&engine, at: MapPoint(x: 5, y: 5), 0)
            engine.advance(to: .zero)
            for second in 1...9 { engine.advance(to: Instant(seconds: Double(second))) }
            XCTAssertEqual(engine.clock.latestLook == .zero, !makesUpdates)
            hear(&engine, at: MapPoint(x: 5, y: 5), 10)
            engine.advance(to: Instant(seconds: 10))
            XCTAssertEqual(engine.clock.latestLook, Instant(seconds: 10))
        }
    }

    func testAStatedPowerSetsTheOffsetAndItsDeviation() {
        var engine = engine()
        engine.begin(power: Stage.power - 8)
        XCTAssertEqual(engine.device.prior.value, -8, accuracy: 1e-9)
        XCTAssertEqual(engine.device.prior.variance, 25, accuracy: 1e-9)
        engine.begin(power: .nan)
        XCTAssertEqual(engine.device.prior.value, -8, accuracy: 1e-9)
    }

    func testASummaryContinuesTheBeliefOnEachMap() throws {
        var engine = engine(venue: Stage.twoFloors)
        for second in 1...10 {
            hear(&engine, at: MapPoint(x: 6, y: 12), Double(second))
            engine.advance(to: Instant(seconds: Double(second)))
        }
        let summary = try XCTUnwrap(engine.summary)
        XCTAssertTrue(summary.isValid)
        XCTAssertEqual(summary.instant, Instant(seconds: 10))
        var later = self.engine(venue: Stage.twoFloors, seed: 9)
        later.begin(with: summary)
        let (before, after) = (
            try XCTUnwrap(engine.estimate(on: Stage.hall)), try XCTUnwrap(later.estimate(on: Stage.hall))
        )
        XCTAssertLessThan(before.point.distance(to: after.point), 0.5)
        XCTAssertEqual(after.radius, before.radius, accuracy: 0.5)
        for (map, probability) in engine.mapProbabilities {
            XCTAssertEqual(try XCTUnwrap(later.mapProbabilities[map]), probability, accuracy: 2e-3)
        }
        XCTAssertEqual(later.device.offsets[0].value, engine.device.offsets[0].value, accuracy: 1e-6)
        XCTAssertEqual(later.consistencyRatio, engine.consistencyRatio)
    }

    func testAnInvalidSummaryIsIgnored() throws {
        var engine = engine()
        hear(&engine, at: MapPoint(x: 6, y: 12), 1)
        engine.advance(to: Instant(seconds: 1))
        let summary = try XCTUnwrap(engine.summary)
        let changes: [(inout BeliefSummary) -> Void] = [
            { $0.places = [] }, { $0.places[0].mapIndex = 5 }, { $0.places[0].mapIndex = -1 },
            { $0.places[0].probability = 1.5 }, { $0.places[0].mean.x = .nan }, { $0.places[0].covariance.xx = -1 },
            { $0.places[0].covariance.xy = 1e9 }, { $0.places[0].walkingShare = .infinity },
            { $0.places[0].velocity.y = 1e9 }, { $0.places[0].velocityVariance = -1 }, { $0.offset.variance = -1 },
            { $0.consistency.weight = .nan }, { $0.places.append($0.places[0]) },
        ]
        for (index, change) in changes.enumerated() {
            var damaged = summary
            change(&damaged)
            var later = self.engine()
            later.begin(with: damaged)
            XCTAssertNil(later.estimate(on: Stage.hall), "change \(index)")
        }
    }

    func testTheExpectedRSSIOverABeliefIsThatAtItsPlace() throws {
        var engine = engine()
        let place = MapPoint(x: 10, y: 8)
        XCTAssertNil(engine.expectedRSSI(of: Stage.identity(1), on: Stage.hall))
        for second in 1...15 {
            hear(&engine, at: place, Double(second))
            engine.advance(to: Instant(seconds: Double(second)))
        }
        let expected = try XCTUnwrap(engine.expectedRSSI(of: Stage.identity(1), on: Stage.hall))
        XCTAssertEqual(expected.mean, Stage.rssi(from: Stage.beaconPoints[1], to: place), accuracy: 2)
        let certain = try XCTUnwrap(engine.expectedRSSI(of: Stage.identity(1), at: place, on: Stage.hall))
        XCTAssertGreaterThan(expected.deviation, certain.deviation)
        XCTAssertNil(engine.expectedRSSI(of: Stage.identity(99), on: Stage.hall))
    }
}
