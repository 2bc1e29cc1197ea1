import IndoorLocalization
import XCTest

final class PlaceChangeTestTests: XCTestCase {
    private static let beaconCount = 8

    private var generator = SeededGenerator(seed: 15)

    private func test(threshold: Double = 6) -> PlaceChangeTest {
        PlaceChangeTest(beaconCount: Self.beaconCount, deviation: 5, threshold: threshold)
    }

    /// A scan of beacons with these mean RSSI values, in dBm, and 4 dB of noise; nil for one that is silent.
    private func scan(_ means: [Double?]) -> [(beacon: Int, rssi: Double)] {
        means.enumerated().compactMap { beacon, mean in mean.map { (beacon, $0 + 4 * generator.normal()) } }
    }

    private static let here: [Double?] = [-60, -66, -72, -78, -84, -70, -65, -80]
    private static let there: [Double?] = [-76, -80, -60, -66, -70, -84, -80, -66]

    func testAnotherPlaceIsDetectedWithinThreeScans() {
        for _ in 0..<20 {
            var test = test()
            for _ in 0..<30 { _ = test.observe(scan(Self.here), after: 1) }
            let ratios = (0..<3).map { _ in test.observe(scan(Self.there), after: 1) }
            XCTAssertTrue(ratios.contains(.infinity), "\(ratios)")
            XCTAssertLessThanOrEqual(test.scanCount, 3, "the new place begins with the change")
        }
    }

    func testTheSamePlaceIsNoChangeForAnHour() {
        var test = test()
        let changes = (0..<3600).count { _ in test.observe(scan(Self.here), after: 1) == .infinity }
        XCTAssertEqual(changes, 0)
        XCTAssertEqual(test.scanCount, 3600)
    }

    func testSlowMovementIsNoChange() {
        var test = test()
        let ratios = (0..<160).map { second in
            let moved = zip(Self.here, Self.there).map { here, there -> Double? in
                (here ?? 0) + ((there ?? 0) - (here ?? 0)) * Double(second) / 160
            }
            return test.observe(scan(moved), after: 1)
        }
        XCTAssertFalse(ratios.contains(.infinity))
    }

    func testSilentBeaconsIndicateAChange() {
        // As strong as before, but three in four are gone.
        let few = Self.here.enumerated().map { $0.offset % 4 == 0 ? $0.element : nil }
        var test = test()
        for _ in 0..<30 { _ = test.observe(scan(Self.here), after: 1) }
        let ratios = (0..<5).map { _ in test.observe(scan(few), after: 1) }
        XCTAssertGreaterThan(ratios.max() ?? 0, 2, "\(ratios)")
        var steady = self.test()
        for _ in 0..<30 { _ = steady.observe(scan(few), after: 1) }
        let same = (0..<5).map { _ in steady.observe(scan(few), after: 1) }
        XCTAssertLessThan(same.max() ?? 0, 1, "\(same)")
    }

    func testTheFirstScanIsNoChange() {
        var test = test()
        XCTAssertEqual(test.observe(scan(Self.here), after: 0), 0)
        XCTAssertEqual(test.scanCount, 1)
    }

    func testAnInfiniteThresholdTurnsTheTestOff() {
        var test = test(threshold: .infinity)
        for _ in 0..<30 { _ = test.observe(scan(Self.here), after: 1) }
        XCTAssertEqual((0..<5).map { _ in test.observe(scan(Self.there), after: 1) }, [0, 0, 0, 0, 0])
        XCTAssertEqual(test.scanCount, 35)
    }
}
