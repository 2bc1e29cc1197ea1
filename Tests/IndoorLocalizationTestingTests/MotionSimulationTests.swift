import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

final class MotionSimulationTests: XCTestCase {
    private let square = [
        MapPoint(x: 5, y: 5), MapPoint(x: 15, y: 5), MapPoint(x: 15, y: 15), MapPoint(x: 5, y: 15),
    ]

    private func settings(noise: Bool = false) -> SimulationSettings {
        var settings = SimulatedHall.quiet()
        settings.sensors.motionRate = 50
        guard !noise else { return settings }
        settings.sensors.accelerationNoise = 0
        settings.sensors.rotationNoise = 0
        settings.sensors.rotationBias = 0
        settings.sensors.headingDeviation = 0
        settings.sensors.stepLengthDeviation = 0
        return settings
    }

    private func simulator(_ path: WalkPath, _ settings: SimulationSettings, seed: UInt64 = 21) throws -> WalkSimulator
    {
        try WalkSimulator(venue: SimulatedHall.venue(), path: path, settings: settings, seed: seed)
    }

    func testTheDeviceSamplesMotionFiftyTimesASecond() throws {
        let samples = try simulator(SimulatedHall.walk(square), settings()).motion
        XCTAssertEqual(samples.count, 30 * 50 + 1)
        XCTAssertEqual(samples[50].instant, Instant(seconds: 1))
    }

    func testADeviceAtRestMeasuresGravityUpwards() throws {
        let path = SimulatedHall.stay(at: square[0], seconds: 5, heading: 70)
        let samples = try simulator(path, settings()).motion
        XCTAssertEqual(samples.count, 5 * 50 + 1)
        for sample in samples {
            let measured = try XCTUnwrap(sample.acceleration)
            let world = try XCTUnwrap(sample.attitude).rotate(measured)
            XCTAssertEqual(measured.length, 9.807, accuracy: 0.002)
            XCTAssertEqual(world.z, 9.807, accuracy: 0.004)
        }
    }

    func testTheMeanAccelerationOfAWalkIsGravity() throws {
        let samples = try simulator(SimulatedHall.walk(square), settings(noise: true)).motion
        let lengths = samples.compactMap { $0.acceleration?.length }
        XCTAssertEqual(mean(lengths), 9.81, accuracy: 0.1, "seed 21")
        XCTAssertGreaterThan(lengths.max() ?? 0, 9.81 + 2)
    }

    func testTheDevicesYAxisPointsInTheDirectionOfTheWalk() throws {
        let samples = try simulator(SimulatedHall.walk(square), settings()).motion
        for (second, expected) in [(5, 90.0), (15, 180), (25, 270)] {
            let ahead = try XCTUnwrap(samples[second * 50].attitude).rotate(Vector3(x: 0, y: 1, z: 0))
            // The world's y is the map's up, so down on the plan is negative.
            let course = try XCTUnwrap(MapPoint(x: ahead.x, y: -ahead.y).course)
            XCTAssertEqual(course, expected, accuracy: 0.05, "after \(second) s")
            XCTAssertGreaterThan(ahead.z, 0)
        }
    }

    func testTheIntegralOfTheRotationRateIsTheSumOfTheTurns() throws {
        let samples = try simulator(SimulatedHall.walk(square), settings()).motion
        let turned = try samples.map { sample in
            try XCTUnwrap(sample.attitude).rotate(try XCTUnwrap(sample.rotationRate)).z / 50
        }
        // Two right turns: clockwise, hence negative around the axis that points up.
        XCTAssertEqual(turned.reduce(0, +) * 180 / .pi, -180, accuracy: 0.5)
    }

    func testNoiseDoesNotShiftTheMeanRotationFromTheGyroscopesBias() throws {
        var settings = settings(noise: true)
        settings.sensors.rotationBias = 0
        let path = SimulatedHall.stay(at: square[0], seconds: 60)
        let rates = try simulator(path, settings, seed: 22).motion.compactMap { $0.rotationRate?.x }
        // 3000 values with 0.02 rad/s: four standard errors are 0.0015.
        XCTAssertEqual(mean(rates), 0, accuracy: 0.0015, "seed 22")
        XCTAssertEqual(mean(rates.map { $0 * $0 }).squareRoot(), 0.02, accuracy: 0.002, "seed 22")
    }

    func testTheStepsAddUpToThePath() throws {
        var settings = settings()
        settings.sensors.motionRate = 0
        settings.sensors.reportsSteps = true
        let readings = try simulator(SimulatedHall.walk(square), settings).sensorReadings()
        let steps = readings.compactMap { if case .step(let step) = $0 { step } else { nil } }
        XCTAssertEqual(steps.count, 42)  // 30 m with 0.7 m each
        var end = square[0]
        for step in steps {
            let course = try XCTUnwrap(step.heading) * .pi / 180
            end = end + MapPoint(x: sin(course), y: -cos(course)) * (try XCTUnwrap(step.length))
        }
        // The last step is incomplete, and corners are rounded off within a step.
        XCTAssertLessThan(end.distance(to: square[3]), 1.0)
    }

    func testAnElevatorRideHasNoSteps() throws {
        var settings = settings()
        settings.sensors.reportsSteps = true
        var points = [SimulatedHall.ground, SimulatedHall.upstairs].map {
            WalkPath.Point(mapID: $0, point: square[0], pause: 1)
        }
        let climbing = try simulator(WalkPath(points: points), settings)
        points[1].floorChange = .elevator
        let riding = try simulator(WalkPath(points: points), settings)
        XCTAssertEqual(climbing.duration.seconds, 2 + 4 / 0.3, accuracy: 1e-3)
        let count = { (walk: WalkSimulator) in
            walk.sensorReadings().filter { if case .step = $0 { true } else { false } }.count
        }
        XCTAssertEqual(count(climbing), 23)  // 4 m, 0.17 m a stair
        XCTAssertEqual(count(riding), 0)
    }
}
