import IndoorLocalization
import XCTest

final class MotionKindTests: XCTestCase {
    func testTheKindIsUnknownBeforeTheFirstReading() {
        let reckoner = DeadReckoner()
        XCTAssertNil(reckoner.estimate.kind)
        XCTAssertNil(reckoner.estimate.heading)
        XCTAssertEqual(reckoner.estimate.vertical, .level)
    }

    func testADeviceOnATableIsStationary() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(3))
        XCTAssertEqual(reckoner.estimate.kind, .stationary)
        XCTAssertEqual(reckoner.estimate.stepFrequency, 0)
    }

    func testAShakenDeviceIsFidgetingAndNotWalking() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(3))
        reckoner.observe(device.samples(3, shake: 0.5))
        XCTAssertEqual(reckoner.estimate.kind, .fidgeting)
        XCTAssertEqual(reckoner.estimate.statistics.steps, 0)
    }

    func testATurningDeviceIsFidgeting() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(3))
        reckoner.observe(device.samples(2, turn: 45))
        XCTAssertEqual(reckoner.estimate.kind, .fidgeting)
    }

    func testFidgetingEndsOnlyAfterAQuietTime() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(3, shake: 0.6))
        reckoner.observe(device.samples(0.8))
        XCTAssertEqual(reckoner.estimate.kind, .fidgeting)
        reckoner.observe(device.samples(4))
        XCTAssertEqual(reckoner.estimate.kind, .stationary)
    }

    func testConsecutiveStepsAreWalkingWithTheirFrequency() {
        for frequency in [1.5, 1.8, 2.2] {
            var (device, reckoner) = (CarriedDevice(), DeadReckoner())
            reckoner.observe(device.samples(10, steps: frequency))
            XCTAssertEqual(reckoner.estimate.kind, .walking, "\(frequency)")
            XCTAssertEqual(reckoner.estimate.stepFrequency, frequency, accuracy: 0.1, "of a swing in 50 Hz samples")
        }
    }

    func testTwoStepsAreNoWalkAndDoNotMoveThePosition() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(3))
        reckoner.observe(device.samples(1, steps: 2))
        reckoner.observe(device.samples(3))
        XCTAssertNotEqual(reckoner.estimate.kind, .walking)
        XCTAssertEqual(reckoner.estimate.statistics.steps, 0)
        XCTAssertEqual(reckoner.estimate.position.y, 0)
    }

    func testTheFirstStepsAreCountedOnceWalkingIsConfirmed() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(10, steps: 2))
        XCTAssertEqual(Double(reckoner.estimate.statistics.steps), 20, accuracy: 1)
    }

    func testWalkingEndsWhenTheNextStepIsMissing() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(6, steps: 2))
        reckoner.observe(device.samples(0.5))
        XCTAssertEqual(reckoner.estimate.kind, .walking, "a long step is no halt")
        reckoner.observe(device.samples(1.5))
        XCTAssertNotEqual(reckoner.estimate.kind, .walking)
        XCTAssertEqual(reckoner.estimate.stepFrequency, 0)
    }

    func testTimeAloneEndsAWalkOfADeviceThatReportsOnlySteps() {
        var reckoner = DeadReckoner()
        for step in 0..<10 { reckoner.observe(.step(Step(instant: Instant(seconds: Double(step) * 0.5), heading: 0))) }
        XCTAssertEqual(reckoner.estimate.kind, .walking)
        reckoner.advance(to: Instant(seconds: 7))
        XCTAssertEqual(reckoner.estimate.kind, .stationary)
    }

    func testReportedStepsReplaceThoseOfTheAccelerometer() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        let samples = device.samples(10, steps: 2)
        let steps = (0..<20).map { step in
            SensorReading.step(Step(instant: Instant(seconds: Double(step) * 0.5 + 0.01), length: 0.7, heading: 0))
        }
        reckoner.observe((samples + steps).sorted { $0.instant < $1.instant })
        XCTAssertEqual(Double(reckoner.estimate.statistics.steps), 20, accuracy: 1, "not forty")
    }

    /// The kinds are dwelling, walking and stationary.
    func testTimesAreCountedByKindAndCanBeReset() throws {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(10))
        reckoner.observe(device.samples(20, steps: 2))
        reckoner.observe(device.samples(10))
        let statistics = reckoner.estimate.statistics
        XCTAssertEqual(
            statistics.walking.seconds, 20, accuracy: 2.5, "walking is known after three steps, its end after 1.2 s")
        XCTAssertEqual(statistics.dwelling.seconds, 20, accuracy: 2.5)
        XCTAssertEqual((statistics.walking + statistics.dwelling).seconds, 40, accuracy: 0.1)
        XCTAssertEqual(try XCTUnwrap(statistics.share(of: .walking)), 0.5, accuracy: 0.07)
        XCTAssertEqual(statistics.distance, 40 * 0.63, accuracy: 4, "40 steps of 5 m/s² swing")
        reckoner.resetStatistics()
        XCTAssertEqual(reckoner.estimate.statistics, MotionStatistics())
        XCTAssertNil(reckoner.estimate.statistics.share(of: .walking))
        XCTAssertGreaterThan(reckoner.estimate.position.y, 10, "the place stays")
    }

    func testTimesWithoutReadingsAreNotCounted() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        let first = device.samples(5)
        _ = device.samples(600)
        reckoner.observe(first + device.samples(5))
        let statistics = reckoner.estimate.statistics
        XCTAssertEqual((statistics.walking + statistics.dwelling).seconds, 10, accuracy: 0.5)
    }

    func testNonFiniteReadingsChangeNothing() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(5, steps: 2))
        let before = reckoner.estimate.position
        let nothing = Vector3(x: .nan, y: .infinity, z: 0)
        let sample = MotionSample(
            instant: device.now, acceleration: nothing, rotationRate: nothing, magneticField: nothing,
            attitude: Quaternion(w: .nan, x: 0, y: 0, z: 0))
        reckoner.observe(.motion(sample))
        reckoner.observe(.step(Step(instant: device.now, length: .nan, heading: .nan)))
        reckoner.observe(.pressure(PressureSample(instant: device.now, hectopascals: .nan)))
        XCTAssertEqual(reckoner.estimate.position.y, before.y, accuracy: 1)
        XCTAssertTrue(reckoner.estimate.radius.isFinite)
        XCTAssertTrue(reckoner.estimate.position.x.isFinite)
    }

    func testTimeNeverRunsBackwards() {
        var (device, reckoner) = (CarriedDevice(), DeadReckoner())
        reckoner.observe(device.samples(5))
        reckoner.observe(.pressure(PressureSample(instant: .zero, hectopascals: 1000)))
        XCTAssertEqual(reckoner.estimate.instant, device.now)
    }
}
