import XCTest

@testable import IndoorLocalization

final class LikelihoodTests: XCTestCase {
    private typealias Stage = PositioningStage
    private static let fields = [Stage.packetField, Stage.surveyedField]

    func testTheTruePlaceFitsBetterThanOneTenMetresAway() throws {
        for field in Self.fields {
            for place in [MapPoint(x: 5, y: 5), MapPoint(x: 10, y: 10), MapPoint(x: 15, y: 4)] {
                let away = MapPoint(x: place.x < 10 ? place.x + 10 : place.x - 10, y: place.y)
                let sums = Self.sums(field, Stage.evidence(at: place), [place, away])
                XCTAssertGreaterThan(sums[0], sums[1] + 1, "\(place), surveyed: \(field.isSurveyed)")
            }
        }
    }

    func testTheBestCellIsWithinTwoMetresOfTheTruePlace() throws {
        for field in Self.fields {
            let place = MapPoint(x: 13, y: 7)
            let sums = Self.grid(field, Stage.evidence(at: place))
            let best = try XCTUnwrap(sums.indices.max { sums[$0] < sums[$1] })
            XCTAssertLessThan(field.levels[0].grid.center(of: best).distance(to: place), 2)
        }
    }

    func testCellByCellAndForTheWholeGridTheSumsAreTheSame() {
        for field in Self.fields {
            for seed in UInt64(1)...5 {
                let evidence = Self.randomEvidence(seed: seed)
                let grid = Self.grid(field, evidence)
                var cells = [Float](repeating: 0, count: grid.count)
                Self.likelihood(field, evidence).add(to: &cells, level: 0, cells: grid.indices.map(Int32.init))
                for cell in grid.indices { XCTAssertEqual(cells[cell], grid[cell], accuracy: 1e-3, "seed \(seed)") }
            }
        }
    }

    func testTheSumsOfBeforeAreKept() {
        let evidence = Stage.evidence(at: MapPoint(x: 5, y: 5))
        var sums: [Float] = [100, 0]
        Self.likelihood(Stage.surveyedField, evidence).add(to: &sums, level: 0, cells: [3, 3])
        XCTAssertEqual(sums[0] - sums[1], 100, accuracy: 1e-3)
    }

    func testOutsideTheMapIsWorseThanAtTheTruePlace() {
        for field in Self.fields {
            let place = MapPoint(x: 10, y: 10)
            var sums: [Float] = [0, 0]
            let cell = Int32(field.levels[0].grid.cell(at: place) ?? 0)
            Self.likelihood(field, Stage.evidence(at: place)).add(to: &sums, level: 0, cells: [cell, -1])
            XCTAssertGreaterThan(sums[0], sums[1] + 3)
        }
    }

    func testTheReceiversOffsetIsTakenOff() {
        var offset = Stage.offset(deviation: 6)
        for _ in 0..<200 { offset.observe(difference: 8, variance: 9) }
        var loud = Stage.evidence(at: MapPoint(x: 5, y: 5))
        for index in loud.heard.indices { loud.heard[index].rssi += Float(offset.value) }
        let places = [MapPoint(x: 5, y: 5), MapPoint(x: 15, y: 15)]
        let field = Stage.surveyedField
        let with = Self.sums(field, loud, places, offset: offset)
        var same = Stage.evidence(at: MapPoint(x: 5, y: 5))
        for index in same.heard.indices { same.heard[index].variance += Float(offset.variance) }
        let without = Self.sums(field, same, places, offset: Stage.offset(deviation: 0))
        XCTAssertEqual(with[0] - with[1], without[0] - without[1], accuracy: 0.01)
    }

    func testAReadingThatCountsForNothingTellsNothingOfDistance() {
        var evidence = Stage.evidence(at: MapPoint(x: 5, y: 5), beacons: [0])
        evidence.heard[0].share = 0
        let sums = Self.grid(Stage.packetField, evidence)
        XCTAssertEqual(Set(sums), [0])
    }

    func testHalfAReadingTellsHalfAsMuch() {
        let places = [MapPoint(x: 5, y: 5), MapPoint(x: 15, y: 15)]
        var evidence = Stage.evidence(at: places[0], beacons: [0, 1, 2])
        let whole = Self.sums(Stage.surveyedField, evidence, places)
        for index in evidence.heard.indices {
            evidence.heard[index].share = 0.5
            evidence.heard[index].draws = 0.5
        }
        let half = Self.sums(Stage.surveyedField, evidence, places)
        XCTAssertEqual(half[0] - half[1], (whole[0] - whole[1]) / 2, accuracy: 0.01)
    }

    func testAReceiverThatHearsHalfOfEverythingWeighsPlacesAlike() throws {
        let places = [MapPoint(x: 5, y: 5), MapPoint(x: 15, y: 15)]
        func ratio(every interval: Double) throws -> Float {
            var collector = EvidenceCollector(field: Stage.surveyedField)
            for turn in 0..<Int(2 / interval) {
                for (index, beacon) in Stage.beaconPoints.enumerated() {
                    let instant = Instant(seconds: Double(turn) * interval)
                    collector.add(beacon: index, rssi: Stage.rssi(from: beacon, to: places[0]), at: instant)
                }
            }
            let evidence = try XCTUnwrap(collector.take(at: Instant(seconds: 2)))
            let sums = Self.sums(Stage.surveyedField, evidence, places)
            return sums[0] - sums[1]
        }
        XCTAssertEqual(try ratio(every: 0.05), try ratio(every: 0.1), accuracy: 0.01)
    }

    func testABeaconHeardWhereTheSurveyNeverHeardItSpeaksAgainstThePlace() throws {
        var venue = Stage.surveyedVenue
        var map = try XCTUnwrap(venue.radioMap)
        for index in map.fingerprints.indices where map.fingerprints[index].point.x > 10 {
            map.fingerprints[index].readings.removeAll { $0.beacon == 0 }
        }
        venue.radioMap = map
        let field = SignalField(venue: venue)
        var evidence = Stage.evidence(at: MapPoint(x: 5, y: 10), beacons: [0])
        evidence.heard[0].share = 0
        let sums = Self.sums(field, evidence, [MapPoint(x: 4, y: 10), MapPoint(x: 16, y: 10)])
        XCTAssertGreaterThan(sums[0], sums[1] + 2)
    }

    private static func likelihood(
        _ field: SignalField, _ evidence: Evidence, offset: ReceiverOffset = Stage.offset()
    ) -> Likelihood {
        Likelihood(field: field, evidence: evidence, offsets: field.levels.map { _ in offset })
    }

    private static func grid(_ field: SignalField, _ evidence: Evidence) -> [Float] {
        var sums = [Float](repeating: 0, count: field.levels[0].grid.count)
        likelihood(field, evidence).add(toGrid: &sums, level: 0)
        return sums
    }

    private static func sums(
        _ field: SignalField, _ evidence: Evidence, _ places: [MapPoint], offset: ReceiverOffset = Stage.offset()
    ) -> [Float] {
        var sums = [Float](repeating: 0, count: places.count)
        let cells = places.map { field.levels[0].grid.cell(at: $0).map(Int32.init) ?? -1 }
        likelihood(field, evidence, offset: offset).add(to: &sums, level: 0, cells: cells)
        return sums
    }

    private static func randomEvidence(seed: UInt64) -> Evidence {
        var generator = SeededGenerator(seed: seed)
        var evidence = Stage.evidence(at: MapPoint(x: 20 * generator.uniform(), y: 20 * generator.uniform()))
        for index in evidence.heard.indices {
            evidence.heard[index].rssi += Float(6 * generator.normal())
            evidence.heard[index].variance = Float(6 * generator.uniform())
            evidence.heard[index].share = Float(generator.uniform())
            evidence.heard[index].draws = Float(generator.uniform())
        }
        return evidence
    }
}
