import IndoorLocalization
import XCTest
@testable import LocalizationSession

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

    /// A machine that was suspended for two hours, with a source whose clock doesn't count them.
    func testDelaysAreMeasuredAgainAfterTheSourcesClockStoodStill() {
        var delay = DeliveryDelay()
        for tenth in 0..<100 { _ = late(&delay, Double(tenth) / 10, Double(tenth) / 10) }
        var delays: [Double] = []
        for tenth in 100..<200 { delays.append(late(&delay, Double(tenth) / 10, 7_200 + Double(tenth) / 10)) }
        XCTAssertEqual(delays[49], 7_200, accuracy: 1, "for five seconds")
        XCTAssertEqual(delays[50...].max() ?? 1, 0, accuracy: 1e-6)
        XCTAssertEqual(late(&delay, 20, 7_221), 1, accuracy: 1e-3)
    }

    func testReadingsThatWereHeldUpAreLate() {
        var delay = DeliveryDelay()
        for tenth in 0..<100 { _ = late(&delay, Double(tenth) / 10, Double(tenth) / 10) }
        // A minute's readings at once, then one reading that is in time.
        let delays = (100..<700).map { late(&delay, Double($0) / 10, 70 + Double($0) / 1_000) }
        XCTAssertEqual(delays.first ?? 0, 60.1, accuracy: 0.01)
        XCTAssertEqual(delays.last ?? 0, 0.8, accuracy: 0.01)
        XCTAssertEqual(late(&delay, 71, 71), 0, accuracy: 0.01)
    }

    func testTheAgeOfAReadingIsItsDelayPlusTheSilenceSince() {
        let news = ReadingAge(arrival: Instant(seconds: 10), delay: .seconds(2))
        XCTAssertEqual(news.silence(at: Instant(seconds: 13)), .seconds(3))
        XCTAssertEqual(news.age(at: Instant(seconds: 13)), .seconds(5))
        XCTAssertEqual(
            ReadingAge(arrival: .zero, delay: .seconds(-1)).delay, .zero, "nothing comes before it was heard")
    }
}
