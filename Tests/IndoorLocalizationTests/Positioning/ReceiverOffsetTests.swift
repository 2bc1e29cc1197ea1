import IndoorLocalization
import XCTest

final class ReceiverOffsetTests: XCTestCase {
    func testItBeginsAtZeroGiveOrTakeTheDeviation() {
        let offset = ReceiverOffset(deviation: 3, degreesOfFreedom: 8)
        XCTAssertEqual(offset.value, 0)
        XCTAssertEqual(offset.variance, 9, accuracy: 1e-12)
    }

    func testItConvergesToAConstantOffset() {
        let seed: UInt64 = 3
        var generator = SeededGenerator(seed: seed)
        var offset = ReceiverOffset(deviation: 5, degreesOfFreedom: 8)
        for _ in 0..<400 { offset.observe(difference: 6 + 4 * generator.normal(), variance: 16) }
        XCTAssertEqual(offset.value, 6, accuracy: 0.7, "seed \(seed)")
    }

    func testEachReadingMakesItSurer() {
        var offset = ReceiverOffset(deviation: 5, degreesOfFreedom: 8)
        for _ in 0..<20 {
            let before = offset.variance
            offset.observe(difference: 1, variance: 16)
            XCTAssertLessThan(offset.variance, before)
            XCTAssertGreaterThan(offset.variance, 0)
        }
    }

    func testWhereAllReceiversAreAlikeItStaysZero() {
        var offset = ReceiverOffset(deviation: 0, degreesOfFreedom: 8)
        for _ in 0..<20 {
            offset.pass(seconds: 1)
            // The second is what a belief says that has shrunk to a point.
            offset.observe(difference: 4, variance: 16)
            offset.observe(difference: -9, variance: 0)
        }
        XCTAssertEqual(offset.value, 0)
        XCTAssertEqual(offset.variance, 0)
    }

    func testTimeMakesItLessSure() {
        var offset = ReceiverOffset(deviation: 3, degreesOfFreedom: 8)
        offset.pass(seconds: 100)
        // 0.1 dB a second, added as variances: 9 + 0.01·100.
        XCTAssertEqual(offset.variance, 10, accuracy: 1e-9)
    }

    func testOneOutlierHardlyMovesIt() {
        var offset = ReceiverOffset(deviation: 5, degreesOfFreedom: 8)
        for _ in 0..<100 { offset.observe(difference: 4, variance: 16) }
        let before = offset.value
        offset.observe(difference: 60, variance: 16)
        XCTAssertEqual(offset.value, before, accuracy: 0.3)
    }

    func testAnOutlierCountsLessThanAFarReading() {
        func moved(by difference: Double) -> Double {
            var offset = ReceiverOffset(deviation: 3, degreesOfFreedom: 8)
            offset.observe(difference: difference, variance: 4)
            return offset.value
        }
        XCTAssertGreaterThan(moved(by: 10), moved(by: 200))
    }
}
