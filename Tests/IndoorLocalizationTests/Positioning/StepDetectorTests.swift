import IndoorLocalization
import XCTest

final class StepDetectorTests: XCTestCase {
    private static let gravity = 9.80665
    private static let seed: UInt64 = 7

    func testTheDetectorCounts120StepsInAMinuteAtTwoPerSecond() {
        let steps = Self.steps(seconds: 60) { Self.gravity + 3 * sin(2 * .pi * 2 * $0) }
        XCTAssertEqual(Double(steps.count), 120, accuracy: 3)
    }

    func testASamplingRateOfAHundredHertzGivesTheSameSteps() {
        let steps = Self.steps(seconds: 60, rate: 100) { Self.gravity + 3 * sin(2 * .pi * 2 * $0) }
        XCTAssertEqual(Double(steps.count), 120, accuracy: 3)
    }

    func testTheDetectorCountsANoisyWalk() {
        var generator = SeededGenerator(seed: Self.seed)
        let steps = Self.steps(seconds: 60) {
            Self.gravity + 3 * sin(2 * .pi * 1.8 * $0) + 0.6 * generator.normal()
        }
        XCTAssertEqual(Double(steps.count), 108, accuracy: 4, "seed \(Self.seed)")
    }

    func testNoiseWhileStandingGivesNoStep() {
        var generator = SeededGenerator(seed: Self.seed)
        let steps = Self.steps(seconds: 60) { _ in Self.gravity + 0.3 * generator.normal() }
        XCTAssertEqual(steps.count, 0, "seed \(Self.seed)")
    }

    func testFastShakingDoesNotGiveFourStepsPerSecond() {
        let steps = Self.steps(seconds: 10) { Self.gravity + 8 * sin(2 * .pi * 6 * $0) }
        XCTAssertLessThanOrEqual(steps.count, 34)
    }

    func testAHarderStepIsLonger() {
        let soft = Self.steps(seconds: 20) { Self.gravity + 2 * sin(2 * .pi * 2 * $0) }
        let hard = Self.steps(seconds: 20) { Self.gravity + 5 * sin(2 * .pi * 2 * $0) }
        XCTAssertGreaterThan(mean(hard), mean(soft) * 1.1)
    }

    func testAUsualStepIsBetweenHalfAMetreAndAMetre() {
        let steps = Self.steps(seconds: 20) { Self.gravity + 3 * sin(2 * .pi * 1.8 * $0) }
        XCTAssertTrue((0.5...1).contains(mean(steps)), "\(mean(steps))")
    }

    func testAGapInTheReadingsGivesNoStep() {
        var detector = StepDetector()
        // A swing upwards that no swing downwards follows, before the sensor is switched off.
        for index in 0..<20 {
            XCTAssertNil(detector.observe(Self.sample(at: Double(index) * 0.02, Self.gravity + 4)))
        }
        for index in 0..<20 {
            let step = detector.observe(Self.sample(at: 60 + Double(index) * 0.02, Self.gravity - 2))
            XCTAssertNil(step, "the swing of a minute ago and this one are not the same step")
        }
    }

    func testTheDetectorCountsStepsAfterAGap() {
        var detector = StepDetector()
        _ = detector.observe(Self.sample(at: 0, Self.gravity))
        var count = 0
        for index in 0..<500 {
            let time = Double(index) * 0.02
            let sample = Self.sample(at: 100 + time, Self.gravity + 3 * sin(2 * .pi * 2 * time))
            if detector.observe(sample) != nil { count += 1 }
        }
        XCTAssertEqual(Double(count), 20, accuracy: 2)
    }

    func testTheDetectorIgnoresNaNReadings() {
        var detector = StepDetector()
        XCTAssertNil(detector.observe(Self.sample(at: 1, .nan)))
        XCTAssertNil(detector.lastReading)
    }

    func testWithoutAttitudeThereIsNoHeading() {
        var detector = StepDetector()
        _ = detector.observe(Self.sample(at: 1, Self.gravity))
        XCTAssertNil(detector.heading)
    }

    func testADeviceThatLiesUnturnedPointsToTheTop() {
        expectClose(heading(Quaternion(w: 1, x: 0, y: 0, z: 0)), 0, within: 1e-9)
    }

    func testADeviceTurnedClockwiseByAQuarterPointsToTheRight() {
        let attitude = RotationTests.turn(degrees: -90, about: Vector3(x: 0, y: 0, z: 1))
        expectClose(heading(attitude), .pi / 2, within: 1e-9)
    }

    func testADeviceTurnedByAHalfPointsDown() {
        let attitude = RotationTests.turn(degrees: 180, about: Vector3(x: 0, y: 0, z: 1))
        expectClose(heading(attitude).map(abs), .pi, within: 1e-9)
    }

    func testADeviceHeldUprightPointsWhereItsBackDoes() {
        let attitude = RotationTests.turn(degrees: 90, about: Vector3(x: 1, y: 0, z: 0))
        expectClose(heading(attitude), 0, within: 1e-9)
    }

    func testAnAttitudeWithoutADirectionKeepsTheOldHeading() {
        var detector = StepDetector()
        let right = RotationTests.turn(degrees: -90, about: Vector3(x: 0, y: 0, z: 1))
        _ = detector.observe(MotionSample(instant: .zero, attitude: right))
        // Half way between top and back is where the device points: straight up after this turn.
        let upward = RotationTests.turn(degrees: 135, about: Vector3(x: 1, y: 0, z: 0))
        _ = detector.observe(MotionSample(instant: .zero, attitude: upward))
        expectClose(detector.heading, .pi / 2, within: 1e-6)
    }

    private func heading(_ attitude: Quaternion) -> Double? {
        var detector = StepDetector()
        _ = detector.observe(MotionSample(instant: .zero, attitude: attitude))
        return detector.heading
    }

    private func mean(_ numbers: [Double]) -> Double { numbers.reduce(0, +) / Double(numbers.count) }

    private static func sample(at seconds: Double, _ magnitude: Double) -> MotionSample {
        MotionSample(
            instant: Instant(seconds: seconds), acceleration: Vector3(x: 0, y: 0, z: magnitude))
    }

    private static func steps(
        seconds: Double, rate: Double = 50, _ magnitude: (Double) -> Double
    ) -> [Double] {
        var detector = StepDetector()
        return (0..<Int(seconds * rate)).compactMap { index in
            let time = Double(index) / rate
            return detector.observe(sample(at: time, magnitude(time)))
        }
    }
}
