import IndoorLocalization
import Synchronization
import XCTest

final class RecentReadingsTests: XCTestCase {
    /// Counts how often somebody looks at the instant of an element.
    private final class Looks: Sendable {
        private let count = Mutex(0)
        var total: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    private struct Element: Timed, Hashable, Sendable {
        let seconds: Double
        let looks: Looks

        var instant: Instant {
            looks.add()
            return Instant(seconds: seconds)
        }

        static func == (left: Element, right: Element) -> Bool { left.seconds == right.seconds }
        func hash(into hasher: inout Hasher) { hasher.combine(seconds) }
    }

    private func recent(rate: Double, seconds: Double, looks: Looks) -> RecentElements<Element> {
        var recent = RecentElements<Element>()
        for index in 0..<Int(rate * seconds) { recent.add(Element(seconds: Double(index) / rate, looks: looks)) }
        return recent
    }

    /// Two looks at each addition, and one or two for the clean-up that it pays for.
    func testAnAdditionHasABoundedCostAtAnyRate() {
        for rate in [1.0, 50, 499, 501, 1_000, 5_000] {
            let looks = Looks()
            let seconds = 60.0
            _ = recent(rate: rate, seconds: seconds, looks: looks)
            XCTAssertLessThanOrEqual(Double(looks.total) / (rate * seconds), 5, "\(rate) elements a second")
        }
    }

    func testTheLatestReadingsAreStoredAtAHighRate() {
        for count in [5_001, 9_999, 10_000, 10_001, 23_456] {
            let recent = recent(rate: 10_000, seconds: Double(count) / 10_000, looks: Looks())
            XCTAssertEqual(recent.readings.count, 5_000, "\(count)")
            XCTAssertEqual(recent.readings.last?.seconds, Double(count - 1) / 10_000)
            XCTAssertEqual(recent.readings.first?.seconds, Double(count - 5_000) / 10_000)
        }
    }

    func testReadingsOlderThanTwiceTheSpanAreDiscarded() {
        let recent = recent(rate: 2, seconds: 60, looks: Looks())
        XCTAssertEqual(recent.readings.last?.seconds, 59.5)
        XCTAssertGreaterThanOrEqual(recent.readings.first?.seconds ?? 0, 59.5 - 20)
        XCTAssertLessThanOrEqual(recent.readings.first?.seconds ?? 0, 59.5 - 10)
    }

    func testClearDiscardsAllReadings() {
        var recent = recent(rate: 1, seconds: 5, looks: Looks())
        recent.clear()
        XCTAssertEqual(recent.readings, [])
    }
}
