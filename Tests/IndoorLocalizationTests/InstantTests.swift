import IndoorLocalization
import XCTest

final class InstantTests: XCTestCase {
    func testSecondsAreRoundedToTheNanosecond() {
        XCTAssertEqual(Instant(seconds: 0.1).nanoseconds, 100_000_000)
        XCTAssertEqual(Instant(seconds: -1.000_000_000_6).nanoseconds, -1_000_000_001)
    }

    func testNumbersBeyondTheTimelineStayAtItsBounds() {
        XCTAssertEqual(Instant(seconds: .infinity).nanoseconds, .max)
        XCTAssertEqual(Instant(seconds: -1e30).nanoseconds, .min)
        XCTAssertEqual(Instant(seconds: .nan), .zero)
    }

    func testADurationLeadsFromOneInstantToTheOther() {
        let start = Instant(seconds: 2)
        let end = Instant(seconds: 5.5)
        XCTAssertEqual(start.advanced(by: start.duration(to: end)), end)
        XCTAssertEqual(start.duration(to: end).seconds, 3.5)
        XCTAssertLessThan(start, end)
    }

    func testTheTimelineDoesNotWrapAround() {
        let (first, last) = (Instant(nanoseconds: .min), Instant(nanoseconds: .max))
        XCTAssertEqual(Instant(seconds: 1).advanced(by: .seconds(Int64.max)), last)
        XCTAssertEqual(Instant(seconds: -1).advanced(by: .seconds(Int64.min)), first)
        XCTAssertEqual(first.duration(to: last).nanoseconds, .max)
        XCTAssertEqual(last.duration(to: first).nanoseconds, .min)
    }

    func testADurationBeyondTheTimelineStaysAtItsBounds() {
        XCTAssertEqual(Duration.seconds(Int64.max).nanoseconds, .max)
        XCTAssertEqual(Duration.seconds(Int64.min).nanoseconds, .min)
        XCTAssertEqual(Duration.milliseconds(-1500).nanoseconds, -1_500_000_000)
    }
}
