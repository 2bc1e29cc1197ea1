import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class ReversedReadingsTests: XCTestCase {
    private static func taken(_ readings: [SensorReading]) -> [SensorReading] {
        var reversed = ReversedReadings()
        readings.forEach { reversed.append($0) }
        var taken: [SensorReading] = []
        while let last = reversed.removeLast(after: Instant(seconds: -1)) { taken.append(last) }
        return taken
    }

    func testAStepTurnsRound() {
        let step = Step(instant: Instant(seconds: 1), length: 0.7, heading: 30)
        let turned = Step(instant: Instant(seconds: 1), length: 0.7, heading: 210)
        XCTAssertEqual(Self.taken([.step(step)]), [.step(turned)])
    }

    func testReadingsComeBackFromTheLast() {
        let readings = (0..<3).map { second in
            SensorReading.pressure(PressureSample(instant: Instant(seconds: Double(second)), hectopascals: 1000))
        }
        XCTAssertEqual(Self.taken(readings), readings.reversed())
    }

    func testOnlyWhatIsLaterThanTheInstantIsTaken() {
        var reversed = ReversedReadings()
        reversed.append(.pressure(PressureSample(instant: Instant(seconds: 2), hectopascals: 1000)))
        XCTAssertNil(reversed.removeLast(after: Instant(seconds: 2)))
        XCTAssertNotNil(reversed.removeLast(after: Instant(seconds: 1.9)))
        XCTAssertNil(reversed.removeLast(after: .zero))
    }

    func testAccelerationsBecomeStepsAndSignsOfRest() {
        // Ten seconds of walking at two steps a second, with 100 readings a second.
        let readings = (0..<1000).map { index in
            let seconds = Double(index) / 100
            let swing = 3 * sin(2 * .pi * 2 * seconds)
            return SensorReading.motion(
                MotionSample(instant: Instant(seconds: seconds), acceleration: Vector3(x: 0, y: 0, z: 9.80665 + swing)))
        }
        var steps = 0
        var marks = 0
        for reading in Self.taken(readings) {
            if case .step = reading { steps += 1 }
            if case .motion(let sample) = reading {
                marks += 1
                XCTAssertEqual(sample.acceleration, Vector3(x: 0, y: 0, z: 9.80665))
            }
        }
        XCTAssertTrue((18...20).contains(steps), "\(steps) steps")
        XCTAssertTrue((20...26).contains(marks), "\(marks) marks")
    }
}
