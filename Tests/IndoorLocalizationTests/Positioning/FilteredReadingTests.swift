import IndoorLocalization
import XCTest

@testable import IndoorPositioning

/// Readings that are medians over a window.
final class FilteredReadingTests: XCTestCase {
    private typealias Stage = PositioningStage
    private var collector = EvidenceCollector(field: Stage.packetField)

    override func setUp() { collector = EvidenceCollector(field: Stage.packetField) }

    private func hear(_ beacon: Int, _ rssi: Double, at seconds: Double, window: Double) {
        collector.add(beacon: beacon, rssi: rssi, at: Instant(seconds: seconds), window: .seconds(window))
    }

    private func drained(at seconds: Double) throws -> Evidence {
        try XCTUnwrap(collector.drain(at: Instant(seconds: seconds)))
    }

    func testAFilteredReadingHasLessFadingThanARawOne() throws {
        hear(0, -60, at: 1, window: 0)
        hear(1, -60, at: 1, window: 15)
        hear(2, -60, at: 1, window: 0.1)
        let heard = try drained(at: 1).heard
        XCTAssertEqual(heard[0].variance, 6.25, accuracy: 1e-4)
        // A median of 15 readings is as certain as a mean of 15 · 2/π.
        XCTAssertEqual(heard[1].variance, 6.25 / (15 * 2 / .pi), accuracy: 1e-4)
        XCTAssertEqual(heard[2].variance, 6.25, accuracy: 1e-4, "a short window has at least one reading")
    }

    func testAFilteredReadingIsHalfOfItsWindowOld() throws {
        hear(0, -60, at: 0, window: 0)
        _ = try drained(at: 0)
        hear(0, -60, at: 4, window: 6)
        XCTAssertEqual(try drained(at: 5).age, 1 + 3, accuracy: 1e-9)
    }

    func testAFilteredReadingHasTheWeightOfItsNewPart() throws {
        hear(0, -60, at: 0, window: 16)
        XCTAssertEqual(try drained(at: 0).heard.first?.share, 1, "the first one is new")
        hear(0, -60, at: 4, window: 16)
        let heard = try XCTUnwrap(try drained(at: 4).heard.first)
        // √(4 / 16), and 1 - exp(-4 / 1) as for raw readings.
        XCTAssertEqual(heard.share, 0.5, accuracy: 1e-6)
        XCTAssertEqual(heard.fresh, 0.98168, accuracy: 1e-4)
        XCTAssertEqual(heard.draws, heard.share * heard.fresh, accuracy: 1e-6)
        hear(0, -60, at: 60, window: 16)
        XCTAssertEqual(try XCTUnwrap(try drained(at: 60).heard.first).share, 1, accuracy: 1e-4)
    }

    func testTheNewestFilteredReadingReplacesTheOlderOnes() throws {
        hear(0, -60, at: 1, window: 15)
        hear(0, -70, at: 2, window: 15)
        XCTAssertEqual(try drained(at: 2).heard.map(\.rssi), [-70])
        XCTAssertEqual(collector.snapshot(at: Instant(seconds: 2))?.heard.map(\.rssi), [-70])
        hear(0, -50, at: 3, window: 0)
        XCTAssertEqual(try drained(at: 3).heard.map(\.rssi), [-50], "the gateway sends raw readings now")
    }

    func testAFilteredReadingStaysInTheSnapshotForHalfOfItsWindowLonger() throws {
        hear(0, -60, at: 0, window: 10)
        hear(1, -60, at: 0, window: 0)
        for (seconds, expected) in [(4.0, [0, 1]), (5, [0]), (9, [0]), (9.5, [])] {
            _ = try drained(at: seconds)
            let heard = collector.snapshot(at: Instant(seconds: seconds))?.heard.map(\.beacon) ?? []
            XCTAssertEqual(heard, expected, "\(seconds) s")
        }
    }

    /// A venue has thousands of beacons, a tag's collector the few that were received lately.
    func testACollectorForgetsABeaconWhenItsNextReadingIsAsGoodAsAFirstOne() throws {
        for second in 0..<200 {
            hear(second % 8, -60, at: Double(second) * 10, window: 0)
            let heard = try XCTUnwrap(try drained(at: Double(second) * 10).heard.first)
            XCTAssertEqual(heard.share, 1)
        }
        XCTAssertLessThan(collector.byteCount, 1500)
    }
}
