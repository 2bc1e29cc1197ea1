import IndoorLocalization
import IndoorLocalizationTesting
import LiveMap
import XCTest

/// The content of a running session, whose outputs and snapshots a test scripts.
final class LiveMapSessionTests: XCTestCase {
    /// A scripted session, a clock and the content.
    private struct Stage {
        let clock = ManualClock()
        let outputs: AsyncStream<SessionOutput>.Continuation
        let snapshots = WatchedState(0)
        let content: LiveMapSession
        private let run: Task<Void, Never>

        /// - Parameter snapshot: returns the snapshot with a number from 1.
        init(
            firstID: Int = 1000, marks: (@Sendable (LiveMapFrame.Place) async -> String?)? = nil,
            snapshot: @escaping @Sendable (Int) -> SessionSnapshot = { number in
                SessionSnapshot(
                    instant: .zero, state: LiveMapStage.running(),
                    position: LiveMapStage.position(Double(number), at: 0))
            }
        ) {
            let (stream, continuation) = AsyncStream.makeStream(of: SessionOutput.self)
            outputs = continuation
            content = LiveMapSession(
                outputs: stream, title: "stage", clock: clock, firstID: firstID, marks: marks
            ) { [snapshots] _ in
                let number = snapshots.update { count in
                    count += 1
                    return count
                }
                return snapshot(number)
            }
            run = Task { [content] in await content.run() }
        }

        func emit(_ contents: SessionOutput.Content...) {
            for content in contents { outputs.yield(LiveMapStage.output(content)) }
        }

        /// Emits an event and waits until the content has it, and so all outputs before.
        func settle(_ name: String = "settled") async throws {
            emit(.error(LocalizationError(code: .generic, message: name)))
            try await Bounded.poll(for: "the event \(name)") {
                await content.events().contains { $0.text.contains(name) }
            }
        }

        /// Advances the clock by the interval of frames.
        func passInterval() async throws {
            let due = try await Bounded.wait(for: "the alarm of a frame") { try await clock.waitForSleeper() }
            clock.advance(to: due)
        }

        func end() async {
            outputs.finish()
            await run.value
        }
    }

    private func frame(_ update: LiveMapUpdate?) -> LiveMapFrame? {
        if case .frame(let frame) = update { frame } else { nil }
    }

    func testWithoutReadersNoSnapshotIsTaken() async throws {
        let stage = Stage()
        stage.emit(.state(.started), .state(.searchVenue), .state(LiveMapStage.running()))
        for second in 0..<20 {
            stage.emit(.position(LiveMapStage.position(Double(second), at: Double(second))))
            stage.clock.advance(by: .seconds(1))
        }
        try await stage.settle()
        _ = await stage.content.overview()
        _ = await stage.content.frames(from: 0, to: 100, limit: 100)
        // A stream that nobody reads is no reader.
        _ = await stage.content.updates(after: nil)
        try await stage.settle("again")
        XCTAssertEqual(stage.snapshots.value, 0)
        XCTAssertEqual(stage.clock.deadlines, [])
        await stage.end()
    }

    func testTheTrailIsKeptWithoutReaders() async throws {
        let stage = Stage()
        stage.emit(.state(LiveMapStage.running()), .position(LiveMapStage.position(7, at: 3)))
        try await stage.settle()
        stage.clock.advance(by: .seconds(5))
        stage.emit(.position(LiveMapStage.position(8, at: 8)))
        try await stage.settle("again")
        let frames = await stage.content.frames(from: 0, to: 100, limit: 100)
        XCTAssertEqual(frames.map { $0.estimate?.x }, [7, 8])
        XCTAssertEqual(frames.map(\.t), [0, 5])
        XCTAssertEqual(frames.map(\.mapId), [40, 40])
        // Without a snapshot, these are unknown, and not empty.
        XCTAssertTrue(frames.allSatisfy { $0.levels == nil && $0.particles == nil && $0.beacons == nil })
        let late = await stage.content.frames(from: 1, to: 100, limit: 100)
        XCTAssertEqual(late.map { $0.estimate?.x }, [8])
        let limited = await stage.content.frames(from: 0, to: 100, limit: 1)
        XCTAssertEqual(limited.map { $0.estimate?.x }, [7])
        await stage.end()
    }

    func testAReaderGetsTheLatestFrameAtOnceAndThenOneForTheChangesOfAnInterval() async throws {
        let stage = Stage()
        let updates = await stage.content.updates(after: nil)
        let reader = Task {
            try await Bounded.elements(of: updates, until: "the second frame") {
                if case .frame(let frame) = $0 { frame.t > 0 } else { false }
            }
        }
        let rest = try await Bounded.wait(for: "the frame of rest") { try await stage.clock.waitForSleeper() }
        XCTAssertEqual(rest, Instant(seconds: 1))
        XCTAssertEqual(stage.snapshots.value, 1)

        stage.emit(.position(LiveMapStage.position(1, at: 1)), .position(LiveMapStage.position(2, at: 1)))
        try await stage.settle()
        try await stage.passInterval()
        let frames = try await reader.value.compactMap(frame)
        XCTAssertEqual(frames.map { $0.estimate?.x }, [1, 2])
        XCTAssertEqual(frames.map(\.t), [0, 0.1])
        XCTAssertEqual(stage.snapshots.value, 2)
        await stage.end()
    }

    func testWithoutAChangeThereIsOneFrameASecond() async throws {
        let stage = Stage()
        let updates = await stage.content.updates(after: nil)
        let frames = Task { try await Bounded.first(3, of: updates) }
        for _ in 0..<2 { try await stage.passInterval() }
        let times = try await frames.value.compactMap(frame).map(\.t)
        XCTAssertEqual(times, [0, 1, 2])
        await stage.end()
    }

    /// Returns the kept frames after a reader caused a number of frames.
    private func frames(after count: Int, in stage: Stage) async throws -> [LiveMapFrame] {
        let updates = await stage.content.updates(after: nil)
        let reader = Task { try await Bounded.first(count, of: updates) }
        for _ in 1..<count { try await stage.passInterval() }
        _ = try await reader.value
        let frames = await stage.content.frames(from: 0, to: .infinity, limit: .max)
        await stage.end()
        return frames
    }

    func testOldFramesHaveNoParticlesAndBeacons() async throws {
        let frames = try await frames(after: 305, in: Stage())
        XCTAssertEqual(frames.map { $0.particles == nil }, (0..<305).map { $0 < 5 })
        XCTAssertEqual(frames.map { $0.beacons == nil }, (0..<305).map { $0 < 5 })
        XCTAssertTrue(frames.allSatisfy { $0.levels == [] })
        let text = String(decoding: try JSONEncoder().encode(frames[0]), as: UTF8.self)
        XCTAssertTrue(text.contains("levels"), text)
        XCTAssertFalse(text.contains("particles") || text.contains("beacons"), text)
    }

    func testOldFramesOfOnePositionAreOneFrame() async throws {
        // One frame a second; the session's clock is up to 3 ms ahead of the content's.
        let stage = Stage(snapshot: { number in
            SessionSnapshot(
                instant: Instant(seconds: Double(number - 1) + Double(number % 4) / 1000),
                state: LiveMapStage.running(), position: LiveMapStage.position(5, at: 0))
        })
        let frames = try await frames(after: 310, in: stage)
        XCTAssertEqual(frames.map { $0.t }, [0] + (10..<310).map { Double($0) })
    }

    func testTheOverviewHasTheRun() async throws {
        for id in [1000, 2000] {
            let stage = Stage(firstID: id)
            let run = await stage.content.overview().run
            XCTAssertEqual(run, "\(id)")
            await stage.end()
        }
        let recorded = await LiveMapRecording(title: "walk", venues: []).overview().run
        XCTAssertEqual(recorded, "1")
    }

    func testEventsArriveBetweenFramesInOrderOfTheirNumbers() async throws {
        let stage = Stage()
        stage.emit(.state(.searchVenue))
        try await stage.settle()
        let updates = await stage.content.updates(after: 999)
        stage.emit(.event(enterKitchen))
        let seen = try await Bounded.first(4, of: updates)
        XCTAssertEqual(seen.map(number), [1000, 1001, 1002, 1003])
        let kinds = seen.compactMap { if case .event(let event) = $0 { event.kind } else { nil } }
        XCTAssertEqual(Set(kinds), [.state, .error, .area])
        await stage.end()
    }

    private var enterKitchen: LocalizationEvent {
        LocalizationEvent(instant: .zero, venueID: 4, kind: .enterRoom(LiveMapStage.hall.rooms[0]))
    }

    private func number(_ update: LiveMapUpdate) -> Int {
        switch update {
        case .frame(let frame): frame.id
        case .event(let event): event.id
        case .overview(let id): id
        }
    }

    func testAReaderContinuesAfterTheNumberThatItHas() async throws {
        let stage = Stage()
        stage.emit(.state(LiveMapStage.running()))  // the event 1000 and the change of the venues 1001
        for second in 0..<5 { stage.emit(.position(LiveMapStage.position(Double(second), at: Double(second)))) }
        try await stage.settle()
        let rest = try await Bounded.first(3, of: await stage.content.updates(after: 1004))
        XCTAssertEqual(rest.map(number), [1005, 1006, 1007])
        XCTAssertEqual(rest.prefix(2).compactMap(frame).map { $0.estimate?.x }, [3, 4])
        await stage.end()
    }

    func testAnUnknownNumberBeginsWithTheLatestFrame() async throws {
        for id in [5, 999_999] {
            let stage = Stage()
            stage.emit(.state(LiveMapStage.running()), .position(LiveMapStage.position(5, at: 1)))
            try await stage.settle()
            let first = try await Bounded.first(1, of: await stage.content.updates(after: id))
            XCTAssertEqual(first.compactMap(frame).count, 1, "number \(id)")
            XCTAssertEqual(stage.snapshots.value, 1, "a new snapshot")
            await stage.end()
        }
    }

    func testNumbersContinueAfterARestartOfTheProgram() async throws {
        let (stream, _) = AsyncStream.makeStream(of: SessionOutput.self)
        let content = LiveMapSession(outputs: stream, title: "now", clock: ManualClock()) { _ in
            SessionSnapshot(instant: .zero, state: .idle)
        }
        let first = try await Bounded.first(1, of: await content.updates(after: nil))
        XCTAssertGreaterThan(number(first[0]), 1_700_000_000_000, "milliseconds since 1970")
    }

    func testASlowReaderSkipsFramesAndNoEvent() async throws {
        let stage = Stage()
        let slow = await stage.content.updates(after: nil)
        var iterator = slow.makeAsyncIterator()
        _ = await iterator.next()
        // Another reader, who is fast, causes 40 frames.
        let fast = await stage.content.updates(after: nil)
        let frames = Task { try await Bounded.first(40, of: fast) }
        for _ in 0..<40 { try await stage.passInterval() }
        let all = try await frames.value
        XCTAssertEqual(all.count, 40)
        stage.emit(.event(enterKitchen))
        try await stage.settle()
        var seen: [LiveMapUpdate] = []
        for _ in 0..<7 { if let update = await iterator.next() { seen.append(update) } }
        XCTAssertEqual(seen.compactMap(frame).map(\.id), all.suffix(5).map(number))
        XCTAssertEqual(seen.count { if case .event = $0 { true } else { false } }, 2)
        XCTAssertEqual(seen.map(number), seen.map(number).sorted())
        await stage.end()
    }

    func testACancelledReaderEndsAndCausesNoFurtherFrames() async throws {
        let stage = Stage()
        let updates = await stage.content.updates(after: nil)
        let reader = Task {
            var count = 0
            for await _ in updates { count += 1 }
            return count
        }
        _ = try await Bounded.wait(for: "the alarm after the first frame") { try await stage.clock.waitForSleeper() }
        reader.cancel()
        let count = try await Bounded.wait(for: "the end of the reader") { await reader.value }
        XCTAssertEqual(count, 1)
        stage.clock.advance(by: .seconds(10))
        stage.emit(.position(LiveMapStage.position(1, at: 1)))
        try await stage.settle()
        XCTAssertEqual(stage.snapshots.value, 1)
        await stage.end()
    }

    func testTheStreamsEndWithTheSession() async throws {
        let stage = Stage()
        let updates = await stage.content.updates(after: nil)
        let reader = Task { try await Bounded.all(updates) }
        _ = try await Bounded.wait(for: "a waiting reader") { try await stage.clock.waitForSleeper() }
        await stage.end()
        let count = try await reader.value.count
        XCTAssertEqual(count, 1)
    }

    func testANewVenueChangesTheOverview() async throws {
        let stage = Stage()
        let before = await stage.content.overview()
        XCTAssertEqual(before.venues, [])
        XCTAssertEqual(before.mode, .live)
        let updates = await stage.content.updates(after: 999)
        stage.emit(.state(.findFloor(LiveMapStage.hall)), .state(LiveMapStage.running()))
        // For a reader that waits before them, a frame could be the first update.
        try await stage.settle()
        let seen = try await Bounded.first(2, of: updates)
        XCTAssertEqual(seen.last, .overview(id: 1001))
        let after = await stage.content.overview()
        XCTAssertEqual(after.venues.map(\.name), ["Hall"])
        XCTAssertFalse(after.acceptsMarks)
        await stage.end()
    }

    func testMarksAreStoredOrRefusedWithAReason() async throws {
        let stored = WatchedState<[LiveMapFrame.Place]>([])
        let stage = Stage(marks: { place in
            if place.mapId != 40 { return "There is no map \(place.mapId)." }
            stored.update { $0.append(place) }
            return nil
        })
        let refusal = await stage.content.mark(.init(mapId: 9, x: 1, y: 2))
        XCTAssertEqual(refusal, "There is no map 9.")
        let place = LiveMapFrame.Place(mapId: 40, x: 1, y: 2)
        let reason = await stage.content.mark(place)
        XCTAssertNil(reason)
        XCTAssertEqual(stored.value, [place])
        let events = await stage.content.events()
        XCTAssertEqual(events.map(\.kind), [.mark])
        let acceptsMarks = await stage.content.overview().acceptsMarks
        XCTAssertTrue(acceptsMarks)
        let unmarked = await Stage().content.mark(place)
        XCTAssertEqual(unmarked, "Marks aren't stored, because the session isn't recorded.")
        await stage.end()
    }

    func testManyFramesNeedBoundedMemory() async throws {
        let stage = Stage()
        stage.emit(.state(LiveMapStage.running()))
        for second in 0..<12_000 { stage.emit(.position(LiveMapStage.position(Double(second), at: Double(second)))) }
        try await stage.settle()
        let frames = await stage.content.frames(from: 0, to: .infinity, limit: .max)
        XCTAssertLessThanOrEqual(frames.count, 5000)
        XCTAssertEqual(frames.last?.estimate?.x, 11_999)
        await stage.end()
    }
}

/// Frames, venues and events of a session.
final class LiveMapFrameTests: XCTestCase {
    private func snapshot() -> SessionSnapshot {
        SessionSnapshot(
            instant: Instant(seconds: 12.34567), state: LiveMapStage.running(),
            position: LiveMapStage.position(3.14159, at: 12),
            maps: [.init(mapID: 40, probability: 0.91), .init(mapID: 41, probability: 0.09)],
            particles: [
                .init(mapID: 41, point: MapPoint(x: 40, y: 0)), .init(mapID: 40, point: MapPoint(x: 10, y: 5)),
                .init(mapID: 40, point: MapPoint(x: -3, y: 25)),
            ],
            beacons: [
                .init(
                    identity: LiveMapStage.beacon(1), rssi: -61.26, instant: Instant(seconds: 11.3), isKnown: true,
                    expectedRSSI: -63.04, deviation: 4.449),
                .init(identity: LiveMapStage.beacon(9), rssi: -80, instant: Instant(seconds: 13), isKnown: false),
            ])
    }

    func testAFrameHasTheRoundedContentOfTheSnapshot() {
        let frame = LiveMapFrame(snapshot(), id: 5, route: [.init(mapId: 40, x: 1, y: 2)])
        XCTAssertEqual([frame.t, Double(frame.id)], [12.346, 5])
        XCTAssertEqual(frame.state, "localizationRunning")
        XCTAssertEqual(frame.text, "In Hall, Ground")
        XCTAssertEqual([frame.venueId, frame.mapId], [4, 40])
        XCTAssertEqual(
            frame.estimate,
            .init(
                t: 12, mapId: 40, x: 3.14, y: 10, radius: 2.35, course: 90, speed: 1.24, label: "Kitchen",
                floorCertainty: 0.9877))
        XCTAssertEqual(frame.levels, [.init(mapId: 40, probability: 0.91), .init(mapId: 41, probability: 0.09)])
        XCTAssertEqual(
            frame.beacons,
            [
                .init(
                    id: LiveMapStage.beacon(1).description, rssi: -61.3, age: 1, expected: -63, deviation: 4.4,
                    isKnown: true),
                .init(id: LiveMapStage.beacon(9).description, rssi: -80, age: 0, isKnown: false),
            ])
        XCTAssertEqual(frame.route.count, 1)
        XCTAssertNil(frame.diagnosis)
    }

    func testParticlesAreSharesOfTheirMapAndStayOnThePlan() throws {
        let sheets = try XCTUnwrap(LiveMapFrame(snapshot(), id: 1).particles)
        XCTAssertEqual(sheets.map(\.mapId), [40, 41])
        let points = sheets.map(LiveMapStage.points)
        XCTAssertEqual(points[0].count, 2)
        XCTAssertEqual(points[0][0][0], 0.25, accuracy: 1e-5)
        XCTAssertEqual(points[0][0][1], 0.25, accuracy: 1e-5)
        XCTAssertEqual(points[0][1], [0, 1], "at the nearest edge")
        XCTAssertEqual(points[1], [[1, 0]])
    }

    func testALiveFrameHasTheTimeOfTheDisplay() {
        let frame = LiveMapFrame(snapshot(), id: 1, t: 100)
        XCTAssertEqual(frame.t, 100)
        XCTAssertEqual(frame.estimate?.t ?? 0, 99.654, accuracy: 1e-3)
    }

    func testTheErrorIsTheDistanceToTheTruthAtTheInstantOfTheEstimate() {
        var frame = LiveMapFrame(snapshot(), id: 1)
        // The device walks one metre a second along x.
        frame.setTruth { LiveMapFrame.Place(mapId: 40, x: $0 - 9, y: 10) }
        XCTAssertEqual(frame.truth?.x ?? 0, 3.346, accuracy: 1e-9)
        XCTAssertEqual(frame.error ?? 0, 0.14, accuracy: 1e-9)
        frame.setTruth { LiveMapFrame.Place(mapId: 41, x: $0, y: 10) }
        XCTAssertNil(frame.error, "on another map")
        frame.setTruth { _ in nil }
        XCTAssertNil(frame.truth)
    }

    func testAFrameWithoutPositionsHasTheDiagnosis() {
        var diagnosis = SessionDiagnosis(state: .searchVenue, reason: .unknownBeacons)
        diagnosis.unknownBeacons = [LiveMapStage.beacon(9)]
        var snapshot = SessionSnapshot(instant: .zero, state: .searchVenue, diagnosis: diagnosis)
        let frame = LiveMapFrame(snapshot, id: 1)
        XCTAssertEqual(frame.diagnosis?.reason, "unknownBeacons")
        XCTAssertEqual(frame.diagnosis?.beacons, [LiveMapStage.beacon(9).description])
        XCTAssertEqual(frame.diagnosis?.text, diagnosis.description)
        XCTAssertNotNil(frame.diagnosis?.help)
        XCTAssertNil(frame.estimate)
        XCTAssertEqual(frame.text, "Searching for a venue")
        snapshot.diagnosis?.reason = .located
        XCTAssertNil(LiveMapFrame(snapshot, id: 1).diagnosis)
    }

    func testNumbersThatAreNotFiniteBecomeZero() {
        var snapshot = snapshot()
        snapshot.position?.radius = .infinity
        snapshot.position?.point = MapPoint(x: .nan, y: 1)
        let frame = LiveMapFrame(snapshot, id: 1)
        XCTAssertEqual(frame.estimate?.radius, 0)
        XCTAssertNoThrow(try JSONEncoder().encode(frame))
    }

    func testAVenueHasMapsAreasPointsAndBeacons() throws {
        let venue = LiveMapVenue(
            LiveMapStage.hall,
            tiles: [41: .init(width: 512, height: 256, tileSize: 256, overlap: 0, format: "png")])
        XCTAssertEqual([venue.id, venue.version], [4, 3])
        XCTAssertEqual(venue.maps.map(\.name), ["Ground", "First"])
        XCTAssertEqual(venue.maps.map(\.hasImage), [true, false])
        XCTAssertEqual(venue.maps[0].walls, [[0, 5, 10, 5.123]])
        XCTAssertEqual(venue.maps[0].walkable, [[0, 0, 40, 0, 40, 20]])
        XCTAssertNil(venue.maps[0].tiles)
        XCTAssertEqual(venue.maps[1].tiles?.width, 512)
        XCTAssertEqual(venue.rooms.map(\.name), ["Kitchen"], "a room without a shape is left out")
        XCTAssertEqual(venue.rooms[0].circle, .init(x: 5, y: 5, radius: 2))
        XCTAssertEqual(venue.fences[0].polygon, [0, 0, 1, 0, 1, 1])
        XCTAssertEqual(venue.pointsOfInterest, [.init(id: 7, name: "Books", mapId: 41, x: 1, y: 2)])
        XCTAssertEqual(
            venue.beacons, [.init(id: LiveMapStage.beacon(1).description, mapId: 40, x: 5, y: 6)])
    }

    func testAVenueHasTheBeaconsThatTheSurveyPlaced() {
        var venue = LiveMapStage.hall
        venue.radioMap = RadioMap(
            beacons: [1, 2].map {
                RadioMap.Beacon(
                    identity: LiveMapStage.beacon($0), mapID: 41, point: MapPoint(x: 8, y: 9), power: -60)
            }, fingerprints: [], pathLossExponent: 2, readingDeviation: 3)
        XCTAssertEqual(LiveMapVenue(venue).beacons.map(\.mapId), [40, 41])
    }
}

/// A live map of a real localizer, on a virtual clock.
final class LiveMapLocalizerTests: XCTestCase {
    /// The hall with four beacons on the ground floor.
    private static let hall: Venue = {
        var hall = LiveMapStage.hall
        hall.beacons = [(5, 6), (35, 6), (5, 14), (35, 14)].enumerated().map { index, place in
            VenueBeacon(
                identity: LiveMapStage.beacon(UInt16(index + 1)), mapID: 40, point: MapPoint(x: place.0, y: place.1))
        }
        return hall
    }()

    /// The instant of the first reading.
    private static let beginning = 5000.0

    private struct Stage {
        let clock = ManualClock(now: Instant(seconds: 777))
        let source = ScriptedSource()
        let localizer: Localizer
        let content: LiveMapSession
        private let run: Task<Void, Never>

        init() {
            localizer = Localizer(
                source: source, venues: ScriptedVenueSource([LiveMapLocalizerTests.hall]),
                settings: LocalizationSettings(), clock: clock, seed: 1)
            content = LiveMapSession(localizer, title: "stage", clock: clock)
            run = Task { [content] in await content.run() }
        }

        /// Starts the session, and sends readings until it has emitted positions; returns those.
        func locate() async throws -> [Position] {
            let (states, first, all) = (localizer.states, localizer.positions, localizer.positions)
            await localizer.start()
            try await Bounded.wait(for: "the scan") { try await source.waitForScans(1) }
            _ = try await Bounded.elements(of: states, until: "searchVenue") { $0 == .searchVenue }
            for tick in 0..<50 { source.send(LiveMapLocalizerTests.reading(tick)) }
            _ = try await Bounded.first(1, of: first)
            // The session has now prepared the venue, and emits a position for each half second.
            for tick in 50..<80 { source.send(LiveMapLocalizerTests.reading(tick)) }
            // A tick at the instant of the last reading, such as that of a position, comes by an alarm after the reading.
            try await Bounded.poll(for: "the last reading and its tick") {
                guard await localizer.activityCounts.readings == 80 else { return false }
                return await !localizer.isTickDue
            }
            return try await Bounded.first(Int(await localizer.activityCounts.positions), of: all)
        }

        /// Returns the first frame for a new reader.
        func frame() async throws -> LiveMapFrame {
            let updates = await content.updates(after: nil)
            let seen = try await Bounded.elements(of: updates, until: "a frame") {
                if case .frame = $0 { true } else { false }
            }
            guard case .frame(let frame)? = seen.last else { throw Bounded.Expired(awaited: "a frame") }
            return frame
        }

        /// Returns the first event with a text.
        func event(_ text: String) async throws -> LiveMapEvent {
            try await Bounded.wait(for: "the event \(text)") {
                while true {
                    let events = await content.events()
                    if let event = events.first(where: { $0.text.hasPrefix(text) }) { return event }
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
        }

        func end() async {
            await localizer.stop()
            localizer.finishStreams()
            await run.value
        }
    }

    /// Returns a reading of one of the beacons in turn; there are ten a second.
    private static func reading(_ tick: Int) -> SensorReading {
        let minor = UInt16(tick % 4 + 1)
        return .sighting(
            Sighting(
                instant: Instant(seconds: beginning + Double(tick) / 10), beacon: LiveMapStage.beacon(minor),
                rssi: minor == 1 ? -60 : -80))
    }

    func testWithoutReadersTheTrailHasThePositionsAndNoSnapshots() async throws {
        let stage = Stage()
        let positions = try await stage.locate()
        try await Bounded.poll(for: "the trail") {
            await stage.content.frames(from: 0, to: 1, limit: 100).count >= positions.count
        }
        let frames = await stage.content.frames(from: 0, to: 1, limit: 100)
        XCTAssertGreaterThan(positions.count, 3)
        XCTAssertEqual(frames.map { $0.estimate?.x ?? -1 }, positions.map { ($0.x * 100).rounded() / 100 })
        XCTAssertEqual(Set(frames.map(\.mapId)), [40])
        // A snapshot always has the beacons and the particles.
        XCTAssertTrue(frames.allSatisfy { $0.particles == nil && $0.beacons == nil && $0.levels == nil })
        await stage.end()
    }

    func testAFrameHasTheSnapshotOfTheSession() async throws {
        let stage = Stage()
        let positions = try await stage.locate()
        let last = try XCTUnwrap(positions.last)
        let frame = try await stage.frame()
        XCTAssertEqual([frame.venueId, frame.mapId], [4, 40])
        XCTAssertEqual(frame.state, "localizationRunning")
        XCTAssertEqual(frame.text, "In Hall, Ground")
        let estimate = try XCTUnwrap(frame.estimate)
        XCTAssertEqual(estimate.x, last.x, accuracy: 0.01)
        XCTAssertEqual(estimate.y, last.y, accuracy: 0.01)
        XCTAssertEqual(estimate.radius, last.radius, accuracy: 0.01)
        let levels = try XCTUnwrap(frame.levels)
        XCTAssertEqual(levels.map(\.mapId), [40, 41])
        XCTAssertEqual(levels.reduce(0) { $0 + $1.probability }, 1, accuracy: 0.001)
        let points = try XCTUnwrap(frame.particles).filter { $0.mapId == 40 }.flatMap(LiveMapStage.points)
        XCTAssertGreaterThan(points.count, 500)
        let mean = points.reduce(0) { $0 + $1[0] * 40 } / Double(points.count)
        XCTAssertEqual(mean, last.x, accuracy: 3, "the particles are around the estimate")
        let beacons = try XCTUnwrap(frame.beacons)
        XCTAssertEqual(beacons.map(\.id), Self.hall.beacons.map { "\($0.identity)" })
        XCTAssertEqual(beacons.map(\.rssi).max(), -60)
        XCTAssertTrue(beacons.allSatisfy { $0.isKnown && $0.expected != nil && ($0.deviation ?? 0) > 1 })
        let strongest = try XCTUnwrap(beacons.max { ($0.expected ?? -200) < ($1.expected ?? -200) })
        XCTAssertEqual(strongest.id, "\(LiveMapStage.beacon(1))", "the nearest one")
        XCTAssertNil(frame.diagnosis)
        // Time stands still, so that the session's own snapshot has the same content.
        let snapshot = await stage.localizer.snapshot(particles: 1000)
        XCTAssertEqual(frame, LiveMapFrame(snapshot, id: frame.id, t: frame.t))
        // The content gets the outputs of the session by a stream.
        try await Bounded.poll(for: "the state of the session") {
            await stage.content.events().last { $0.kind == .state }?.text == "In Hall, Ground"
        }
        await stage.end()
    }

    func testSilenceIsAnEventAndTheDiagnosisOfTheNextFrames() async throws {
        let stage = Stage()
        let before = try await stage.locate()
        stage.clock.advance(by: .seconds(7))
        let diagnosis = try await stage.event("No beacon of 'Hall' was received for ")
        XCTAssertEqual(diagnosis.kind, .diagnosis)
        XCTAssertEqual(diagnosis.t, 7)
        let frame = try await stage.frame()
        XCTAssertEqual(frame.diagnosis?.reason, "silentBeacons")
        XCTAssertEqual(frame.t, 7)
        XCTAssertNotNil(frame.diagnosis?.help)
        XCTAssertFalse(before.isEmpty)
        await stage.end()
    }
}
