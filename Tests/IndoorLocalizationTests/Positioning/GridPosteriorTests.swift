import XCTest

@testable import IndoorLocalization

final class GridPosteriorTests: XCTestCase {
    private typealias Stage = PositioningStage

    func testCellsAreDrawnAsOftenAsTheyAreProbable() {
        let seed: UInt64 = 6
        var generator = SeededGenerator(seed: seed)
        let field = Stage.surveyedField
        let evidence = Stage.evidence(at: MapPoint(x: 13, y: 7), beacons: [1, 4])
        let offsets = [Stage.offset()]
        var logarithms = [Float](repeating: 0, count: field.levels[0].grid.count)
        Likelihood(field: field, evidence: evidence, offsets: offsets).add(toGrid: &logarithms, level: 0)
        let best = logarithms.max() ?? 0
        let weights = zip(logarithms, field.levels[0].prior).map { Double($1 * exp($0 - best)) }
        let total = weights.reduce(0, +)
        let count = 20_000
        var drawn = [Int](repeating: 0, count: weights.count)
        let posterior = GridPosterior(field: field, evidence: evidence, offsets: offsets)
        for cell in posterior.draw(count, level: 0, using: &generator) { drawn[cell] += 1 }
        XCTAssertEqual(drawn.reduce(0, +), count)
        // Evenly spread draws miss a cell's expectation by at most one.
        for cell in weights.indices {
            XCTAssertEqual(Double(drawn[cell]), Double(count) * weights[cell] / total, accuracy: 1.1, "seed \(seed)")
        }
    }

    func testNoDrawsAreNoCells() {
        var generator = SeededGenerator(seed: 1)
        let posterior = GridPosterior(
            field: Stage.packetField, evidence: Stage.evidence(at: MapPoint(x: 5, y: 5)), offsets: [Stage.offset()])
        XCTAssertTrue(posterior.draw(0, level: 0, using: &generator).isEmpty)
    }

    func testTheLevelWhereTheBeaconsAreLoudEnoughHasMoreEvidence() {
        let posterior = GridPosterior(
            field: Stage.twoFloorField, evidence: Stage.evidence(at: MapPoint(x: 2.2, y: 2.2)),
            offsets: [Stage.offset(), Stage.offset()])
        XCTAssertGreaterThan(posterior.levelEvidence[0], posterior.levelEvidence[1] + 2)
    }

    func testALevelOfTwiceTheAreaThatFitsAlikeHasTwiceTheEvidence() {
        var venue = Stage.venue
        venue.maps = [Stage.map(), Stage.map(Stage.gallery, level: 1)]
        venue.maps[1].height = 40
        venue.beacons = []
        let field = SignalField(venue: venue)
        let nothing = Evidence(duration: 1, heard: [])
        let posterior = GridPosterior(field: field, evidence: nothing, offsets: [Stage.offset(), Stage.offset()])
        XCTAssertEqual(posterior.levelEvidence[1] - posterior.levelEvidence[0], log(2), accuracy: 1e-3)
    }
}
