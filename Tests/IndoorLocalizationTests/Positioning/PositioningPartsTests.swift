import XCTest

@testable import IndoorPositioning
import IndoorLocalization

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
