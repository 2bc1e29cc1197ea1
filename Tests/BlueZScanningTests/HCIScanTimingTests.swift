import BlueZScanning
import IndoorLocalization
import XCTest

/// The timing of the radio in each power mode.
final class HCIScanTimingTests: XCTestCase {
    func testATimingReplacesWindowAndIntervalAndNothingElse() {
        var source = HCIScanSource(adapter: .named("hci1"), mode: .active, content: .everything)
        source.initialDetail = "the second route"
        let timed = source.with(PowerMode.aggressive.timing)
        XCTAssertEqual(timed.window, .milliseconds(30))
        XCTAssertEqual(timed.interval, .milliseconds(60))
        XCTAssertEqual(timed.adapter, source.adapter)
        XCTAssertEqual(timed.mode, .active)
        XCTAssertEqual(timed.content, .everything)
        XCTAssertEqual(timed.initialDetail, "the second route")
    }

    func testTheTimingsOfThePowerModesAreWholeUnitsOfTheController() {
        for mode in PowerMode.allCases {
            let timing = mode.timing
            let parameters = HCIScanParameters(isActive: false, window: timing.window, interval: timing.interval)
            XCTAssertEqual(Duration.microseconds(625) * Int(parameters.window), timing.window, "\(mode)")
            XCTAssertEqual(Duration.microseconds(625) * Int(parameters.interval), timing.interval, "\(mode)")
        }
    }
}
