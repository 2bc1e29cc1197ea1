import IndoorLocalization
import XCTest

final class BeaconCorrectionRuleTests: XCTestCase {
    private let door = "door"
    private let lift = "lift"

    /// What the rule says to one reading a second.
    private func decisions(
        _ readings: [(String, Proximity?)], _ settings: BeaconCorrectionRule.Settings = .init()
    ) -> [Bool] {
        var rule = BeaconCorrectionRule(settings: settings)
        return readings.enumerated().map { index, reading in
            rule.handle(reading.0, reading.1, at: Instant(seconds: Double(index)))
        }
    }

    func testOnlyAReadingFromCloseBySetsThePosition() {
        XCTAssertEqual(
            decisions([(door, .far), (door, nil), (door, .near), (door, .immediate)]), [false, false, false, true])
    }

    func testASecondReadingFromCloseByIsIgnoredUntilFiveNearOnes() {
        let away = Array(repeating: (door, Proximity?.some(.near)), count: 5)
        let decisions = decisions(
            [(door, .immediate), (door, .immediate)] + away.prefix(4) + [(door, .immediate)] + away.prefix(1)
                + [(door, .immediate), (door, .immediate)])
        XCTAssertEqual(
            decisions, [true, false, false, false, false, false, false, false, true, false])
    }

    func testReadingsFromFarAwayAndWithoutADistanceHaveNoEffect() {
        let away: [(String, Proximity?)] = (0..<10).map { (door, $0 % 2 == 0 ? .far : nil) }
        let near: [(String, Proximity?)] = (0..<4).map { _ in (door, .near) }
        let decisions = decisions([(door, .immediate)] + away + near + [(door, .immediate)])
        XCTAssertEqual(decisions.filter { $0 }.count, 1)
    }

    func testEachBeaconHasItsOwnCooldown() {
        XCTAssertEqual(decisions([(door, .immediate), (lift, .immediate)]), [true, true])
    }

    func testAllBeaconsShareOneCounterOnRequest() {
        var settings = BeaconCorrectionRule.Settings()
        settings.sharesCooldown = true
        let near = (0..<5).map { _ in (door, Proximity?.some(.near)) }
        XCTAssertEqual(
            decisions([(door, .immediate), (lift, .immediate)] + near + [(lift, .immediate)], settings),
            [true, false, false, false, false, false, false, true])
    }

    func testAdvertisementsWithinASecondAreOneReading() {
        var rule = BeaconCorrectionRule()
        XCTAssertTrue(rule.handle(door, .immediate, at: Instant(seconds: 100)))
        for tick in 1...30 { XCTAssertFalse(rule.handle(door, .near, at: Instant(seconds: 100 + Double(tick) / 10))) }
        XCTAssertEqual(rule.cooldown(of: door), 2, "three seconds are three readings")
    }

    func testAnEarlierInstantOfANewSessionDoesNotSilenceABeacon() {
        var rule = BeaconCorrectionRule()
        XCTAssertFalse(rule.handle(door, .near, at: Instant(seconds: 1000)))
        XCTAssertTrue(rule.handle(door, .immediate, at: Instant(seconds: 0)))
    }

    func testWithoutACooldownEveryReadingFromCloseBySetsThePosition() {
        var settings = BeaconCorrectionRule.Settings()
        for cooldown in [0, -3] {
            settings.cooldown = cooldown
            XCTAssertEqual(decisions([(door, .immediate), (door, .immediate)], settings), [true, true], "\(cooldown)")
        }
    }
}
