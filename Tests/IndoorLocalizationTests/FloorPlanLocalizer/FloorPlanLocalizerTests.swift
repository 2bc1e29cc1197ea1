import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// What a positioner promises to its users: steps, streams, several side by side.
final class FloorPlanLocalizerTests: XCTestCase {
    private static let beginning = FloorPlanLocalizerStage.beginning
    private let way = ["connecting", "connected", "loading", "ready", "waitingForFix", "positioning"]

    func testStartGoesThroughAllStatesAndGivesPositions() async throws {
        let stage = FloorPlanLocalizerStage()
        let (states, positions) = (stage.positioner.states, stage.positioner.positions)
        try await stage.run()
        let seen = try await Bounded.first(7, of: states)
        XCTAssertEqual(seen.map(\.name), ["stopped"] + way)
        let position = try await Bounded.first(1, of: positions)[0]
        XCTAssertEqual(position.mapID, 10)
        XCTAssertEqual(position.floorCertainty, 1, "the floor was given")
    }

    func testPrepareTwiceAndStartAfterItLoadOnce() async throws {
        let stage = FloorPlanLocalizerStage()
        let states = stage.positioner.states
        await stage.positioner.prepare(FloorPlanLocalizerParameters(motionMode: .shoppingCart))
        try await stage.reach("ready")
        await stage.positioner.prepare()
        XCTAssertEqual(stage.source.scanCount, 0)
        try await stage.run()
        let seen = try await Bounded.first(7, of: states)
        XCTAssertEqual(seen.map(\.name), ["stopped"] + way)
        XCTAssertEqual(stage.venues.requests, [.catalogue, .packet(1)])
    }

    func testAStoppedLocalizerEmitsNothingAndHasNoLatency() async throws {
        let stage = FloorPlanLocalizerStage()
        try await stage.run()
        let states = stage.positioner.states
        await stage.positioner.stop()
        await stage.positioner.stop()
        let latency = await stage.positioner.latency
        XCTAssertEqual(latency, .zero)
        let positions = stage.positioner.positions
        for reading in LocalizerStage.walk(from: Self.beginning + 3, for: 3) { stage.source.send(reading) }
        try await Bounded.wait(for: "the end of the scan") { try await stage.source.waitUntilNothingRuns() }
        await stage.positioner.connect()
        let seen = try await Bounded.first(4, of: states)
        XCTAssertEqual(seen.map(\.name), ["positioning", "stopped", "connecting", "connected"])
        try await stage.run(from: Self.beginning + 100)
        let first = try await Bounded.first(1, of: positions)[0]
        XCTAssertGreaterThanOrEqual(first.instant, Instant(seconds: Self.beginning + 100), "of the first session")
    }

    func testTheLatencyIsMeasuredFromTheQuickestDelivery() async throws {
        let stage = FloorPlanLocalizerStage()
        let positions = stage.positioner.positions
        try await stage.run()
        _ = try await Bounded.elements(of: positions, until: "the last look at the walk") {
            $0.instant >= Instant(seconds: Self.beginning + 2)
        }
        // The walk's last reading, of 2.4 s, came without delay: 2.3 s later, one of 4.4 s is 0.3 s late.
        stage.clock.advance(by: .milliseconds(2300))
        stage.source.send(SessionStage.heard(1, at: Self.beginning + 4.4))
        // What is due before the next reading is done before it, whatever the clock says.
        stage.source.send(SessionStage.heard(1, at: Self.beginning + 5.1))
        _ = try await Bounded.elements(of: positions, until: "the look between the two") {
            $0.instant >= Instant(seconds: Self.beginning + 5)
        }
        let latency = await stage.positioner.latency
        XCTAssertEqual(latency.seconds, 0.6, accuracy: 0.01, "from 4.4 s to 5 s")
    }

    func testARecordingGivesTheSamePositionsAsAReplayOfASession() async throws {
        var venue = SessionStage.office
        venue.maps = [venue.maps[0]]
        let readings = LocalizerStage.walk(from: 0, for: 5)
        var replay = SessionReplay(venues: [venue], settings: LocalizerStage.settings, seed: 1)
        let outputs = replay.start() + readings.flatMap { replay.handle($0) } + replay.finish()
        let expected = outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
        let stage = FloorPlanLocalizerStage(ScriptedSource(readings), venue: venue)
        let (states, positions) = (stage.positioner.states, stage.positioner.positions)
        await stage.positioner.start()
        let seen = try await Bounded.elements(of: states, until: "the end") { $0 == .positioning }
        XCTAssertEqual(seen.first?.name, "stopped")
        _ = try await Bounded.elements(of: stage.positioner.states, until: "the end") { $0 == .stopped(nil) }
        let told = try await Bounded.first(expected.count, of: positions)
        XCTAssertGreaterThan(expected.count, 5)
        // All that a position tells: point, pixel, radius, course, speed. The floor is given here, and found there.
        func withoutCertainty(_ positions: [Position]) -> [Position] {
            positions.map { position in
                var position = position
                position.floorCertainty = 1
                return position
            }
        }
        XCTAssertEqual(withoutCertainty(told), withoutCertainty(expected))
        for position in told {
            let pixel = try XCTUnwrap(position.pixel)
            XCTAssertEqual(pixel.x, position.x * 10, accuracy: 1e-9, "400 px for 40 m")
            XCTAssertEqual(pixel.y, position.y * 10, accuracy: 1e-9)
            XCTAssertGreaterThan(position.radius, 0)
        }
    }

    func testConcurrentFloorPlanLocalizersShareOneScan() async throws {
        let radio = ScriptedSource()
        let shared = SharedScanSource(radio)
        let stages = [
            FloorPlanLocalizerStage(radio, sharing: shared), FloorPlanLocalizerStage(radio, sharing: shared, map: 1),
        ]
        for stage in stages {
            await stage.positioner.start()
            try await stage.reach("waitingForFix")
        }
        XCTAssertEqual(radio.scanCount, 1)
        let positions = stages.map(\.positioner.positions)
        for reading in LocalizerStage.walk(from: Self.beginning, for: 2.5) { radio.send(reading) }
        let first = try await Bounded.first(1, of: positions[0])[0]
        let second = try await Bounded.first(1, of: positions[1])[0]
        XCTAssertEqual([first.mapID, second.mapID], [10, 11])
        await stages[0].positioner.stop()
        XCTAssertEqual(radio.runningScanCount, 1)
        await stages[1].positioner.stop()
        try await Bounded.wait(for: "the end of the scan") { try await radio.waitUntilNothingRuns() }
    }

    func testAnApplicationCanSwitchBetweenFloorPlansAndBack() async throws {
        let radio = ScriptedSource()
        let stages = [FloorPlanLocalizerStage(radio), FloorPlanLocalizerStage(radio, map: 1)]
        for (turn, stage) in [stages[0], stages[1], stages[0]].enumerated() {
            try await stage.run(from: Self.beginning + 100 * Double(turn))
            XCTAssertEqual(radio.runningScanCount, 1, "turn \(turn)")
            await stage.positioner.stop()
            try await Bounded.wait(for: "the end of the scan") { try await radio.waitUntilNothingRuns() }
        }
        XCTAssertEqual(radio.scanCount, 3)
    }

    func testAFixInPixelsBeforeTheStartIsTheStartingPoint() async throws {
        let stage = FloorPlanLocalizerStage()
        await stage.positioner.connect()
        try await stage.reach("connected")
        let outcome = try await stage.positioner.submit(.pixel(PixelPoint(x: 300, y: 250)), radius: 10)
        XCTAssertEqual(outcome, .kept)
        let positions = stage.positioner.positions
        await stage.positioner.start()
        let first = try await Bounded.first(1, of: positions)[0]
        XCTAssertLessThan(first.point.distance(to: MapPoint(x: 30, y: 25)), 1)
    }

    func testAnInvalidFixIsRejected() async throws {
        let stage = FloorPlanLocalizerStage()
        do {
            try await stage.positioner.submit(.coordinate(Coordinate(latitude: 52, longitude: 13)), radius: 3)
            XCTFail("the office is not georeferenced")
        } catch {
            XCTAssertEqual(error, .notGeoreferenced(10))
        }
        do {
            try await stage.positioner.submit(.point(MapPoint(x: 1, y: 1)), radius: 0)
            XCTFail("no radius")
        } catch {
            XCTAssertEqual(error, .invalidRadius(0))
        }
    }

    func testAFailedRadioIsReconnectingAndScannedAgain() async throws {
        let stage = FloorPlanLocalizerStage()
        try await stage.run()
        stage.source.fail(LocalizationError(code: .generic, message: "lost"))
        try await stage.reach("reconnecting")
        let due = try await Bounded.wait(for: "the next scan") {
            let alarms = Task { while true { stage.clock.advance(to: try await stage.clock.waitForSleeper()) } }
            defer { alarms.cancel() }
            try await stage.source.waitForScans(2)
            return stage.source.runningScanCount
        }
        XCTAssertEqual(due, 1)
        let later = stage.clock.now.nanoseconds - Instant(seconds: 777).nanoseconds
        stage.source.send(SessionStage.heard(1, at: Self.beginning + 2.5 + Double(later) / 1e9))
        try await stage.reach("positioning")
    }

    func testASubscriptionIsCalledUntilItIsClosed() async throws {
        let stage = FloorPlanLocalizerStage()
        let (names, told) = AsyncStream.makeStream(of: String.self)
        let subscription = stage.positioner.watch(\.states) { told.yield($0.name) }
        try await stage.run()
        let seen = try await Bounded.first(7, of: names)
        XCTAssertEqual(seen, ["stopped"] + way)
        subscription.close()
        await stage.positioner.stop()
        told.finish()
        let rest = try await Bounded.all(names)
        XCTAssertEqual(rest, [])
    }
}
