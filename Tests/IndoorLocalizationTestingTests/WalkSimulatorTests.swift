import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

final class WalkScriptTests: XCTestCase {
    private let head = "\"format\": \"indoor-localization-walk\", \"version\": 1"

    private func failure(_ json: String) -> SimulationError? {
        do {
            _ = try WalkSimulator(venue: SimulatedHall.venue(), script: WalkScript(json: json.utf8), seed: 1)
            return nil
        } catch {
            return error
        }
    }

    func testEveryFieldIsRead() throws {
        let script = try WalkScript(
            json: """
                {\(head), "name": "n", "speed": 1.5, "points": [
                {"mapId": 1, "x": 3, "y": 4, "pause": 5, "heading": 90, "unknown": []},
                {"mapId": 2, "x": 9.5, "y": 7, "by": "elevator", "seconds": 14, "speed": 2, "outdoors": true}],
                "settings": {"radio.wallLoss": 5, "sensors.reportsSteps": true, "radio.environmentSeed": 9}}
                """.utf8)
        var settings = SimulationSettings()
        settings.radio.wallLoss = 5
        settings.sensors.reportsSteps = true
        settings.radio.environmentSeed = 9
        let points = [
            WalkPath.Point(mapID: 1, point: MapPoint(x: 3, y: 4), pause: 5, heading: 90),
            WalkPath.Point(
                mapID: 2, point: MapPoint(x: 9.5, y: 7), seconds: 14, speed: 2, isOutdoors: true,
                floorChange: .elevator),
        ]
        XCTAssertEqual(
            script, WalkScript(path: WalkPath(name: "n", speed: 1.5, points: points), settings: settings))
    }

    func testAnInvalidDocumentIsRejectedWithTheField() {
        let cases: [(String, String)] = [
            ("", "$"),
            ("{\(head)}", "$.points"),
            ("{\(head), \"points\": [{\"mapId\": 1, \"x\": 1}]}", "$.points[0].y"),
            ("{\(head), \"points\": [{\"mapId\": 1, \"x\": \"a\", \"y\": 1}]}", "$.points[0].x"),
            ("{\(head), \"points\": [{\"mapId\": 1, \"x\": 1, \"y\": 1, \"by\": \"rope\"}]}", "$.points[0].by"),
        ]
        for (json, expected) in cases {
            guard case .malformedDocument(let field, _)? = failure(json) else {
                XCTFail("\(json) gave \(String(describing: failure(json)))")
                continue
            }
            XCTAssertEqual(field, expected, json)
        }
    }

    func testInvalidContentIsRejectedWithItsName() {
        let point = "{\"mapId\": 1, \"x\": 1, \"y\": 1}"
        let upstairs = "{\"mapId\": 2, \"x\": 1, \"y\": 1, \"outdoors\": true}"
        let cases: [(String, SimulationError)] = [
            ("{\"format\": \"other\", \"version\": 1, \"points\": []}", .unsupportedFormat("\"other\", version 1,")),
            ("{\(head), \"points\": []}", .noPoints),
            ("{\(head), \"points\": [{\"mapId\": 9, \"x\": 1, \"y\": 1}]}", .unknownMap(9, field: "points[0].mapId")),
            ("{\(head), \"points\": [\(point), \(upstairs)]}", .noGeoreference(2, field: "points[1].outdoors")),
            (
                "{\(head), \"points\": [\(point)], \"settings\": {\"radio.wallloss\": 1}}",
                .unknownSetting("radio.wallloss")
            ),
            (
                "{\(head), \"points\": [\(point)], \"settings\": {\"radio.wallLoss\": true}}",
                .wrongKindOfSetting("radio.wallLoss", expected: "a number")
            ),
            (
                "{\(head), \"points\": [\(point)], \"settings\": {\"radio.wallLoss\": 41}}",
                .outOfRange(field: "settings.radio.wallLoss", value: 41, allowed: "0.0 to 40.0")
            ),
            (
                "{\(head), \"speed\": 0, \"points\": [\(point)]}",
                .outOfRange(field: "speed", value: 0, allowed: "0.001 to 1000000.0")
            ),
        ]
        for (json, expected) in cases { XCTAssertEqual(failure(json), expected, json) }
    }

    func testEveryNamedSettingCanBeSet() {
        for name in SimulationSettings.names {
            // One of these is in the range of each setting: shares and lengths, dBm, hPa, and flags.
            let values: [SimulationSettings.Value] = [.number(1), .number(-50), .number(900), .flag(true)]
            let accepted = values.contains { value in
                var settings = SimulationSettings()
                return (try? settings.set(name, to: value)) != nil
            }
            XCTAssertTrue(accepted, name)
        }
        XCTAssertEqual(SimulationSettings.names.count, Set(SimulationSettings.names).count)
    }

    func testTheDefaultSettingsAreInTheirRanges() throws {
        XCTAssertNoThrow(try SimulationSettings().check())
    }
}

final class WalkSimulatorTests: XCTestCase {
    private let corner = MapPoint(x: 10, y: 10)

    private func everything() -> SimulationSettings {
        var settings = SimulationSettings()
        settings.sensors.motionRate = 50
        settings.sensors.reportsSteps = true
        return settings
    }

    private func simulator(seed: UInt64, _ settings: SimulationSettings? = nil) throws -> WalkSimulator {
        let path = SimulatedHall.walk([corner, SimulatedHall.middle, MapPoint(x: 30, y: 12)])
        return try WalkSimulator(
            venue: SimulatedHall.venue(beacons: 5), path: path, settings: settings ?? everything(), seed: seed)
    }

    func testTheSeedDeterminesTheWalk() throws {
        XCTAssertEqual(try simulator(seed: 5).entries(), try simulator(seed: 5).entries())
        XCTAssertNotEqual(try simulator(seed: 5).entries(), try simulator(seed: 6).entries())
    }

    private struct Stopped: Error {}

    func testACheckEndsTheSimulationAtEachOfItsReadings() throws {
        let simulator = try simulator(seed: 5)
        var checks = 0
        let entries = try simulator.entries { () throws(Stopped) in checks += 1 }
        XCTAssertEqual(entries, simulator.entries())
        let checked = entries.count {
            switch $0 {
            case .measurement(.sighting), .measurement(.motion), .measurement(.step): true
            default: false
            }
        }
        XCTAssertGreaterThan(checked, 500)
        XCTAssertGreaterThanOrEqual(checks, checked)
        for last in [1, checks / 2, checks] {
            var count = 0
            let check = { () throws(Stopped) in
                count += 1
                if count == last { throw Stopped() }
            }
            XCTAssertThrowsError(try simulator.entries(check: check)) { XCTAssertTrue($0 is Stopped) }
            XCTAssertEqual(count, last)
        }
    }

    func testAWalkThatWouldExhaustTheMemoryIsRejectedBeforeItBegins() throws {
        let far = SimulatedHall.walk([corner, MapPoint(x: 1e6, y: 10)])
        let hall = SimulatedHall.venue(beacons: 5)
        XCTAssertThrowsError(try WalkSimulator(venue: hall, path: far, seed: 1)) { error in
            guard case .tooLong(let hours, let readings)? = error as? SimulationError else {
                return XCTFail("\(error)")
            }
            XCTAssertEqual(hours, 1e6 / 3600, accuracy: 1)
            XCTAssertGreaterThan(readings, 1e7)
            XCTAssertTrue("\(error)".contains("at most 24 h and 3000000"), "\(error)")
        }
        // A short walk among many beacons exceeds the limit too.
        let crowd = SimulatedHall.venue(beacons: 5)
        var settings = SimulationSettings()
        settings.sensors.motionRate = 1000
        let hour = SimulatedHall.stay(at: corner, seconds: 3600)
        XCTAssertThrowsError(try WalkSimulator(venue: crowd, path: hour, settings: settings, seed: 1))
        XCTAssertNoThrow(try WalkSimulator(venue: crowd, path: hour, seed: 1))
    }

    func testTheSimulatorFindsLegsThroughWalls() throws {
        var hall = SimulatedHall.venue(beacons: 1)
        hall.maps[0].walls = [
            [MapPoint(x: 15, y: 0), MapPoint(x: 15, y: 12)], [MapPoint(x: 25, y: 0), MapPoint(x: 25, y: 30)],
        ]
        let path = SimulatedHall.walk([
            MapPoint(x: 10, y: 5), MapPoint(x: 12, y: 14), MapPoint(x: 20, y: 14), MapPoint(x: 10, y: 6),
            MapPoint(x: 30, y: 6),
        ])
        let simulator = try WalkSimulator(venue: hall, path: path, seed: 1)
        XCTAssertEqual(simulator.wallCrossings.map(\.point), [3, 4], "the first legs use the door")
        XCTAssertEqual(simulator.wallCrossings.map(\.walls), [1, 2])
    }

    func testEntriesAreOrderedByTime() throws {
        let instants = try simulator(seed: 5).entries().compactMap(\.instant)
        XCTAssertEqual(instants, instants.sorted())
    }

    func testAddingASensorDoesNotChangeTheRadio() throws {
        let more = try simulator(seed: 5)
        let less = try simulator(seed: 5, SimulationSettings())
        XCTAssertEqual(more.sightings, less.sightings)
        XCTAssertFalse(less.sightings.isEmpty)
    }

    func testTheSourceEmitsTheReadingsOfTheWalk() async throws {
        let simulator = try simulator(seed: 5)
        var readings: [SensorReading] = []
        for try await reading in simulator.readings() { readings.append(reading) }
        XCTAssertEqual(readings, simulator.sensorReadings())
    }

    func testTheGroundTruthFollowsThePath() throws {
        let truths = try truths(of: simulator(seed: 5))
        for truth in truths {
            let distance = (truth.instant.seconds, try XCTUnwrap(truth.point))
            guard distance.0 < corner.distance(to: SimulatedHall.middle) else { continue }
            XCTAssertEqual(distance.1.distance(to: corner), distance.0, accuracy: 0.002)  // at 1 m/s
        }
        XCTAssertEqual(truths.first?.point, corner)
        XCTAssertEqual(truths.last?.point, MapPoint(x: 30, y: 12))
    }

    func testAPauseIsHeldUntilItsEnd() throws {
        let path = SimulatedHall.stay(at: corner, seconds: 12)
        let truths = try truths(of: WalkSimulator(venue: SimulatedHall.venue(), path: path, seed: 1))
        XCTAssertEqual(truths.map(\.instant), [Instant(seconds: 0), Instant(seconds: 12)])
        XCTAssertEqual(truths.map(\.isHold), [true, false])
    }

    func testStairsChangeTheMapHalfWayAndThePressureEvenly() throws {
        var settings = SimulationSettings()
        settings.sensors.pressureNoise = 0
        settings.sensors.pressureDrift = 0
        let points = [
            WalkPath.Point(mapID: SimulatedHall.ground, point: corner),
            WalkPath.Point(mapID: SimulatedHall.upstairs, point: corner, seconds: 20),
        ]
        let walk = try WalkSimulator(
            venue: SimulatedHall.venue(), path: WalkPath(points: points), settings: settings, seed: 1)
        for truth in truths(of: walk) {
            let expected = truth.instant.seconds < 10 ? SimulatedHall.ground : SimulatedHall.upstairs
            XCTAssertEqual(truth.mapID, expected, "at \(truth.instant.seconds) s")
        }
        let pressures = walk.sensorReadings().compactMap { reading -> Double? in
            if case .pressure(let sample) = reading { sample.hectopascals } else { nil }
        }
        XCTAssertEqual(pressures.count, 21)
        // 0.12 hPa per metre near sea level: in ISO 2533's table, the pressure at 100 m is 12 hPa lower.
        XCTAssertEqual((pressures.first ?? 0) - (pressures.last ?? 0), 4 * 0.12, accuracy: 0.005)
        XCTAssertEqual(pressures, pressures.sorted(by: >))
    }

    func testAnOutdoorLegHasGNSSPositionsAndNoMap() throws {
        let points = [
            WalkPath.Point(mapID: SimulatedHall.ground, point: corner),
            WalkPath.Point(mapID: SimulatedHall.ground, point: MapPoint(x: 0, y: 10)),
            WalkPath.Point(mapID: SimulatedHall.ground, point: MapPoint(x: -200, y: 10), isOutdoors: true),
        ]
        let path = WalkPath(speed: 1, points: points)
        let walk = try WalkSimulator(venue: SimulatedHall.venue(), path: path, seed: 3)
        let fixes = walk.sensorReadings().compactMap { if case .gnss(let fix) = $0 { fix } else { nil } }
        XCTAssertEqual(fixes.map(\.instant.seconds), (10...210).map(Double.init))
        for truth in truths(of: walk) {
            XCTAssertEqual(truth.room, truth.instant.seconds < 10 ? nil : WalkSimulator.outdoors)
            XCTAssertEqual(truth.point == nil, truth.instant.seconds >= 10)
        }
        let transform = try XCTUnwrap(SimulatedHall.venue().maps[0].geoTransform())
        let inside = fixes.filter { fix in
            let truth = MapPoint(x: 10 - fix.instant.seconds, y: 10)
            return transform.point(at: fix.coordinate).distance(to: truth) <= fix.accuracy
        }
        // The errors over 200 s are seven independent ones: the share is 0.68 with a standard error of 0.18.
        XCTAssertEqual(Double(inside.count) / Double(fixes.count), 0.68, accuracy: 0.36, "seed 3")
    }

    func testARecordingOfTheWalkReadsBackEqual() throws {
        let simulator = try simulator(seed: 5)
        let path = NSTemporaryDirectory() + "walk-\(ProcessInfo.processInfo.processIdentifier).jsonl.gz"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var writer = try RecordingWriter(path: path, header: simulator.header)
        let entries = simulator.entries()
        for entry in entries { try writer.write(entry) }
        try writer.close()
        var reader = try RecordingReader(path: path)
        XCTAssertEqual(try reader.readAll(), [.header(simulator.header)] + entries)
    }

    private func truths(of simulator: WalkSimulator) -> [Truth] {
        simulator.entries().compactMap { if case .truth(let truth) = $0 { truth } else { nil } }
    }
}

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
