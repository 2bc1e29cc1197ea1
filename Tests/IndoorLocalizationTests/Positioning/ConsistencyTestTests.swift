import XCTest

import IndoorLocalization

final class ConsistencyTestTests: XCTestCase {
    func testBeforeAnyComparisonTheRatioIsZero() {
        XCTAssertEqual(ConsistencyTest().ratio, 0)
    }

    func testTheRatioComparesADifferenceWithTheDifferenceOfTheVariances() {
        // Of 10 m² the belief explains 4: 6 m² are expected.
        let check = Self.check(differences: [3], latest: 10, belief: 4)
        XCTAssertEqual(check.ratio, 9.0 / 6, accuracy: 1e-12)
    }

    func testTheExpectedVarianceIsAtLeastHalfThatOfTheLatestEvidence() {
        for belief in [6.0, 10, 50] {
            XCTAssertEqual(Self.check(differences: [3], latest: 10, belief: belief).ratio, 9.0 / 5, accuracy: 1e-12)
        }
    }

    func testTheRatioIsTheMeanOfSeveralComparisons() {
        let check = Self.check(differences: [0, 3, 0, 3], latest: 10, belief: 1, pause: 0)
        XCTAssertEqual(check.ratio, 0.5, accuracy: 1e-12)
    }

    func testTheTestForgetsADisagreementAfterTwoMinutesOfAgreement() {
        let lost = [Double](repeating: 20, count: 15)
        XCTAssertEqual(Self.check(differences: lost, latest: 10, belief: 1).ratio, 400.0 / 9, accuracy: 1e-9)
        let found = Self.check(differences: lost + [Double](repeating: 1, count: 60), latest: 10, belief: 1)
        XCTAssertLessThan(found.ratio, 1)
    }

    func testTheTestIgnoresInvalidNumbers() {
        var check = Self.check(differences: [3], latest: 10, belief: 1)
        let before = check
        check.observe(difference: .nan, latest: 10, belief: 1, after: 2)
        check.observe(difference: 3, latest: 0, belief: 0, after: 2)
        check.observe(difference: 3, latest: .infinity, belief: 1, after: 2)
        XCTAssertEqual(check, before)
    }

    func testARestingReceiverHardlyInflatesTheRadius() {
        let doubted = (UInt64(1)...20).filter { seed in
            Self.radius(doubt: 2, seed: seed, places: [MapPoint(x: 8, y: 11)])
                != Self.radius(doubt: 0, seed: seed, places: [MapPoint(x: 8, y: 11)])
        }
        XCTAssertLessThanOrEqual(doubted.count, 2, "seeds \(doubted) of 1...20")
    }

    func testContradictoryEvidenceInflatesTheRadius() throws {
        // Heard in two corners in turns: no model explains that.
        let corners = [MapPoint(x: 3, y: 4), MapPoint(x: 16, y: 15)]
        for seed in UInt64(1)...5 {
            let doubting = try XCTUnwrap(Self.radius(doubt: 2, seed: seed, places: corners))
            let plain = try XCTUnwrap(Self.radius(doubt: 0, seed: seed, places: corners))
            XCTAssertGreaterThan(doubting, 1.3 * plain, "seed \(seed)")
        }
    }

    /// Looks every few seconds with these differences in metres.
    private static func check(
        differences: [Double], latest: Double, belief: Double, pause: Double = 2
    ) -> ConsistencyTest {
        var check = ConsistencyTest()
        for difference in differences {
            check.observe(difference: difference, latest: latest, belief: belief, after: pause)
        }
        return check
    }

    /// The radius of a receiver that was at each place in turns, for six seconds each and half a minute in all.
    private static func radius(doubt: Double, seed: UInt64, places: [MapPoint]) -> Double? {
        var receiver = HallReceiver(at: places[0], seed: seed) { $0.radiusInflation = doubt }
        for turn in 0..<5 {
            receiver.place = places[turn % places.count]
            receiver.listen(seconds: 6)
        }
        return receiver.estimate?.radius
    }
}
