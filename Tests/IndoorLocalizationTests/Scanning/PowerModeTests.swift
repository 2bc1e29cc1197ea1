import IndoorLocalization
import XCTest

/// Settings of a scan: their defaults, presets and ranges.
final class PowerModeTests: XCTestCase {
    func testTheDefaultsAreThoseOfTheReference() {
        let cycle = DutyCycle()
        XCTAssertEqual(cycle.scanDuration, .milliseconds(10_000))
        XCTAssertEqual(cycle.interval, .milliseconds(90_000))
        XCTAssertEqual(cycle.intervalFactor, 1)
        XCTAssertFalse(cycle.isContinuous)
        XCTAssertEqual(ResolvedSettings().scanner.dutyCycle, cycle, "what configuration files begin with")
        XCTAssertEqual(ScannerSettings().dutyCycle, .continuous, "what code begins with")
        XCTAssertEqual(cycle.share, 0.1, accuracy: 1e-12)
    }

    func testThePowerModesHaveTheNumbers0To3() {
        XCTAssertEqual((0...3).map(PowerMode.init(rawValue:)), [PowerMode.none, .aggressive, .normal, .eco])
        XCTAssertNil(PowerMode(rawValue: 4))
        XCTAssertEqual(PowerMode.allCases.count, 4)
    }

    func testEachModeListensForItsDocumentedShareOfTheTime() {
        for (mode, share) in [(PowerMode.none, 1.0), (.aggressive, 0.5), (.normal, 1.0 / 3), (.eco, 0.1)] {
            XCTAssertEqual(mode.timing.share * mode.dutyCycle.share, share, accuracy: 1e-12, "\(mode)")
            XCTAssertEqual(ScannerSettings(powerMode: mode).problems, [], "\(mode)")
            XCTAssertEqual(ScannerSettings(powerMode: mode).timing, mode.timing, "\(mode)")
        }
        XCTAssertTrue(PowerMode.none.dutyCycle.isContinuous)
        XCTAssertTrue(PowerMode.aggressive.dutyCycle.isContinuous)
    }

    func testATimingIsWithinWhatControllersAccept() {
        let longest = Duration.milliseconds(10_240)
        XCTAssertEqual(ScanTiming(window: .microseconds(2500), interval: longest).problems, [])
        XCTAssertEqual(ScanTiming(window: longest, interval: longest).problems, [])
        for (window, interval) in [(0, 0), (-5, 1), (50, 20), (1, 20), (20, 10_241), (.max, .max)] as [(Int64, Int64)] {
            let timing = ScanTiming(window: .milliseconds(window), interval: .milliseconds(interval))
            XCTAssertFalse(timing.problems.isEmpty, "\(timing)")
        }
    }

    func testProblemsNameTheValuesThatAreOutOfRange() {
        var settings = ScannerSettings()
        settings.dutyCycle = DutyCycle(scanDuration: .zero, interval: .seconds(-1), intervalFactor: .nan)
        settings.timing = ScanTiming(window: .milliseconds(500), interval: .milliseconds(250))
        settings.rssiThreshold = 1
        settings.regions.exitTimeout = .zero
        settings.regions.enterRSSI = -80
        settings.regions.exitRSSI = -70
        settings.regions.rangingInterval = .zero
        settings.ranging.silence = .zero
        settings.retryPause = .zero
        XCTAssertEqual(
            settings.problems,
            [
                "dutyCycle.scanDuration must be in [0.01, 86400] s, not 0",
                "dutyCycle.interval must be in [0, 86400] s, not -1",
                "dutyCycle.intervalFactor must be in [0, 1000], not nan",
                "timing.window must be in [0.0025, 0.25] s, not 0.5",
                "rssiThreshold must be in [-127, 0] dBm, not 1",
                "regions.exitTimeout must be above 0 and at most 86400 s, not 0",
                "regions.exitRSSI must be in [-127, -80] dBm, not -70",
                "regions.rangingInterval must be in [0.1, 86400] s, not 0",
                "ranging.silence must be above 0 and at most 86400 s, not 0",
                "retryPause must be above 0 and at most 86400 s, not 0",
            ])
        XCTAssertEqual(ScannerSettings().problems, [])
        XCTAssertEqual(settings.dutyCycle.problems.count, 3)
        XCTAssertEqual(settings.regions.problems.count, 3)
    }
}
