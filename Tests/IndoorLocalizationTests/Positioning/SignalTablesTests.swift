import XCTest

@testable import IndoorPositioning
import IndoorLocalization

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
                        let (one, other) = (kept.table(beacon, sheet: sheet), dropped.table(beacon, sheet: sheet))
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
            XCTAssertTrue(tables.isHeard(0, sheet: 0))
            XCTAssertEqual(cache.bytes, 0)
            _ = tables.table(0, sheet: 0)
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
