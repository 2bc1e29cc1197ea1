import IndoorLocalization
import XCTest

@testable import IndoorPositioning

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
