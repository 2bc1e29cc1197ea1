import BlueZScanning
import IndoorLocalization
import XCTest

/// How a power mode reaches the radio.
final class HCIScanTimingTests: XCTestCase {
    func testATimingReplacesWindowAndIntervalAndNothingElse() {
        var source = HCIScanSource(adapter: .named("hci1"), mode: .active, content: .everything)
        source.remark = "the second one"
        let timed = source.with(PowerMode.aggressive.timing)
        XCTAssertEqual(timed.window, .milliseconds(30))
        XCTAssertEqual(timed.interval, .milliseconds(60))
        XCTAssertEqual(timed.adapter, source.adapter)
        XCTAssertEqual(timed.mode, .active)
        XCTAssertEqual(timed.content, .everything)
        XCTAssertEqual(timed.remark, "the second one")
    }

    func testTheTimingsOfThePowerModesAreWholeUnitsOfAController() {
        for mode in PowerMode.allCases {
            let timing = mode.timing
            let parameters = HCIScanParameters(isActive: false, window: timing.window, interval: timing.interval)
            XCTAssertEqual(Duration.microseconds(625) * Int(parameters.window), timing.window, "\(mode)")
            XCTAssertEqual(Duration.microseconds(625) * Int(parameters.interval), timing.interval, "\(mode)")
        }
    }
}
