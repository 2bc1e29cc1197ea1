import XCTest

@testable import LocalizationSession
import IndoorLocalization

final class SpeedometerTests: XCTestCase {
    func testAWalkHasItsSpeedAfterASecond() {
        var meter = Speedometer()
        for half in 0..<20 {
            let seconds = Double(half) / 2
            let speed = meter.observe(MapPoint(x: 1.2 * seconds, y: 0), on: 1, at: Instant(seconds: seconds))
            if seconds < 1 {
                XCTAssertNil(speed)
            } else {
                expectClose(speed, 1.2, within: 1e-9, "at \(seconds) s")
            }
        }
    }

    func testAStoppedDeviceHasNoSpeedAfterTwoSeconds() {
        var meter = Speedometer()
        for half in 0..<20 {
            _ = meter.observe(MapPoint(x: Double(half), y: 0), on: 1, at: Instant(seconds: Double(half) / 2))
        }
        for half in 20..<24 {
            _ = meter.observe(MapPoint(x: 19, y: 0), on: 1, at: Instant(seconds: Double(half) / 2))
        }
        expectClose(meter.observe(MapPoint(x: 19, y: 0), on: 1, at: Instant(seconds: 12)), 0, within: 1e-9)
    }

    func testAnotherMapRestartsTheMeasurement() {
        var meter = Speedometer()
        _ = meter.observe(MapPoint(x: 0, y: 0), on: 1, at: .zero)
        XCTAssertNil(meter.observe(MapPoint(x: 9, y: 0), on: 2, at: Instant(seconds: 3)))
    }

    func testAGapIsNoStandstill() {
        var meter = Speedometer()
        _ = meter.observe(MapPoint(x: 0, y: 0), on: 1, at: .zero)
        expectClose(meter.observe(MapPoint(x: 20, y: 0), on: 1, at: Instant(seconds: 10)), 2, within: 1e-9)
    }
}
