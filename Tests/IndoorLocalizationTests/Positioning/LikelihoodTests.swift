import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class LikelihoodTests: XCTestCase {
    private typealias Stage = PositioningStage
    private static let fields = [Stage.packetField, Stage.surveyedField]

    func testTheTruePlaceFitsBetterThanOneTenMetresAway() throws {
        for field in Self.fields {
            for place in [MapPoint(x: 5, y: 5), MapPoint(x: 10, y: 10), MapPoint(x: 15, y: 4)] {
                let away = MapPoint(x: place.x < 10 ? place.x + 10 : place.x - 10, y: place.y)
                let sums = Self.sums(field, Stage.evidence(at: place), [place, away])
                XCTAssertGreaterThan(sums[0], sums[1] + 1, "\(place), rates known: \(field.areRatesKnown)")
            }
        }
    }

    func testTheBestCellIsWithinTwoMetresOfTheTruePlace() throws {
        for field in Self.fields {
            let place = MapPoint(x: 13, y: 7)
            let sums = Self.grid(field, Stage.evidence(at: place))
            let best = try XCTUnwrap(sums.indices.max { sums[$0] < sums[$1] })
            XCTAssertLessThan(field.maps[0].grid.center(of: best).distance(to: place), 2)
        }
    }

    func testTheSumsOfSingleCellsAndOfTheWholeGridAreTheSame() {
        let receiver = Stage.offset(deviation: 9, bodyDeviation: 2)
        for field in Self.fields {
            for seed in UInt64(1)...5 {
                let evidence = Self.randomEvidence(seed: seed)
                let grid = Self.grid(field, evidence, receiver: receiver)
                let centers = grid.indices.map(field.maps[0].grid.center)
                let single = Self.sums(field, evidence, centers, receiver: receiver)
                for cell in grid.indices { XCTAssertEqual(single[cell], grid[cell], accuracy: 1e-3, "seed \(seed)") }
            }
        }
    }

    func testTheLikelihoodAddsToTheExistingSums() {
        let (field, place) = (Stage.surveyedField, MapPoint(x: 5, y: 5))
        let sums = Self.sums(field, Stage.evidence(at: place), [place, place], before: [100, 0])
        XCTAssertEqual(sums[0] - sums[1], 100, accuracy: 1e-3)
        XCTAssertNotEqual(sums[1], 0)
    }

    func testOutsideTheMapIsWorseThanAtTheTruePlace() {
        for field in Self.fields {
            let place = MapPoint(x: 10, y: 10)
            let sums = Self.sums(field, Stage.evidence(at: place), [place, MapPoint(x: 500, y: 10)])
            XCTAssertGreaterThan(sums[0], sums[1] + 3)
        }
    }

    func testTheLikelihoodSubtractsTheReceiverOffset() {
        var receiver = Stage.offset(deviation: 6)
        receiver.begin(value: 8, deviation: 2)
        var loud = Stage.evidence(at: MapPoint(x: 5, y: 5))
        for index in loud.heard.indices { loud.heard[index].rssi += 8 }
        let places = [MapPoint(x: 5, y: 5), MapPoint(x: 15, y: 15), MapPoint(x: 500, y: 5)]
        for field in Self.fields {
            let with = Self.sums(field, loud, places, receiver: receiver)
            let same = Stage.evidence(at: MapPoint(x: 5, y: 5))
            let without = Self.sums(field, same, places, receiver: Stage.offset(deviation: 2))
            for (one, other) in zip(with, without) { XCTAssertEqual(one, other, accuracy: 1e-3) }
        }
    }

    /// A receiver of which nothing is known hears beacons of some RSSIs; only their differences tell the place.
    func testAnUncertainReceiverOffsetReducesTheWeightOfTheRSSI() {
        let places = [MapPoint(x: 5, y: 5), MapPoint(x: 15, y: 15)]
        let evidence = Stage.evidence(at: places[0], beacons: [0])
        let advantages = [0.0, 3, 9, 30].map { deviation in
            let sums = Self.sums(Stage.uncountedField, evidence, places, receiver: Stage.offset(deviation: deviation))
            return sums[0] - sums[1]
        }
        XCTAssertEqual(advantages, advantages.sorted(by: >))
        XCTAssertGreaterThan(advantages[0], 2)
        XCTAssertLessThan(advantages[3], 0.5)
    }

    func testBodyShadowingExplainsWeakBeaconsOnOneSide() {
        // Beacons to the left are weaker, those to the right stronger, by more than noise explains.
        let place = MapPoint(x: 10, y: 10)
        var evidence = Stage.evidence(at: place)
        for index in evidence.heard.indices {
            let beacon = Stage.beaconPoints[evidence.heard[index].beacon]
            evidence.heard[index].rssi += Float(20 * (beacon.x - place.x) / beacon.distance(to: place))
        }
        let without = Self.sums(Stage.packetField, evidence, [place], receiver: Stage.offset(deviation: 3))
        let with = Self.sums(
            Stage.packetField, evidence, [place], receiver: Stage.offset(deviation: 3, bodyDeviation: 15))
        XCTAssertGreaterThan(with[0], without[0] + 1)
    }

    func testTheStrongestBeaconIsWeighedFirst() {
        let likelihood = Stage.likelihood(Stage.packetField, Stage.evidence(at: MapPoint(x: 3, y: 17)))
        let heard = likelihood.evidence.heard
        XCTAssertEqual(heard.first?.beacon, 5)
        XCTAssertEqual(heard.map(\.rssi), heard.map(\.rssi).sorted(by: >))
        XCTAssertEqual(likelihood.place(of: heard[0]), Stage.beaconPoints[5])
    }

    func testTheTermsOfAReadingDoNotDependOnItsTable() throws {
        var evidence = Stage.evidence(at: MapPoint(x: 5, y: 5), beacons: [2])
        (evidence.heard[0].variance, evidence.heard[0].share, evidence.heard[0].draws) = (4, 0.5, 0.25)
        let likelihood = Stage.likelihood(
            Stage.surveyedField, evidence, receiver: Stage.offset(deviation: 3))
        let terms = likelihood.terms(evidence.heard[0], mapIndex: 0)
        let reading = pow(Stage.surveyedField.readingDeviation, 2)
        XCTAssertEqual(Double(terms.variance), reading + 4, accuracy: 1e-4)
        // Outside its table the beacon is expected at -103 dBm, give or take receiver, shadowing and noise.
        let freedom = likelihood.model.degreesOfFreedom
        let variance = reading + 4 + 9 + likelihood.model.shadowing * likelihood.model.shadowing
        let difference = Double(evidence.heard[0].rssi) + 103
        let density =
            -(freedom + 1) / 2 * log1p(difference * difference / (freedom * variance)) - log(variance) / 2
        XCTAssertEqual(Double(terms.outside), 0.5 * density, accuracy: 1e-3)
    }

    func testAReadingOfWeightZeroCarriesNoInformationAboutDistance() {
        var evidence = Stage.evidence(at: MapPoint(x: 5, y: 5), beacons: [0])
        evidence.heard[0].share = 0
        let sums = Self.grid(Stage.uncountedField, evidence)
        XCTAssertEqual(Set(sums), [0])
    }

    func testAReadingOfHalfTheWeightCarriesHalfTheInformation() {
        let places = [MapPoint(x: 5, y: 5), MapPoint(x: 15, y: 15)]
        let receiver = Stage.offset(deviation: 0)
        var evidence = Stage.evidence(at: places[0], beacons: [0, 1, 2])
        let whole = Self.sums(Stage.surveyedField, evidence, places, receiver: receiver)
        for index in evidence.heard.indices {
            evidence.heard[index].share = 0.5
            evidence.heard[index].draws = 0.5
        }
        let half = Self.sums(Stage.surveyedField, evidence, places, receiver: receiver)
        XCTAssertEqual(half[0] - half[1], (whole[0] - whole[1]) / 2, accuracy: 0.01)
    }

    func testAReceiverThatDetectsHalfOfAllAdvertisementsWeighsPlacesEqually() throws {
        let places = [MapPoint(x: 5, y: 5), MapPoint(x: 15, y: 15)]
        func ratio(every interval: Double) throws -> Float {
            var collector = EvidenceCollector(field: Stage.surveyedField)
            for turn in 0..<Int(2 / interval) {
                for (index, beacon) in Stage.beaconPoints.enumerated() {
                    let instant = Instant(seconds: Double(turn) * interval)
                    collector.add(beacon: index, rssi: Stage.rssi(from: beacon, to: places[0]), at: instant)
                }
            }
            let evidence = try XCTUnwrap(collector.drain(at: Instant(seconds: 2)))
            let sums = Self.sums(Stage.surveyedField, evidence, places)
            return sums[0] - sums[1]
        }
        XCTAssertEqual(try ratio(every: 0.05), try ratio(every: 0.1), accuracy: 0.01)
    }

    func testADetectionWhereTheSurveyHadNoneMakesAPlaceLessProbable() throws {
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

    /// Rates and readings at every cell.
    private static func grid(
        _ field: SignalField, _ evidence: Evidence, receiver: ReceiverOffset = Stage.offset()
    ) -> [Float] {
        let count = field.maps[0].grid.count
        let likelihood = Stage.likelihood(field, evidence, receiver: receiver)
        var sums = [Float](repeating: 0, count: count)
        likelihood.addRates(toGrid: &sums, mapIndex: 0)
        var states = ReceiverStates()
        states.resize(to: count)
        states.begin(0..<count, with: receiver)
        likelihood.hear(grid: &states, first: 0, sums: &sums, mapIndex: 0)
        return sums
    }

    /// Rates and readings at some places, each of a particle of its own.
    private static func sums(
        _ field: SignalField, _ evidence: Evidence, _ places: [MapPoint], receiver: ReceiverOffset = Stage.offset(),
        before: [Float]? = nil
    ) -> [Float] {
        let likelihood = Stage.likelihood(field, evidence, receiver: receiver)
        var sums = before ?? [Float](repeating: 0, count: places.count)
        let cells = places.map { field.maps[0].grid.cell(at: $0).map(Int32.init) ?? -1 }
        likelihood.addRates(to: &sums, mapIndex: 0, cells: cells)
        var particles = ParticleFilter.Particles()
        particles.place(places, receiver)
        likelihood.hear(&particles, 0..<places.count, mapIndex: 0, cells: cells.map { $0 + 1 }, sums: &sums)
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
        evidence.order()
        return evidence
    }
}
