import XCTest

@testable import IndoorPositioning
import IndoorLocalization

/// What a survey of few recordings is trusted with.
final class ThinSurveyTests: XCTestCase {
    private typealias Stage = PositioningStage

    func testTheCoverageGrowsWithTheNumberOfAgreeingRecordings() {
        let coverages = (1...4).map { count in
            Self.places((0..<count).flatMap { walk in (0..<10).map { (walk, Double($0)) } }).coverage(length: 8)
        }
        XCTAssertEqual(coverages[0], 0, "a single walk tells nothing of where the next one goes")
        for (fewer, more) in zip(coverages, coverages.dropFirst()) { XCTAssertLessThan(fewer, more) }
        // All near each other: Laplace's rule of succession.
        XCTAssertEqual(coverages[3], 4.0 / 5, accuracy: 0.01)
    }

    func testWalksFarFromEachOtherHaveNoCoverage() {
        let places = Self.places((0..<10).map { (0, Double($0)) } + (0..<10).map { (1, Double($0) + 100) })
        XCTAssertLessThan(places.coverage(length: 8), 0.01)
    }

    func testLowCoverageReducesTheDetectionWeightToThatWithoutASurvey() {
        let model = SignalModel()
        func fitted(_ coverage: Double?) -> SignalModel {
            var map = RadioMap(beacons: [], fingerprints: [], pathLossExponent: 2)
            map.fit.coverage = coverage
            return model.fitted(to: map)
        }
        XCTAssertEqual(fitted(nil).detectionWeight, model.detectionWeight, "a map of before there was a coverage")
        XCTAssertEqual(fitted(1).unheardRate, model.unheardRate, accuracy: 1e-12)
        XCTAssertEqual(fitted(0).detectionWeight, model.unsurveyedDetectionWeight, accuracy: 1e-12)
        XCTAssertEqual(fitted(0).unheardRate, model.unsurveyedRate, accuracy: 1e-12)
        XCTAssertEqual(fitted(0.5).unheardRate, (model.unheardRate + model.unsurveyedRate) / 2, accuracy: 1e-12)
    }

    func testUnsurveyedBeaconsHaveTheMeanPowerErrorOfTheSurveyedBeacons() throws {
        var venue = Stage.venue
        venue.radioMap = RadioMap(
            beacons: (0..<2).map { index in
                RadioMap.Beacon(
                    identity: Stage.identity(index), mapID: Stage.hall, point: Stage.beaconPoints[index],
                    power: Stage.power - 10 - Double(index) * 4)
            }, fingerprints: [], pathLossExponent: 2)
        let powers = TransmitterList(venue: venue, model: SignalModel()).beacons.map(\.power)
        XCTAssertEqual(Array(powers.prefix(2)), [Stage.power - 10, Stage.power - 14], "these were heard")
        for power in powers.dropFirst(2) { XCTAssertEqual(power, Stage.power - 12, accuracy: 1e-9) }
        venue.radioMap = nil
        for power in TransmitterList(venue: venue, model: SignalModel()).beacons.map(\.power) {
            XCTAssertEqual(power, Stage.power)
        }
    }

    private static func places(_ places: [(walk: Int, x: Double)]) -> SurveyedPlaces {
        SurveyedPlaces(
            places.map {
                RadioMap.Fingerprint(
                    mapID: Stage.hall, point: MapPoint(x: $0.x, y: 1), duration: 2, readings: [])
            }, recordings: places.map(\.walk))
    }
}
