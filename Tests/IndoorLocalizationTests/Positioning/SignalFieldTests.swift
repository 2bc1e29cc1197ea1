import IndoorLocalization
import XCTest
@testable import IndoorPositioning

final class SignalFieldTests: XCTestCase {
    private typealias Stage = PositioningStage
    private let beacon = MapPoint(x: 5, y: 10)

    func testFromThePacketAloneTheMeanIsPathLoss() throws {
        let map = Stage.packetField.maps[0]
        for cell in stride(from: 0, to: map.grid.count, by: 37) {
            let center = map.grid.center(of: cell)
            for (index, point) in Stage.beaconPoints.enumerated() {
                let mean = try XCTUnwrap(value(\.mean, at: center, beacon: index, in: Stage.packetField))
                XCTAssertEqual(mean, Stage.rssi(from: point, to: center), accuracy: 0.01)
            }
        }
    }

    func testAPacketWithoutDetectionEvidenceHasNoRates() {
        XCTAssertFalse(Stage.uncountedField.areRatesKnown)
        XCTAssertTrue(Stage.uncountedField.maps[0].logRate.isEmpty)
        XCTAssertEqual(Set(Stage.uncountedField.maps[0].prior), [1])
    }

    func testThroughAFloorTheSignalIsWeaker() throws {
        let point = MapPoint(x: 10, y: 10)
        let here = try XCTUnwrap(value(\.mean, at: point, beacon: 1, in: Stage.twoFloorField))
        let above = try XCTUnwrap(value(\.mean, at: point, beacon: 1, mapIndex: 1, in: Stage.twoFloorField))
        XCTAssertEqual(here - above, SignalModel().floorLoss, accuracy: 0.01)
    }

    func testTheMeanAtASurveyedPlaceIsCloseToTheReading() throws {
        let map = try XCTUnwrap(Stage.surveyedVenue.radioMap)
        for place in map.fingerprints {
            for reading in place.readings {
                let mean = try XCTUnwrap(value(\.mean, at: place.point, beacon: reading.beacon))
                // Four readings of 2 dB noise are 1 dB off, and the cell's middle is not quite the place.
                XCTAssertEqual(mean, reading.rssi, accuracy: 4, "\(place.point), beacon \(reading.beacon)")
            }
        }
    }

    func testAReadingRaisesTheMeanAroundIt() throws {
        let field = corridor(readings: [(6, 0.2), (94, 0)])
        let place = center(MapPoint(x: 6, y: 10), in: field)
        let near = try XCTUnwrap(value(\.mean, at: place, beacon: 0, in: field))
        // The Gaussian process: weight × (constant 25 + shadowing 16), less by at most half a cell's distance.
        XCTAssertEqual(near, Stage.rssi(from: beacon, to: place) + 0.2 * 41, accuracy: 0.1)
    }

    func testTheMeanFarFromAllReadingsIsPathLossPlusTheCommonOffset() throws {
        let field = corridor(readings: [(6, 0.2), (94, -0.15)])
        let place = center(MapPoint(x: 50, y: 10), in: field)
        let far = try XCTUnwrap(value(\.mean, at: place, beacon: 0, in: field))
        XCTAssertEqual(far, Stage.rssi(from: beacon, to: place) + 0.05 * 25, accuracy: 0.05)
    }

    func testTheVarianceIsSmallerNearAReading() throws {
        let field = corridor(readings: [(6, 0.2), (94, 0)])
        let near = try XCTUnwrap(value(\.variance, at: MapPoint(x: 6, y: 10), beacon: 0, in: field))
        let further = try XCTUnwrap(value(\.variance, at: MapPoint(x: 12, y: 10), beacon: 0, in: field))
        let far = try XCTUnwrap(value(\.variance, at: MapPoint(x: 50, y: 10), beacon: 0, in: field))
        XCTAssertLessThan(near, further)
        XCTAssertLessThan(further, far)
        // Shadowing is unknown there; of the power's 25 dB² a reading with noise of 1.5² + 3.5² / 10 dB² tells some.
        XCTAssertEqual(far, 41 - 25 * 25 / (41 + 3.475), accuracy: 0.1)
    }

    func testReadingsConstrainABeaconsPowerAtAnyDistance() throws {
        let field = corridor(readings: [(6, 0.2), (94, 0)])
        let inReach = try XCTUnwrap(value(\.variance, at: MapPoint(x: 37, y: 10), beacon: 0, in: field))
        let beyond = try XCTUnwrap(value(\.variance, at: MapPoint(x: 39, y: 10), beacon: 0, in: field))
        XCTAssertEqual(inReach, beyond, accuracy: 0.5)
    }

    func testABeaconWithMoreDetectionsHasAHigherRate() throws {
        let field = corridor(readings: [(6, 0), (94, 0)], counts: [40, 2])
        let often = try XCTUnwrap(value(\.logRate, at: MapPoint(x: 6, y: 10), beacon: 0, in: field))
        let seldom = try XCTUnwrap(value(\.logRate, at: MapPoint(x: 94, y: 10), beacon: 0, in: field))
        XCTAssertGreaterThan(often, seldom + 1)
    }

    func testTheRateIsDetectionsASecond() throws {
        let rate = exp(try XCTUnwrap(value(\.logRate, at: MapPoint(x: 9, y: 9), beacon: 0)))
        // One a second was heard, here and elsewhere: so much is expected before the survey, too.
        XCTAssertEqual(rate, 1, accuracy: 0.01)
    }

    func testTheTotalRateIsTheSumOfAllBeacons() {
        let field = Stage.surveyedField
        let map = field.maps[0]
        for cell in stride(from: 0, to: map.grid.count, by: 13) {
            let (row, column) = cell.quotientAndRemainder(dividingBy: map.grid.columns)
            let sum = map.tables.reduce(0.0) { sum, table in
                guard let table, let entry = table.index(column: column, row: row) else {
                    return sum + field.model.unheardRate / 8
                }
                return sum + Double(exp(table.logRate[entry]))
            }
            XCTAssertEqual(Double(exp(map.logRate[cell])), sum, accuracy: sum * 1e-3)
        }
    }

    func testTheRateOutsideTheGridIsTheUnheardRate() {
        let field = Stage.surveyedField
        XCTAssertEqual(Double(exp(field.maps[0].outsideRate)), field.model.unheardRate, accuracy: 1e-5)
    }

    func testTheTotalUnheardRateDoesNotDependOnTheNumberOfBeacons() throws {
        for count in [1, 600] {
            var venue = Stage.venue
            venue.maps = [Stage.map(width: 400)]
            venue.beacons = []
            let beacons = (0..<count).map {
                RadioMap.Beacon(
                    identity: Stage.identity($0), mapID: Stage.hall, point: MapPoint(x: 5, y: 10), power: Stage.power)
            }
            // One place hears all of them, others near it none: path loss expects none far away.
            let all = beacons.indices.map { RadioMap.Reading(beacon: $0, rssi: -60, count: 4) }
            let places = (0..<30).map { index in
                RadioMap.Fingerprint(
                    mapID: Stage.hall, point: MapPoint(x: 5 + 3 * Double(index), y: 10), duration: 4,
                    readings: index > 0 ? [] : all)
            }
            venue.radioMap = RadioMap(beacons: beacons, fingerprints: places, pathLossExponent: Stage.exponent)
            let field = SignalField(venue: venue)
            let map = field.maps[0]
            let far = try XCTUnwrap(map.grid.cell(at: MapPoint(x: 390, y: 10)))
            XCTAssertEqual(Double(exp(map.logRate[far])), 0.05, accuracy: 0.001, "\(count) beacons")
            XCTAssertEqual(Double(exp(map.outsideRate)), 0.05, accuracy: 0.001, "\(count) beacons")
            // Within the beacons' tables, but where nobody listened and none is expected.
            let rates = try beacons.indices.map {
                exp(try XCTUnwrap(value(\.logRate, at: MapPoint(x: 25, y: 19), beacon: $0, in: field)))
            }
            XCTAssertEqual(rates.reduce(0, +), 0.05, accuracy: 0.001, "\(count) beacons")
            let near = try XCTUnwrap(map.grid.cell(at: MapPoint(x: 5, y: 10)))
            XCTAssertGreaterThan(Double(exp(map.logRate[near])), 0.5 * Double(count), "\(count) beacons")
        }
    }

    func testABeaconWithoutSurveyReadingsIsKnownFromThePacket() throws {
        var venue = Stage.surveyedVenue
        let silent = VenueBeacon(
            identity: Stage.identity(100), mapID: Stage.hall, point: MapPoint(x: 10, y: 10), measuredPower: -50,
            pathLossExponent: 2.2)
        venue.beacons.append(silent)
        let field = SignalField(venue: venue)
        let index = try XCTUnwrap(field.indexes[silent.identity])
        XCTAssertEqual(index, 8)
        let place = MapPoint(x: 12.25, y: 10.25)
        let map = field.maps[0]
        let center = map.grid.center(of: try XCTUnwrap(map.grid.cell(at: place)))
        let mean = try XCTUnwrap(value(\.mean, at: place, beacon: index, in: field))
        // It is as much weaker than told as those that the survey heard.
        let surveyed = try XCTUnwrap(venue.radioMap?.beacons)
        let weaker = surveyed.reduce(0) { $0 + Stage.power - $1.power } / Double(surveyed.count)
        XCTAssertEqual(mean, Stage.rssi(from: silent.point, to: center, power: -50 - weaker), accuracy: 0.01)
    }

    func testWithoutASurveyTheReceiversSensitivityGivesTheRates() throws {
        var model = SignalModel()
        (model.unsurveyedDetectionWeight, model.sensitivity, model.sensitivityWidth) = (0.5, -75, 3)
        model.unsurveyedRate = 0.4
        let field = SignalField(venue: Stage.venue, model: model)
        XCTAssertTrue(field.areRatesKnown)
        XCTAssertEqual(field.model.detectionWeight, 0.5)
        for point in [MapPoint(x: 2.2, y: 2.2), MapPoint(x: 9.1, y: 10.3), MapPoint(x: 18.6, y: 18.2)] {
            let mean = try XCTUnwrap(value(\.mean, at: point, beacon: 0, in: field))
            let rate = exp(try XCTUnwrap(value(\.logRate, at: point, beacon: 0, in: field)))
            // A logistic curve, and what is heard where nothing should be.
            XCTAssertEqual(rate, 1 / (1 + exp((-75 - mean) / 3)) + 0.4 / 8, accuracy: 1e-4, "\(point)")
        }
        model.detectionWeight = 0.3
        XCTAssertEqual(SignalField(venue: Stage.surveyedVenue, model: model).model.detectionWeight, 0.3)
    }

    /// Another floor of a surveyed venue, where nobody surveyed and nothing is mounted.
    func testABeaconOfAnotherFloorWithoutReadingsThereIsNotExpected() {
        var venue = Stage.surveyedVenue
        venue.maps.append(Stage.map(Stage.gallery, level: 1))
        venue.radioMap?.fingerprints.append(
            RadioMap.Fingerprint(
                mapID: Stage.gallery, point: MapPoint(x: 10, y: 10), duration: 4,
                readings: [RadioMap.Reading(beacon: 2, rssi: -80, count: 4)]))
        let tables = SignalField(venue: venue).maps[1].tables
        XCTAssertEqual(tables.indices.filter { tables[$0] != nil }, [2])
    }

    func testTheGridCoversThePlan() {
        let grid = Stage.packetField.maps[0].grid
        for corner in [MapPoint(x: 0, y: 0), MapPoint(x: 19.99, y: 0), MapPoint(x: 19.99, y: 19.99)] {
            XCTAssertNotNil(grid.cell(at: corner))
        }
    }

    func testTheGridCoversBeaconsBeyondThePlan() {
        var venue = Stage.venue
        venue.beacons[0].point = MapPoint(x: -7, y: -3)
        venue.beacons[1].point = MapPoint(x: 28, y: 26)
        let grid = SignalField(venue: venue).maps[0].grid
        XCTAssertNotNil(grid.cell(at: MapPoint(x: -7, y: -3)))
        XCTAssertNotNil(grid.cell(at: MapPoint(x: 27.9, y: 25.9)))
    }

    func testABeaconBeyondItsRangeDoesNotStretchTheGrid() {
        var venue = Stage.venue
        let plain = SignalField(venue: venue).maps[0].grid
        for far in [1e4, -1e6, 1e300] {
            venue.beacons[0].point = MapPoint(x: 5, y: far)
            XCTAssertEqual(SignalField(venue: venue).maps[0].grid, plain, "\(far)")
        }
    }

    func testTheGridCoversSurveyedPlacesBeyondThePlan() {
        var venue = Stage.surveyedVenue
        venue.radioMap?.fingerprints[0].point = MapPoint(x: -12, y: 5)
        XCTAssertNotNil(SignalField(venue: venue).maps[0].grid.cell(at: MapPoint(x: -12, y: 5)))
    }

    func testThePriorIsLowFarFromTheSurvey() throws {
        let field = corridor(readings: [(6, 0.2), (94, 0)])
        let map = field.maps[0]
        let there = map.prior[try XCTUnwrap(map.grid.cell(at: MapPoint(x: 6, y: 10)))]
        let away = map.prior[try XCTUnwrap(map.grid.cell(at: MapPoint(x: 50, y: 10)))]
        XCTAssertGreaterThan(there, 0.9)
        XCTAssertEqual(Double(away), field.model.unsupportedShare, accuracy: 1e-4)
    }

    func testThePriorIsLowOutsideTheWalkableAreas() throws {
        var venue = Stage.venue
        venue.maps[0].walkable = [
            [MapPoint(x: 0, y: 0), MapPoint(x: 10, y: 0), MapPoint(x: 10, y: 20), MapPoint(x: 0, y: 20)]
        ]
        let field = SignalField(venue: venue)
        let map = field.maps[0]
        XCTAssertEqual(map.prior[try XCTUnwrap(map.grid.cell(at: MapPoint(x: 5, y: 5)))], 1)
        let away = map.prior[try XCTUnwrap(map.grid.cell(at: MapPoint(x: 15, y: 5)))]
        XCTAssertEqual(Double(away), field.model.unsupportedShare, accuracy: 1e-6)
    }

    func testTheReadingDeviationIncludesTheUnseenDeviation() {
        // √(3² + 2²), from the model alone.
        XCTAssertEqual(Stage.packetField.readingDeviation, 13.0.squareRoot(), accuracy: 1e-9)
    }

    /// A number of a beacon's table in the cell of a point.
    private func value(
        _ quantity: KeyPath<SignalField.Table, [Float]>, at point: MapPoint, beacon: Int, mapIndex index: Int = 0,
        in field: SignalField = Stage.surveyedField
    ) -> Double? {
        let map = field.maps[index]
        guard let cell = map.grid.cell(at: point), let table = map.tables[beacon],
            let entry = table.index(column: cell % map.grid.columns, row: cell / map.grid.columns)
        else { return nil }
        return Double(table[keyPath: quantity][entry])
    }

    /// The middle of the cell that a point lies in.
    private func center(_ point: MapPoint, in field: SignalField) -> MapPoint {
        let grid = field.maps[0].grid
        return grid.center(of: grid.cell(at: point) ?? 0)
    }

    /// A hall of 100 m with one beacon near its left end and readings of given weights along it.
    private func corridor(readings: [(x: Double, weight: Double)], counts: [Int] = [10, 10]) -> SignalField {
        var venue = Stage.venue
        venue.maps = [Stage.map(width: 100)]
        venue.beacons = []
        let places = zip(readings, counts).map { reading, count in
            RadioMap.Fingerprint(
                mapID: Stage.hall, point: MapPoint(x: reading.x, y: 10), duration: 4,
                readings: [RadioMap.Reading(beacon: 0, rssi: -60, count: count, weight: reading.weight)])
        }
        venue.radioMap = RadioMap(
            beacons: [
                RadioMap.Beacon(identity: Stage.identity(0), mapID: Stage.hall, point: beacon, power: Stage.power)
            ], fingerprints: places, pathLossExponent: Stage.exponent, readingDeviation: 3)
        return SignalField(venue: venue)
    }
}

final class SignalTablesTests: XCTestCase {
    private typealias Stage = PositioningStage

    /// Eight floors above each other, on each of which the hall's beacons hang.
    private static let tower: Venue = {
        var venue = Stage.venue
        venue.maps = (0..<8).map { Stage.map(MapID(rawValue: $0 + 1), level: $0) }
        venue.beacons = venue.maps.indices.flatMap { floor in
            Stage.beaconPoints.enumerated().map { index, point in
                VenueBeacon(
                    identity: Stage.identity(100 * floor + index), mapID: venue.maps[floor].id, point: point,
                    measuredPower: Stage.power, pathLossExponent: Stage.exponent)
            }
        }
        return venue
    }()

    private func maker(of venue: Venue, _ cache: TableCache) -> PathLossTables {
        let model = SignalModel().fitted(to: venue.radioMap)
        return PathLossTables(
            venue: venue, transmitters: TransmitterList(venue: venue, model: model), model: model, cache: cache)
    }

    func testAnEvictedTableIsRebuiltBitForBit() {
        for venue in [Stage.venue, Stage.twoFloors, Stage.surveyedVenue] {
            let (kept, dropped) = (maker(of: venue, TableCache()), maker(of: venue, TableCache(capacity: 1)))
            for _ in 0..<2 {
                for sheet in venue.maps.indices {
                    for beacon in kept.transmitters.indices {
                        let (one, other) = (kept.table(beacon, floor: sheet), dropped.table(beacon, floor: sheet))
                        XCTAssertEqual(one?.mean, other?.mean)
                        XCTAssertEqual(one?.variance, other?.variance)
                        XCTAssertEqual(one?.logRate, other?.logRate)
                    }
                }
            }
        }
    }

    func testTablesAreBuiltOnFirstUse() {
        for venue in [Stage.venue, Stage.surveyedVenue] {
            let cache = TableCache()
            let tables = maker(of: venue, cache)
            XCTAssertTrue(tables.isHeard(0, floor: 0))
            XCTAssertEqual(cache.bytes, 0)
            _ = tables.table(0, floor: 0)
            XCTAssertGreaterThan(cache.bytes, 0)
        }
    }

    func testTheRatesOfAllBeaconsAreTheSumOfTheirTables() {
        for venue in [Stage.venue, Stage.surveyedVenue, Self.tower] {
            let field = SignalField(venue: venue)
            for map in field.maps {
                for cell in stride(from: 0, to: map.grid.count, by: 41) {
                    let (row, column) = cell.quotientAndRemainder(dividingBy: map.grid.columns)
                    let sum = map.tables.reduce(field.model.unheardRate) { sum, table in
                        guard let table, let entry = table.index(column: column, row: row) else { return sum }
                        return sum + exp(Double(table.logRate[entry])) - field.unheardRate
                    }
                    XCTAssertEqual(Double(map.logRate[cell]), log(sum), accuracy: 1e-4, "cell \(cell)")
                }
            }
        }
    }

    func testThroughThreeFloorsABeaconHasNoTable() throws {
        let field = SignalField(venue: Self.tower)
        let beacon = try XCTUnwrap(field.indexes[Stage.identity(303)])
        // 60 dB below 1 m and 15 a floor: −60, −75, −90, −105 dBm at 1 m, of which −103 is the least that is heard.
        XCTAssertEqual(field.maps.indices.filter { field.maps[$0].tables[beacon] != nil }, [1, 2, 3, 4, 5])
    }

    func testMapsWithoutAnyDetectableBeaconAreRuledOut() {
        let field = SignalField(venue: Self.tower)
        let receivers = field.maps.map { _ in Stage.offset() }
        var evidence = Stage.evidence(at: MapPoint(x: 6, y: 6))
        for index in evidence.heard.indices { evidence.heard[index].beacon += 8 }
        let posterior = GridPosterior(Likelihood(field: field, evidence: evidence, receivers: receivers))
        XCTAssertEqual(posterior.mapEvidence.map(\.isFinite), [true, true, true, true, false, false, false, false])
        XCTAssertEqual(posterior.mapProbabilities.reduce(0, +), 1, accuracy: 1e-9)
        XCTAssertNotNil(posterior.moments(mapIndex: 1, field: field))
        XCTAssertNil(posterior.moments(mapIndex: 6, field: field))
        var generator = SeededGenerator(seed: 1)
        XCTAssertTrue(posterior.draw(10, mapIndex: 6, using: &generator).isEmpty)
    }

    func testTooFewOrUnknownDetectionsRuleOutNoLevel() {
        let field = SignalField(venue: Self.tower)
        let receivers = field.maps.map { _ in Stage.offset() }
        // The beacons of the lowest floor on a field that lacks its tables, and too few of them to tell.
        let deaf = SignalField(
            venue: Self.tower, parts: PositioningParts(measurement: Deaf()))
        let all = Stage.evidence(at: MapPoint(x: 6, y: 6))
        var few = all
        few.heard.removeLast()
        for (field, evidence) in [(field, Evidence(duration: 1, heard: [])), (deaf, all), (field, few)] {
            let posterior = GridPosterior(Likelihood(field: field, evidence: evidence, receivers: receivers))
            XCTAssertTrue(posterior.mapEvidence.allSatisfy(\.isFinite), "\(evidence.heard.count) heard")
        }
    }

    /// Hears nothing anywhere.
    private struct Deaf: MeasurementModel {
        func expectation(of beacon: VenueBeacon, at point: MapPoint, on mapID: MapID) -> SignalExpectation? { nil }
    }

    func testSessionsThatShareTablesUseTheSameOnes() {
        let shared = SharedTables(venueCount: 2)
        let model = SignalModel()
        func isSame(_ one: SignalField, _ other: SignalField) -> Bool {
            one.maps[0].totalRates === other.maps[0].totalRates
        }
        let first = shared.field(of: Stage.venue, model: model)
        XCTAssertTrue(isSame(first, shared.field(of: Stage.venue, model: model)))
        var other = model
        other.pathLossExponent = 3
        XCTAssertFalse(isSame(first, shared.field(of: Stage.venue, model: other)))
        var changed = Stage.venue
        changed.beacons[0].point.x += 1
        let second = shared.field(of: changed, model: model)
        XCTAssertFalse(isSame(first, second))
        XCTAssertTrue(isSame(second, shared.field(of: changed, model: model)), "the two that were asked for last stay")
        XCTAssertFalse(isSame(first, shared.field(of: Stage.venue, model: model)), "the first one is gone")
    }

    func testSharingTablesDoesNotAffectPositions() throws {
        let shared = SharedTables()
        func points(_ engine: PositioningEngine, at place: MapPoint) -> [MapPoint] {
            var engine = engine
            var generator = SeededGenerator(seed: 3)
            return (0..<10).compactMap { second in
                let now = Instant(seconds: Double(second))
                for (index, beacon) in Stage.beaconPoints.enumerated() {
                    let rssi = Stage.rssi(from: beacon, to: place) + 3 * generator.normal()
                    engine.observe(.sighting(Sighting(instant: now, beacon: Stage.identity(index), rssi: rssi)))
                }
                engine.advance(to: now)
                return engine.estimate(on: Stage.hall)?.point
            }
        }
        let settings = PositioningSettings()
        let place = MapPoint(x: 7, y: 12)
        let alone = points(PositioningEngine(venue: Stage.surveyedVenue, settings: settings, seed: 5), at: place)
        func sharing() -> PositioningEngine {
            PositioningEngine(venue: Stage.surveyedVenue, tables: shared, settings: settings, seed: 5)
        }
        _ = points(sharing(), at: MapPoint(x: 15, y: 3))
        XCTAssertEqual(points(sharing(), at: place), alone)
        XCTAssertEqual(alone.count, 10)
    }
}

final class TableCacheTests: XCTestCase {
    /// A table of 1,000 bytes and some more.
    private static func table(_ value: Float) -> SignalField.Table {
        let cells = [Float](repeating: value, count: 125)
        return SignalField.Table(columns: 0..<125, rows: 0..<1, mean: cells, variance: cells, logRate: [])
    }

    /// The keys whose tables have to be made.
    private func made(_ cache: TableCache, _ keys: some Sequence<Int>) -> [Int] {
        var made: [Int] = []
        for key in keys {
            let found = cache.table(key) {
                made.append(key)
                return Self.table(Float(key))
            }
            XCTAssertEqual(found?.mean.first, Float(key))
        }
        return made
    }

    func testTheCacheMakesATableOnce() {
        let cache = TableCache(capacity: 100_000)
        XCTAssertEqual(made(cache, [1, 2, 1, 2, 1]), [1, 2])
    }

    func testTheCacheStoresTheAbsenceOfATable() {
        let cache = TableCache(capacity: 100_000)
        var count = 0
        for _ in 0..<3 {
            XCTAssertNil(
                cache.table(7) {
                    count += 1
                    return nil
                })
        }
        XCTAssertEqual(count, 1)
    }

    func testTheCacheEvictsTheLeastRecentlyUsedTables() {
        let cache = TableCache(capacity: 12_500)
        XCTAssertEqual(made(cache, 0..<10), Array(0..<10))
        // All but 3 and 4 are used once more; one more table is too much.
        XCTAssertEqual(made(cache, [0, 1, 2, 5, 6, 7, 8, 9]), [])
        XCTAssertEqual(made(cache, [10]), [10])
        XCTAssertEqual(made(cache, [0, 1, 2, 5, 6, 7, 8, 9, 10].suffix(6)), [])
        XCTAssertEqual(made(cache, [3]), [3])
    }

    func testTheTablesStayWithinTheCapacity() {
        let cache = TableCache(capacity: 50_000)
        for key in 0..<1_000 {
            _ = made(cache, [key])
            XCTAssertLessThanOrEqual(cache.bytes, 50_000)
        }
        XCTAssertGreaterThan(cache.bytes, 30_000)
    }

    func testTheCacheReturnsATableLargerThanItsCapacity() {
        let cache = TableCache(capacity: 10)
        XCTAssertEqual(made(cache, [1, 2, 1]), [1, 2, 1])
    }

    func testConcurrentSessionsGetTheirTables() async {
        let cache = TableCache(capacity: 20_000)
        let wrong = await withTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<2_000).count { turn in
                        let key = (turn * (task + 1)) % 40
                        return cache.table(key) { Self.table(Float(key)) }?.mean.first != Float(key)
                    }
                }
            }
            return await group.reduce(0, +)
        }
        XCTAssertEqual(wrong, 0)
    }
}

final class OnceTests: XCTestCase {
    private final class Count: Sendable {
        private let state = Guarded(0)
        var value: Int { state.withLock { $0 } }
        func next() -> Int {
            state.withLock {
                $0 += 1
                return $0
            }
        }
    }

    func testOnceMakesItsValueOnFirstUse() {
        let count = Count()
        let once = Once { count.next() }
        XCTAssertEqual(count.value, 0)
        XCTAssertEqual([once.value, once.value], [1, 1])
    }

    func testConcurrentReadersGetTheSameValue() async {
        let count = Count()
        let once = Once { count.next() }
        let values = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<50 { group.addTask { once.value } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        XCTAssertEqual(values, Array(repeating: 1, count: 50))
    }
}
