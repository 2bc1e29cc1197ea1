import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class GridPosteriorTests: XCTestCase {
    private typealias Stage = PositioningStage

    func testCellsAreDrawnAsOftenAsTheyAreProbable() {
        let seed: UInt64 = 6
        var generator = SeededGenerator(seed: seed)
        let field = Stage.surveyedField
        let evidence = Stage.evidence(at: MapPoint(x: 13, y: 7), beacons: [1, 4])
        let receiver = Stage.offset(deviation: 3, bodyDeviation: 2)
        let size = field.maps[0].grid.count
        var logarithms = [Float](repeating: 0, count: size)
        let likelihood = Stage.likelihood(field, evidence, receiver: receiver)
        likelihood.addRates(toGrid: &logarithms, mapIndex: 0)
        var states = ReceiverStates()
        states.resize(to: size)
        states.begin(0..<size, with: receiver)
        likelihood.hear(grid: &states, first: 0, sums: &logarithms, mapIndex: 0)
        let best = logarithms.max() ?? 0
        let weights = zip(logarithms, field.maps[0].prior).map { Double($1 * exp($0 - best)) }
        let total = weights.reduce(0, +)
        let count = 20_000
        var drawn = [Int](repeating: 0, count: weights.count)
        let posterior = GridPosterior(Likelihood(field: field, evidence: evidence, receivers: [receiver]))
        for cell in posterior.draw(count, mapIndex: 0, using: &generator) { drawn[cell] += 1 }
        XCTAssertEqual(drawn.reduce(0, +), count)
        // Evenly spread draws miss a cell's expectation by at most one.
        for cell in weights.indices {
            XCTAssertEqual(Double(drawn[cell]), Double(count) * weights[cell] / total, accuracy: 1.1, "seed \(seed)")
        }
    }

    /// The rows that share a likelihood have it from their middle, so that the posterior isn't shifted.
    func testACoarsePosteriorHasTheMomentsOfTheFineOne() throws {
        var venue = Stage.venue
        venue.maps = [Stage.map()]
        (venue.maps[0].width, venue.maps[0].height) = (40, 40)
        let field = SignalField(venue: venue)
        XCTAssertGreaterThanOrEqual(field.maps[0].grid.count, 1000)
        for place in [MapPoint(x: 5, y: 5), MapPoint(x: 13, y: 7), MapPoint(x: 9, y: 15)] {
            let likelihood = Stage.likelihood(
                field, Stage.evidence(at: place), receiver: Stage.offset(deviation: 3, bodyDeviation: 2))
            let (fine, coarse) = (GridPosterior(likelihood), GridPosterior(likelihood, isCoarse: true))
            let expected = try XCTUnwrap(fine.moments(mapIndex: 0, field: field))
            let moments = try XCTUnwrap(coarse.moments(mapIndex: 0, field: field))
            XCTAssertNotEqual(expected.mean, moments.mean, "rows share a likelihood")
            XCTAssertLessThan(expected.mean.distance(to: moments.mean), 0.3, "\(place)")
            XCTAssertEqual(moments.variance, expected.variance, accuracy: 0.2 * expected.variance + 0.5, "\(place)")
        }
    }

    func testZeroDrawsReturnNoCells() {
        var generator = SeededGenerator(seed: 1)
        let posterior = GridPosterior(
            Stage.likelihood(Stage.packetField, Stage.evidence(at: MapPoint(x: 5, y: 5)), receiver: Stage.offset()))
        XCTAssertTrue(posterior.draw(0, mapIndex: 0, using: &generator).isEmpty)
    }

    func testTheLevelWhereTheBeaconsAreLoudEnoughHasMoreEvidence() {
        let evidence = Stage.evidence(at: MapPoint(x: 2.2, y: 2.2))
        let posterior = GridPosterior(
            Likelihood(field: Stage.twoFloorField, evidence: evidence, receivers: [Stage.offset(), Stage.offset()]))
        XCTAssertGreaterThan(posterior.mapEvidence[0], posterior.mapEvidence[1] + 2)
    }

    func testALevelWithTwiceTheMatchingAreaHasTwiceTheEvidence() {
        var venue = Stage.venue
        venue.maps = [Stage.map(), Stage.map(Stage.gallery, level: 1)]
        venue.maps[1].height = 40
        venue.beacons = []
        let field = SignalField(venue: venue)
        let nothing = Evidence(duration: 1, heard: [])
        let posterior = GridPosterior(
            Likelihood(field: field, evidence: nothing, receivers: [Stage.offset(), Stage.offset()]))
        XCTAssertEqual(posterior.mapEvidence[1] - posterior.mapEvidence[0], log(2), accuracy: 1e-3)
    }

    /// A receiver that hears everything weaker or stronger hears it at the same place.
    func testThePosteriorLocatesAReceiverWithAnOffset() throws {
        let place = MapPoint(x: 13, y: 7)
        for field in [Stage.packetField, Stage.surveyedField] {
            let receivers = [Stage.offset(deviation: 9, bodyDeviation: 2)]
            func mean(shift: Float) throws -> MapPoint {
                var evidence = Stage.evidence(at: place)
                for index in evidence.heard.indices { evidence.heard[index].rssi += shift }
                let posterior = GridPosterior(Likelihood(field: field, evidence: evidence, receivers: receivers))
                return try XCTUnwrap(posterior.moments(mapIndex: 0, field: field)).mean
            }
            let plain = try mean(shift: 0)
            XCTAssertLessThan(plain.distance(to: place), 1.5)
            for shift in [-15, 15] as [Float] {
                XCTAssertLessThan(
                    try mean(shift: shift).distance(to: plain), 1, "\(shift) dB, rates known: \(field.areRatesKnown)")
            }
        }
    }

    func testThePosteriorTrustsTheRSSIOfTheSurveysReceiver() throws {
        // One beacon alone: 15 dB more are nearer to it, unless the receiver may be the reason.
        var evidence = Stage.evidence(at: MapPoint(x: 8, y: 8), beacons: [0])
        evidence.heard[0].rssi += 15
        func distance(deviation: Double) throws -> Double {
            let posterior = GridPosterior(
                Stage.likelihood(Stage.packetField, evidence, receiver: Stage.offset(deviation: deviation)))
            let mean = try XCTUnwrap(posterior.moments(mapIndex: 0, field: Stage.packetField)).mean
            return mean.distance(to: Stage.beaconPoints[0])
        }
        XCTAssertLessThan(try distance(deviation: 0), 4)
        XCTAssertGreaterThan(try distance(deviation: 20), 6)
    }

    func testThePosteriorReusesItsMemoryForOtherEvidence() {
        let (here, there) = (Stage.evidence(at: MapPoint(x: 3, y: 3)), Stage.evidence(at: MapPoint(x: 16, y: 14)))
        let receivers = [Stage.offset(deviation: 9, bodyDeviation: 2), Stage.offset(deviation: 9, bodyDeviation: 2)]
        var posterior = GridPosterior(Likelihood(field: Stage.twoFloorField, evidence: here, receivers: receivers))
        posterior.weigh(Likelihood(field: Stage.twoFloorField, evidence: there, receivers: receivers))
        let fresh = GridPosterior(Likelihood(field: Stage.twoFloorField, evidence: there, receivers: receivers))
        XCTAssertEqual(posterior.mapEvidence, fresh.mapEvidence)
        for mapIndex in 0...1 {
            let (one, other) = (
                posterior.moments(mapIndex: mapIndex, field: Stage.twoFloorField),
                fresh.moments(mapIndex: mapIndex, field: Stage.twoFloorField)
            )
            XCTAssertEqual(one?.mean, other?.mean)
        }
    }
}
