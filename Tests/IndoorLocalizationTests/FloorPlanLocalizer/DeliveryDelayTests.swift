import XCTest

@testable import LocalizationSession
import IndoorLocalization

/// How late readings come, whatever their clock counts from.
final class DeliveryDelayTests: XCTestCase {
    private func late(_ delay: inout DeliveryDelay, _ instant: Double, _ elapsed: Double) -> Double {
        delay.observe(Instant(seconds: instant), at: .seconds(elapsed)).seconds
    }

    func testTheQuickestDeliveryHasNoDelay() {
        for zero in [0, 5000, -1e6] {
            var delay = DeliveryDelay()
            XCTAssertEqual(late(&delay, zero + 1, 10), 0)
            XCTAssertEqual(late(&delay, zero + 1.5, 11), 0.5, accuracy: 1e-3, "\(zero)")
            XCTAssertEqual(late(&delay, zero + 3, 11.5), 0, accuracy: 1e-3, "quicker than the first: \(zero)")
            XCTAssertEqual(late(&delay, zero + 4, 13), 0.5, accuracy: 1e-3, "\(zero)")
        }
    }

    /// A source whose quartz is slow by 50 parts in a million: an hour later nothing seems late.
    func testClockDriftIsNotCountedAsDelay() {
        var delay = DeliveryDelay()
        var worst = 0.0
        for tenth in 0..<36_000 {
            let elapsed = Double(tenth) / 10
            worst = max(worst, late(&delay, elapsed * (1 - 5e-5), elapsed))
        }
        XCTAssertLessThan(worst, 1e-3)
    }

    func testTheAgeOfAReadingIsItsDelayPlusTheSilenceSince() {
        let news = ReadingAge(arrival: Instant(seconds: 10), delay: .seconds(2))
        XCTAssertEqual(news.silence(at: Instant(seconds: 13)), .seconds(3))
        XCTAssertEqual(news.age(at: Instant(seconds: 13)), .seconds(5))
        XCTAssertEqual(
            ReadingAge(arrival: .zero, delay: .seconds(-1)).delay, .zero, "nothing comes before it was heard")
    }
}
