import IndoorLocalization
import IndoorLocalizationTesting
import LiveMap
import ScanRecording
import VenuePackets
import XCTest

/// The content of a played recording.
final class LiveMapRecordingTests: XCTestCase {
    private static let stairs = Result { try play("stairs") }

    /// Plays a recording of the fixtures.
    private static func play(_ name: String) throws -> (content: LiveMapRecording, replayed: [SessionOutput]) {
        let venue = try VenuePacketReader().read(FixtureFolder("office").path).venue
        let path = try FixtureFolder("recordings/\(name)").path + "/scan.jsonl.gz"
        let readings = try RecordedReadings(path: path, strictness: .strict)
        var recorder = LiveMapRecorder()
        var replay = SessionReplay(venues: [venue])
        var all: [SessionOutput] = []
        func note(_ outputs: [SessionOutput]) {
            all += outputs
            recorder.note(outputs)
        }
        note(replay.start())
        while let reading = try readings.next(truth: { $0.waypoint.map { recorder.add($0) } }) {
            while let due = recorder.nextFrame(before: reading.instant) {
                note(replay.advance(to: due))
                recorder.add(replay.snapshot(particles: recorder.particles))
            }
            note(replay.handle(reading))
        }
        note(replay.finish())
        return (recorder.recording(title: name, venues: [venue]), all)
    }

    private func stairs() throws -> LiveMapRecording { try Self.stairs.get().content }

    private func frames() async throws -> [LiveMapFrame] {
        try await stairs().frames(from: -.infinity, to: .infinity, limit: .max)
    }

    func testFramesComeAtTheIntervalFromTheFirstReadingToTheLast() async throws {
        let times = try await frames().map(\.t)
        let overview = try await stairs().overview()
        XCTAssertEqual(times.first, overview.start)
        XCTAssertEqual(times.last, overview.end)
        for (time, next) in zip(times, times.dropFirst()) { XCTAssertEqual(next - time, 0.5, accuracy: 1e-6) }
        XCTAssertGreaterThan(times.count, 60)
        XCTAssertEqual(overview.mode, .recording)
        XCTAssertEqual(overview.title, "stairs")
        XCTAssertEqual(overview.venues.map(\.name).count, 1)
    }

    func testFramesHaveTheTruthAndTheErrorOfTheEstimate() async throws {
        let frames = try await frames().filter { $0.estimate != nil && $0.truth != nil }
        XCTAssertGreaterThan(frames.count, 50)
        let errors = frames.compactMap(\.error)
        XCTAssertGreaterThan(Double(errors.count), 0.8 * Double(frames.count), "on the same map most of the time")
        XCTAssertLessThan(errors.sorted()[errors.count / 2], 3, "the median error in metres")
        for frame in frames where frame.error != nil {
            guard let estimate = frame.estimate, let truth = frame.truth, estimate.mapId == truth.mapId else {
                continue
            }
            let distance = MapPoint(x: estimate.x, y: estimate.y).distance(to: MapPoint(x: truth.x, y: truth.y))
            // The estimate is up to half a second older than the frame.
            XCTAssertEqual(try XCTUnwrap(frame.error), distance, accuracy: 1)
        }
    }

    func testLevelsParticlesAndBeaconsAreShown() async throws {
        let all = try await frames()
        let frame = try XCTUnwrap(all.last { $0.state == "localizationRunning" })
        XCTAssertEqual(try XCTUnwrap(frame.levels).reduce(0) { $0 + $1.probability }, 1, accuracy: 1e-3)
        XCTAssertEqual(try XCTUnwrap(frame.particles).reduce(0) { $0 + LiveMapStage.points($1).count }, 300)
        let beacons = try XCTUnwrap(frame.beacons)
        XCTAssertGreaterThan(beacons.count, 3)
        XCTAssertTrue(beacons.contains { $0.isKnown && $0.expected != nil && $0.deviation != nil })
        XCTAssertTrue(beacons.allSatisfy { $0.age <= 30 })
    }

    func testEventsShowStatesFloorsAndRooms() async throws {
        let events = try await stairs().events()
        XCTAssertEqual(events.map(\.t), events.map(\.t).sorted())
        XCTAssertEqual(events.first?.text, "Fetching the list of venues")
        XCTAssertEqual(events.last?.text, "No session is running")
        // An event has no progress, which would stay at 0 %.
        let downloads = Set(events.map(\.text).filter { $0.hasPrefix("Downloading") })
        XCTAssertEqual(downloads, ["Downloading the packet of venue 1"])
        let floors = events.filter { $0.kind == .floor }
        XCTAssertEqual(floors.map(\.text), ["Changed the floor to Upper floor"])
        XCTAssertEqual(floors.map(\.mapId), [2])
        XCTAssertTrue(events.contains { $0.kind == .area && $0.text.hasPrefix("Entered the room") })
    }

    func testFramesAndEventsHaveOneSequenceOfNumbers() async throws {
        let numbers = try await frames().map(\.id) + stairs().events().map(\.id)
        XCTAssertEqual(numbers.sorted(), Array(1...numbers.count))
    }

    /// The frames don't change what the session emits.
    func testTheOutputsAreThoseOfAReplayWithoutFrames() throws {
        let venue = try VenuePacketReader().read(FixtureFolder("office").path).venue
        let path = try FixtureFolder("recordings/stairs").path + "/scan.jsonl.gz"
        let readings = try RecordedReadings(path: path, strictness: .strict)
        var replay = SessionReplay(venues: [venue])
        var expected = replay.start()
        while let reading = try readings.next(truth: { _ in }) { expected += replay.handle(reading) }
        expected += replay.finish()
        XCTAssertEqual(try Self.stairs.get().replayed, expected)
    }

    func testARequestReturnsTheFramesOfAnInterval() async throws {
        let all = try await frames()
        let (content, times) = (try stairs(), all.map(\.t))
        let some = await content.frames(from: times[10], to: times[20], limit: 100)
        XCTAssertEqual(some, Array(all[10...20]))
        let few = await content.frames(from: times[10], to: times[20], limit: 3)
        XCTAssertEqual(few, Array(all[10..<13]))
        let none = await content.frames(from: 1e9, to: 2e9, limit: 100)
        XCTAssertEqual(none, [])
    }

    func testAGapOfTheRecordingHasFewFrames() {
        var recorder = LiveMapRecorder(interval: .seconds(1))
        var due: [Double] = []
        for reading in [0.0, 2.5, 1e6, 1e6 + 1] {
            while let instant = recorder.nextFrame(before: Instant(seconds: reading)) { due.append(instant.seconds) }
        }
        XCTAssertEqual(due.prefix(3), [0, 1, 2])
        XCTAssertEqual(due.count, 3 + 120 + 2)
        XCTAssertEqual(due.suffix(3), [122, 1e6, 1e6 + 1])
    }

    func testTheTruthOfAStayAndOfAWalk() async {
        var recorder = LiveMapRecorder()
        let waypoints: [(seconds: Double, map: MapID, x: Double, isHold: Bool)] = [
            (10, 1, 0, false), (20, 1, 10, true), (30, 2, 5, false), (40, 1, 7, false),
        ]
        for waypoint in waypoints {
            recorder.add(
                SurveyRecording.Waypoint(
                    instant: Instant(seconds: waypoint.seconds), mapID: waypoint.map,
                    point: MapPoint(x: waypoint.x, y: 1), isHold: waypoint.isHold))
        }
        for second in [9.0, 10, 12.5, 20, 29, 30, 35, 40, 41] {
            recorder.add(SessionSnapshot(instant: Instant(seconds: second), state: .searchVenue))
        }
        let frames = await recorder.recording(title: "", venues: []).frames(from: 0, to: 99, limit: 99)
        XCTAssertEqual(frames.map { $0.truth?.x }, [nil, 0, 2.5, 10, 10, 5, nil, 7, nil])
        XCTAssertEqual(frames.map { $0.truth?.mapId }, [nil, 1, 1, 1, 1, 2, nil, 1, nil])
    }

    func testAnHourNeedsSomeTensOfMegabytes() async throws {
        let frames = try await frames()
        let encoder = JSONEncoder()
        let bytes = try frames.reduce(0) { try $0 + encoder.encode($1).count }
        // At two frames a second. In memory, the particles, the largest part, need as many bytes.
        let hour = Double(bytes) / Double(frames.count) * 7200
        XCTAssertLessThan(hour, 60e6, "bytes of an hour")
    }

    func testALongRecordingHasFewerFramesASecond() async throws {
        var recorder = LiveMapRecorder(interval: .milliseconds(500), frameLimit: 8)
        var counts: [Int] = []
        for second in 0...20 {
            while let due = recorder.nextFrame(before: Instant(seconds: Double(second))) {
                recorder.add(SessionSnapshot(instant: due, state: .searchVenue))
            }
            counts.append(await recorder.recording(title: "", venues: []).frames(from: 0, to: 99, limit: 99).count)
        }
        XCTAssertEqual(counts.max(), 8)
        XCTAssertEqual(recorder.interval, .seconds(4))
        let frames = await recorder.recording(title: "", venues: []).frames(from: 0, to: 99, limit: 99)
        XCTAssertEqual(frames.map(\.t), [0, 4, 8, 12, 16, 20])
    }

    func testADocumentHasAllContentAndItsImages() async throws {
        struct Plans: LiveMapPlans {
            func image(of map: VenueMap, in venue: Venue) async -> LiveMapImage? {
                map.id == 40 ? LiveMapImage(bytes: [1, 2, 3], mediaType: "image/png") : nil
            }
            func tiles(of map: VenueMap, in venue: Venue) async -> LiveMapVenue.Tiles? {
                LiveMapVenue.Tiles(width: 9, height: 9, tileSize: 9, overlap: 0, format: "png")
            }
            func tile(
                of map: VenueMap, in venue: Venue, level: Int, column: Int, row: Int
            ) async -> LiveMapImage? {
                LiveMapImage(bytes: [UInt8(level), UInt8(column), UInt8(row)], mediaType: "image/png")
            }
        }
        var recorder = LiveMapRecorder()
        recorder.add(SessionSnapshot(instant: Instant(seconds: 3), state: .searchVenue))
        recorder.note([LiveMapStage.output(.state(.searchVenue), at: 3)])
        let content = recorder.recording(title: "walk", venues: [LiveMapStage.hall], plans: Plans())
        let document = await content.document()
        XCTAssertEqual(document.plans, [.init(venueId: 4, mapId: 40, url: "data:image/png;base64,AQID")])
        XCTAssertEqual(document.overview.venues[0].maps.map(\.hasImage), [true, false])
        XCTAssertEqual(document.overview.venues[0].maps.map { $0.tiles == nil }, [true, true])
        XCTAssertEqual(document.frames.map(\.t), [3])
        XCTAssertEqual(document.events.map(\.kind), [.state])
        XCTAssertEqual(document.overview.title, "walk")

        let live = await content.overview()
        XCTAssertEqual(live.venues[0].maps.map { $0.tiles != nil }, [true, true])
        let tile = await content.tile(venue: 4, map: 41, level: 1, column: 2, row: 3)
        XCTAssertEqual(tile?.bytes, [1, 2, 3])
        let unknown = await content.tile(venue: 4, map: 49, level: 1, column: 2, row: 3)
        XCTAssertNil(unknown)
    }

    func testARecordingAcceptsNoMarksAndHasNoUpdates() async throws {
        let content = try stairs()
        let reason = await content.mark(.init(mapId: 1, x: 1, y: 1))
        XCTAssertEqual(reason, "Marks are stored in a running session only, not in a recording.")
        let updates = try await Bounded.all(await content.updates(after: nil))
        XCTAssertEqual(updates, [])
    }
}
