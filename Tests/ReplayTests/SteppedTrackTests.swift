import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets
import XCTest

/// A replay of only the steps of a track in the office: 61 m through doors, near a gap in the outer walls.
final class SteppedTrackTests: XCTestCase {
    private static let seeds: [UInt64] = [0, 1, 2]

    private func track() throws -> (steps: [SensorReading], truths: [Truth]) {
        var reader = try RecordingReader(path: FixtureFolder("office/tracks").file("ground.jsonl"))
        var steps: [SensorReading] = []
        var truths: [Truth] = []
        while let entry = try reader.next() {
            if case .truth(let truth) = entry { truths.append(truth) }
            if case .measurement(let reading) = entry, case .step = reading { steps.append(reading) }
        }
        return (steps, truths)
    }

    private func positions(of steps: [SensorReading], seed: UInt64) throws -> [Position] {
        let venue = try VenuePacketReader().read(FixtureFolder("office").path).venue
        var settings = LocalizationSettings()
        settings.forcedVenue = venue.id
        var replay = SessionReplay(venues: [venue], settings: settings, seed: seed)
        var outputs = replay.start()
        outputs += replay.handle(.fix(Fix(instant: .zero, mapID: 1, point: MapPoint(x: 3, y: 10), radius: 1)))
        for step in steps { outputs += replay.handle(step) }
        outputs += replay.finish()
        return outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
    }

    func testStepsAloneKeepThePositionInTheBuilding() throws {
        let (steps, truths) = try track()
        XCTAssertEqual(steps.count, 86)
        for seed in Self.seeds {
            let reported = try positions(of: steps, seed: seed)
            var errors: [Double] = []
            var inside = 0
            for truth in truths {
                guard let point = truth.point, let latest = reported.last(where: { $0.instant <= truth.instant }) else {
                    continue
                }
                errors.append(latest.point.distance(to: point))
                if latest.point.distance(to: point) <= latest.radius { inside += 1 }
            }
            XCTAssertGreaterThan(errors.count, 60, "seed \(seed)")
            XCTAssertLessThan(errors.reduce(0, +) / Double(errors.count), 1, "m on average, seed \(seed)")
            XCTAssertLessThan(errors.max() ?? .infinity, 3, "m at most, seed \(seed)")
            XCTAssertGreaterThan(Double(inside) / Double(errors.count), 0.68, "seed \(seed)")
            let end = try XCTUnwrap(reported.last)
            XCTAssertLessThan(end.point.distance(to: MapPoint(x: 31.5, y: 16)), 2, "seed \(seed)")
        }
    }

    func testTheCourseEqualsThatOfTheStepsAndIsNilBeforeThem() throws {
        var (steps, _) = try track()
        let rest = SensorReading.motion(
            MotionSample(instant: .zero, acceleration: Vector3(x: 0, y: 0, z: 9.81)))
        XCTAssertNil(try XCTUnwrap(positions(of: [rest], seed: 0).first).course)
        // East along the lobby, initially.
        steps = Array(steps.prefix(4))
        let last = try XCTUnwrap(positions(of: steps, seed: 0).last?.course)
        XCTAssertEqual(last, 90, accuracy: 25)
    }
}
