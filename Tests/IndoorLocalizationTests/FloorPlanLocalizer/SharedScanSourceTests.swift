import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class SharedScanSourceTests: XCTestCase {
    private typealias Reading = SensorReading

    func testAllReadersGetAllReadingsOfOneScan() async throws {
        let radio = ScriptedSource()
        let shared = SharedScanSource(radio)
        let streams = (0..<3).map { _ in shared.readings() }
        XCTAssertEqual(radio.scanCount, 1)
        let walk = LocalizerStage.walk(from: 0, for: 1)
        for reading in walk { radio.send(reading) }
        radio.finish()
        for stream in streams {
            let heard = try await Self.all(stream)
            XCTAssertEqual(heard, walk)
        }
    }

    func testTheLastReaderEndsTheScanAndTheNextOneBeginsAnother() async throws {
        let radio = ScriptedSource()
        let shared = SharedScanSource(radio)
        for round in 1...3 {
            let tasks = (0..<2).map { _ in
                let stream = shared.readings()
                return Task { try await Self.all(stream) }
            }
            XCTAssertEqual(radio.scanCount, round)
            tasks[0].cancel()
            _ = try? await tasks[0].value
            XCTAssertEqual(radio.runningScanCount, 1, "one still listens")
            tasks[1].cancel()
            _ = try? await tasks[1].value
            try await Bounded.wait(for: "the end of the scan") { try await radio.waitUntilNothingRuns() }
        }
    }

    func testALateReaderReceivesReadingsFromThenOn() async throws {
        let radio = ScriptedSource()
        let shared = SharedScanSource(radio)
        let early = shared.readings()
        radio.send(SessionStage.heard(1, at: 1))
        var iterator = early.makeAsyncIterator()
        let first = try await iterator.next()
        XCTAssertEqual(first, SessionStage.heard(1, at: 1))
        let late = shared.readings()
        radio.send(SessionStage.heard(1, at: 2))
        radio.finish()
        let heard = try await Self.all(late)
        XCTAssertEqual(heard, [SessionStage.heard(1, at: 2)])
    }

    func testAFixReachesAllSessionsOnItsFloorPlan() async throws {
        let radio = ScriptedSource()
        let shared = SharedScanSource(radio)
        var venue = SessionStage.office
        venue.maps[0].georeference = .center(Coordinate(latitude: 52, longitude: 13), bearing: 0)
        let stages = [0, 0, 1].map { FloorPlanLocalizerStage(radio, sharing: shared, map: $0, venue: venue) }
        for stage in stages {
            await stage.positioner.start()
            try await stage.reach("waitingForFix")
        }
        let streams = stages.map { $0.positioner.positions }
        let plan = FloorPlan(venueID: 1, map: venue.maps[0])
        let place = MapPoint(x: 33, y: 21)
        let coordinate = try XCTUnwrap(try plan.map.geoTransform()).coordinate(at: place)
        let count = try shared.submit(coordinate, on: plan, radius: 0.5)
        XCTAssertEqual(count, 3, "all that listen")
        // It waits for the first reading, which tells the radio's time.
        for reading in LocalizerStage.walk(from: FloorPlanLocalizerStage.beginning, for: 2.5) { radio.send(reading) }
        for stream in streams.prefix(2) {
            // The first look may come before the place does.
            let seen = try await Bounded.elements(of: stream, until: "a position near the place") {
                $0.point.distance(to: place) < 8
            }
            XCTAssertLessThan(seen.count, 6, "near the place from the first looks on, not the beacons at 5, 5")
        }
        let other = try await Bounded.first(1, of: streams[2])[0]
        XCTAssertEqual(other.mapID, 11)
        XCTAssertGreaterThan(other.point.distance(to: place), 8, "a place on another floor plan is ignored")
        XCTAssertThrowsError(try shared.submit(coordinate, on: plan, radius: 0)) { error in
            XCTAssertEqual(error as? FixError, .invalidRadius(0))
        }
        let far = Coordinate(latitude: 53, longitude: 13)
        XCTAssertThrowsError(try shared.submit(far, on: plan, radius: 3), "111 km off the plan")
        // An optimized build destroys the sessions after their last use.
        for stage in stages { await stage.positioner.stop() }
    }

    func testAFixWithoutReadersReachesNone() async throws {
        let shared = SharedScanSource(ScriptedSource())
        let fix = Fix(instant: .zero, mapID: 10, point: MapPoint(x: 1, y: 1), radius: 1)
        XCTAssertEqual(shared.submit(fix), 0)
    }

    func testAFixHasTheInstantOfTheLatestReading() async throws {
        let radio = ScriptedSource()
        let shared = SharedScanSource(radio)
        let stream = shared.readings()
        radio.send(SessionStage.heard(1, at: 7))
        var iterator = stream.makeAsyncIterator()
        _ = try await iterator.next()
        shared.submit(Fix(instant: .zero, mapID: 10, point: MapPoint(x: 1, y: 1), radius: 1))
        let reading = try await iterator.next()
        XCTAssertEqual(reading, SessionStage.fix(10, 1, 1, at: 7))
    }

    func testAFailureReachesAllReaders() async throws {
        let radio = ScriptedSource()
        let shared = SharedScanSource(radio)
        let streams = (0..<2).map { _ in shared.readings() }
        radio.fail(SessionStage.network)
        for stream in streams {
            do {
                _ = try await Self.all(stream)
                XCTFail("the failure was not told")
            } catch {
                XCTAssertEqual(error as? LocalizationError, SessionStage.network)
            }
        }
        _ = shared.readings()
        XCTAssertEqual(radio.scanCount, 2)
    }

    func testEachReaderPlaysARecordingFromItsBeginning() async throws {
        let walk = LocalizerStage.walk(from: 0, for: 1)
        let shared = SharedScanSource(ScriptedSource(walk))
        XCTAssertEqual(shared.pace, .recorded)
        for _ in 0..<2 {
            let heard = try await Self.all(shared.readings())
            XCTAssertEqual(heard, walk)
        }
    }

    private static func all(_ stream: AsyncThrowingStream<Reading, any Error>) async throws -> [Reading] {
        try await Bounded.wait(for: "the end of a scan") {
            var readings: [Reading] = []
            for try await reading in stream { readings.append(reading) }
            return readings
        }
    }
}
