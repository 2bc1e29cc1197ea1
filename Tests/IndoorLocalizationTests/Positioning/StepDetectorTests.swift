import IndoorLocalization
import XCTest
@testable import IndoorPositioning

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

/// Devices that report steps, that show them in their accelerometer, and that do both.
final class PedometerTests: XCTestCase {
    private static let begin = MapPoint(x: 10, y: 10)
    private static let seconds = 20.0

    /// A corridor of 100 × 20 m with one beacon, which is never heard.
    private static let corridor: Venue = {
        var venue = PositioningStage.venue
        venue.maps = [PositioningStage.map(width: 100)]
        venue.beacons = Array(venue.beacons.prefix(1))
        return venue
    }()

    /// What a device that points to the right shows of two steps a second, for 20 s.
    private static func samples() -> [SensorReading] {
        var device = CarriedDevice(heading: 90)
        return device.samples(seconds, steps: 2)
    }

    /// What a device reports of the same steps, each 10 ms after the foot came down.
    private static func reports(length: Double? = 0.7) -> [SensorReading] {
        (0..<Int(seconds * 2)).map {
            .step(Step(instant: Instant(seconds: Double($0) * 0.5 + 0.01), length: length, heading: 90))
        }
    }

    /// A recording of a walker with both.
    private static var both: [SensorReading] { (samples() + reports()).sorted { $0.instant < $1.instant } }

    /// Where the engine puts a walker who began at a given place, without hearing a beacon.
    private func end(of readings: [SensorReading]) throws -> MapPoint {
        var engine = PositioningEngine(venue: Self.corridor, seed: 1)
        engine.observe(.fix(Fix(instant: .zero, mapID: PositioningStage.hall, point: Self.begin, radius: 0.5)))
        var next = 0.5
        for reading in readings {
            while Instant(seconds: next) < reading.instant {
                engine.advance(to: Instant(seconds: next))
                next += 0.5
            }
            engine.observe(reading)
        }
        engine.advance(to: Instant(seconds: Self.seconds))
        return try XCTUnwrap(engine.estimate(on: PositioningStage.hall)).point
    }

    func testTheEngineCountsAReportedAndDetectedStepOnce() throws {
        let walked = try end(of: Self.both)
        XCTAssertEqual(walked.x - Self.begin.x, 28, accuracy: 3, "40 steps of 0.7 m, not 80")
        XCTAssertEqual(try end(of: Self.reports()).x, walked.x, accuracy: 2, "as from reports alone")
    }

    func testTheEngineCountsStepsThatAreOnlyDetected() throws {
        XCTAssertEqual(try end(of: Self.samples()).x - Self.begin.x, 40 * 0.63, accuracy: 4, "5 m/s² of swing each")
    }

    func testASmootherCountsAReportedAndDetectedStepOnce() {
        var readings = ReversedReadings()
        for reading in Self.both { readings.append(reading) }
        var steps = 0
        while let reading = readings.removeLast(after: Instant(seconds: -1)) {
            if case .step = reading { steps += 1 }
        }
        XCTAssertEqual(steps, 40, accuracy: 1)
    }

    func testDetectedStepsAreCountedAgainTenSecondsAfterTheLastReport() {
        var pedometer = Pedometer()
        _ = pedometer.report(Step(instant: .zero))
        var device = CarriedDevice()
        let detected = device.samples(20, steps: 2).compactMap { reading -> Instant? in
            guard case .motion(let sample) = reading else { return nil }
            return pedometer.detect(sample).map { _ in sample.instant }
        }
        XCTAssertEqual(detected.first?.seconds ?? 0, 10.25, accuracy: 0.3)
        XCTAssertEqual(detected.count, 20, accuracy: 1)
    }

    func testAReportedStepWithoutAPlausibleLengthHasTheUsualOne() {
        var pedometer = Pedometer()
        for length in [nil, -1, 10.1, .nan, .infinity] as [Double?] {
            XCTAssertEqual(pedometer.report(Step(instant: .zero, length: length)), 0.7, "\(String(describing: length))")
        }
        for length in [0, 0.5, 10] {
            XCTAssertEqual(pedometer.report(Step(instant: .zero, length: length)), length)
        }
    }
}

/// The direction of motion where no motion sensor tells it.
final class CourseTests: XCTestCase {
    private typealias Stage = PositioningStage

    func testADeviceThatStandsForAMinuteHasNoCourse() {
        for seed in UInt64(1)...6 {
            var receiver = HallReceiver(at: MapPoint(x: 8, y: 11), seed: seed)
            for second in 1...60 {
                receiver.listen()
                XCTAssertNotNil(receiver.estimate)
                XCTAssertNil(receiver.estimate?.course, "second \(second), seed \(seed)")
            }
        }
    }

    func testAWalkerHasTheCourseOfTheWalk() {
        for (from, to, expected) in [
            (MapPoint(x: 2, y: 10), MapPoint(x: 18, y: 10), 90.0), (MapPoint(x: 9, y: 18), MapPoint(x: 9, y: 2), 0),
        ] {
            var (told, close) = (0, 0)
            for seed in UInt64(1)...6 {
                var receiver = HallReceiver(at: from, seed: seed)
                for second in 1...13 {
                    receiver.place = from + (to - from) * (Double(second) / 13)
                    receiver.listen()
                    guard second > 5, let course = receiver.estimate?.course else { continue }
                    told += 1
                    if abs(remainder(course - expected, 360)) < 60 { close += 1 }
                }
            }
            print("of 48 moments \(told) have a course, \(close) of them along the way")
            XCTAssertGreaterThan(told, 20, "towards \(expected)°, seeds 1...6")
            XCTAssertGreaterThan(Double(close), 0.8 * Double(told), "towards \(expected)°, seeds 1...6")
        }
    }

    func testAWalkerLosesTheCourseSoonAfterStopping() {
        var receiver = HallReceiver(at: MapPoint(x: 2, y: 10), seed: 2)
        for second in 1...12 {
            receiver.place = MapPoint(x: 2 + 1.2 * Double(second), y: 10)
            receiver.listen()
        }
        receiver.listen(seconds: 8)
        for second in 9...30 {
            receiver.listen()
            XCTAssertNotNil(receiver.estimate)
            XCTAssertNil(receiver.estimate?.course, "\(second) s after the stop, seed 2")
        }
    }
}
