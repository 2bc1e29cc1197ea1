import IndoorLocalization
import XCTest

final class ReceiverOffsetTests: XCTestCase {
    func testAnOffsetBeginsAtZeroWithTheGivenDeviation() {
        let offset = ReceiverOffset(deviation: 3, bodyDeviation: 2)
        XCTAssertEqual(offset.value, 0)
        XCTAssertEqual(offset.variance, 9, accuracy: 1e-12)
        XCTAssertEqual(offset.bodyVariance, 4, accuracy: 1e-12)
    }

    func testAnOffsetWithoutABodyHasNoBodyVariance() {
        XCTAssertEqual(ReceiverOffset(deviation: 3).bodyVariance, 0)
    }

    func testALearnedValueReplacesTheOffsetAndKeepsTheBodyVariance() {
        var offset = ReceiverOffset(deviation: 9, bodyDeviation: 2)
        offset.begin(value: -7, deviation: 1.5)
        XCTAssertEqual(offset.value, -7)
        XCTAssertEqual(offset.variance, 2.25, accuracy: 1e-12)
        XCTAssertEqual(offset.bodyVariance, 4, accuracy: 1e-12)
    }

    func testAnOffsetWithoutVarianceStaysZero() {
        var offset = ReceiverOffset(deviation: 0)
        offset.begin(value: -7, deviation: 1.5)
        XCTAssertEqual(offset.value, 0)
        XCTAssertEqual(offset.variance, 0)
    }
}
