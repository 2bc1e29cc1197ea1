import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// The score of reported beacon faults.
final class FaultScorerTests: XCTestCase {
    private func beacon(_ minor: UInt16) -> BeaconIdentity {
        BeaconIdentity(uuid: BeaconUUID(high: 1, low: 1), major: 1, minor: minor)
    }

    private func readings(_ minors: [UInt16], every interval: Double = 1, until end: Double) -> [SensorReading] {
        stride(from: 0, through: end, by: interval).flatMap { seconds in
            minors.map { .sighting(Sighting(instant: Instant(seconds: seconds), beacon: beacon($0), rssi: -60)) }
        }
    }

    private func fault(_ minor: UInt16, at seconds: Double) -> (instant: Instant, fault: BeaconFault) {
        let instant = Instant(seconds: seconds)
        return (instant, BeaconFault(beacon: beacon(minor), kind: .contradictory, since: instant))
    }

    func testABeaconThatIsNamedInItsFirstMinuteCounts() {
        var scorer = FaultScorer()
        scorer.add(
            readings([1, 2, 3, 4], until: 120), faults: [fault(1, at: 50), fault(2, at: 70)],
            disturbedBeacons: [beacon(1), beacon(2), beacon(3)])
        XCTAssertEqual(scorer.disturbed, 3)
        XCTAssertEqual(scorer.shareInMinute, 1.0 / 3)
        XCTAssertEqual(scorer.shareNamed, 2.0 / 3)
        XCTAssertEqual(scorer.falseAlarms, 0)
    }

    func testTheMinuteIsOneOfHearing() {
        var scorer = FaultScorer()
        // Received every ten seconds, of which five count: a minute of hearing takes two.
        scorer.add(readings([1], every: 10, until: 200), faults: [fault(1, at: 110)], disturbedBeacons: [beacon(1)])
        XCTAssertEqual(scorer.shareInMinute, 1)
        var short = FaultScorer()
        short.add(readings([1], until: 30), faults: [], disturbedBeacons: [beacon(1), beacon(9)])
        XCTAssertNil(short.shareInMinute, "heard for less than a minute, or never")
        XCTAssertEqual(short.shareNamed, 0)
    }

    func testTheTimeOfASilentBeaconIsThatOfAllBeacons() {
        var scorer = FaultScorer()
        scorer.add(
            readings([1], until: 100), faults: [fault(2, at: 55)], disturbedBeacons: [beacon(2), beacon(3)],
            silentBeacons: [beacon(2), beacon(3)])
        XCTAssertEqual(scorer.shareInMinute, 0.5)
    }

    func testFaultsOfOtherBeaconsAreFalseAlarms() {
        var scorer = FaultScorer()
        scorer.add(readings([1], until: 1800), faults: [fault(1, at: 5)])
        scorer.add(readings([1], until: 1800), faults: [])
        XCTAssertEqual(scorer.falseAlarmRate, 1)
        var sum = FaultScorer()
        sum.add(scorer)
        sum.add(scorer)
        XCTAssertEqual(sum.falseAlarms, 2)
        XCTAssertEqual(sum.hours, 2, accuracy: 1e-9)
        XCTAssertNil(FaultScorer().falseAlarmRate)
    }
}
