import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class BeliefFusionTests: XCTestCase {
    /// Guesses spread normally around a place.
    private static func belief(
        _ x: Double, _ y: Double = 5, deviation: Double = 1, mapIndex: Int = 0, probability: Double = 1, seed: UInt64
    ) -> BeliefSample.MapBelief {
        var generator = SeededGenerator(seed: seed)
        let guesses = (0..<256).map { _ in
            let (dx, dy) = generator.normalPair()
            return BeliefSample.Guess(x: Float(x + dx * deviation), y: Float(y + dy * deviation))
        }
        return BeliefSample.MapBelief(
            index: mapIndex, probability: probability, guesses: guesses, mean: MapPoint(x: x, y: y),
            variance: 2 * deviation * deviation)
    }

    private static let open = BeliefFusion(walls: [WallIndex(walls: []), WallIndex(walls: [])])

    func testTwoEquallySureBeliefsMeetHalfWay() {
        let fused = Self.open(
            BeliefSample(maps: [Self.belief(4, seed: 1)]), BeliefSample(maps: [Self.belief(6, seed: 2)]))
        XCTAssertEqual(fused.count, 1)
        expectClose(fused.first?.point.x, 5, within: 0.25, "seeds 1, 2")
        expectClose(fused.first?.point.y, 5, within: 0.25, "seeds 1, 2")
    }

    func testTheSurerBeliefCountsMore() {
        let fused = Self.open(
            BeliefSample(maps: [Self.belief(4, deviation: 0.5, seed: 3)]),
            BeliefSample(maps: [Self.belief(6, deviation: 1.5, seed: 4)]))
        // Weighed by inverse variance, 9 : 1, the place is 4.2; the guesses' widths pull it on.
        expectClose(fused.first?.point.x, 4.2, within: 0.3, "seeds 3, 4")
    }

    func testBothTogetherAreSurerThanEither() {
        let fused = Self.open(
            BeliefSample(maps: [Self.belief(5, seed: 5)]), BeliefSample(maps: [Self.belief(5, seed: 6)]))
        let variance = fused.first?.variance ?? .infinity
        XCTAssertLessThan(variance, 2)
        XCTAssertGreaterThan(variance, 1)
    }

    func testGuessesOnTwoSidesOfAWallDoNotMeet() {
        let wall = WallIndex(walls: [[MapPoint(x: 5, y: -50), MapPoint(x: 5, y: 50)]])
        // Before, the device may be on either side; afterwards it is close to the wall, on the right.
        var past = Self.belief(4.2, deviation: 0.2, seed: 7)
        past.guesses += Self.belief(6, deviation: 0.2, seed: 8).guesses
        let future = BeliefSample(maps: [Self.belief(5.7, deviation: 0.2, seed: 9)])
        let walled = BeliefFusion(walls: [wall])(BeliefSample(maps: [past]), future)
        let free = BeliefFusion(walls: [WallIndex(walls: [])])(BeliefSample(maps: [past]), future)
        XCTAssertGreaterThan(walled.first?.point.x ?? 0, 5.5)
        XCTAssertGreaterThan(walled.first?.point.x ?? 0, free.first?.point.x ?? 10)
    }

    func testTheLevelOnWhichBothAgreeIsTheMoreProbable() {
        let past = BeliefSample(maps: [
            Self.belief(5, mapIndex: 0, probability: 0.5, seed: 10),
            Self.belief(5, mapIndex: 1, probability: 0.5, seed: 11),
        ])
        let future = BeliefSample(maps: [
            Self.belief(15, mapIndex: 0, probability: 0.5, seed: 12),
            Self.belief(5, mapIndex: 1, probability: 0.5, seed: 13),
        ])
        let fused = Self.open(past, future)
        XCTAssertEqual(fused.max { $0.probability < $1.probability }?.index, 1)
    }

    func testOneBeliefDecidesWhereTheOtherHasNoEvidence() {
        let known = BeliefSample(maps: [Self.belief(5, seed: 14)])
        let unknown = BeliefSample(maps: [])
        XCTAssertEqual(Self.open(known, unknown).first?.point, MapPoint(x: 5, y: 5))
        XCTAssertEqual(Self.open(unknown, known).first?.variance, 2)
        XCTAssertTrue(Self.open(unknown, unknown).isEmpty)
    }

    func testBeliefsThatContradictEachOtherAreAllUnsure() {
        let fused = Self.open(
            BeliefSample(maps: [Self.belief(0, seed: 15)]), BeliefSample(maps: [Self.belief(40, seed: 16)]))
        expectClose(fused.first?.point.x, 20, within: 0.5, "seeds 15, 16")
        XCTAssertGreaterThan(fused.first?.variance ?? 0, 100)
    }
}
