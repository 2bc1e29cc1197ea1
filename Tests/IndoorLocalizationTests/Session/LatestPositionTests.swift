import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// The latest position at any time, one-shot requests, the accuracy that is wanted, and the session's name.
final class LatestPositionTests: XCTestCase {
    private static let beginning = LocalizerStage.beginning

    // MARK: - At any time

    /// No stream is needed.
    func testTheLatestPositionIsReadableAtAnyTime() async throws {
        let stage = LocalizerStage()
        XCTAssertNil(stage.localizer.latestPosition)
        let positions = stage.localizer.positions
        try await stage.run()
        for reading in LocalizerStage.walk(from: Self.beginning + 6, for: 3) { stage.source.send(reading) }
        let told = try await Bounded.elements(of: positions, until: "a later one") {
            $0.instant >= Instant(seconds: Self.beginning + 8)
        }
        let latest = try XCTUnwrap(stage.localizer.latestPosition)
        XCTAssertGreaterThan(told.count, 2)
        XCTAssertGreaterThanOrEqual(latest.instant, try XCTUnwrap(told.last).instant, "not the first one")
        await stage.localizer.stop()
        let last = try XCTUnwrap(stage.localizer.latestPosition, "it stays, with its instant")
        XCTAssertGreaterThanOrEqual(last.instant, latest.instant)
        await stage.localizer.start()
        XCTAssertNil(stage.localizer.latestPosition, "nothing of an earlier session")
    }

    func testAStreamMayBeginWithTheLatestPosition() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        let latest = try XCTUnwrap(stage.localizer.latestPosition)
        let first = try await Bounded.first(1, of: stage.localizer.positions(beginningWithLatest: true))
        XCTAssertEqual(first, [latest])
        let others = [stage.localizer.positions, stage.localizer.positions(beginningWithLatest: false)]
        for reading in LocalizerStage.walk(from: Self.beginning + 6, for: 2) { stage.source.send(reading) }
        for stream in others {
            let next = try await Bounded.first(1, of: stream)[0]
            XCTAssertGreaterThan(next.instant, latest.instant, "without asking, a stream has what comes")
        }
    }

    func testAFloorPlanLocalizerHasItsFloorPlanAndCallsItsSubscriptions() async throws {
        let stage = FloorPlanLocalizerStage(map: 1)
        XCTAssertEqual(stage.positioner.floorPlan, FloorPlan(venueID: 1, map: SessionStage.office.maps[1]))
        let (stream, continuation) = AsyncStream.makeStream(of: MapID.self)
        let subscription = stage.positioner.watch(\.positions) { continuation.yield($0.mapID) }
        try await stage.run()
        let called = try await Bounded.first(1, of: stream)
        XCTAssertEqual(called, [11])
        subscription.close()
    }

    func testAFloorPlanLocalizerHasALatestPosition() async throws {
        let stage = FloorPlanLocalizerStage()
        XCTAssertNil(stage.positioner.latestPosition)
        try await stage.run()
        let latest = try XCTUnwrap(stage.positioner.latestPosition)
        let first = try await Bounded.first(1, of: stage.positioner.positions(beginningWithLatest: true))[0]
        XCTAssertGreaterThanOrEqual(first.instant, latest.instant)
    }

    // MARK: - Once

    func testARequestPausesAPausedSessionAgainAtItsEnd() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        await stage.localizer.pause()
        let request = Task { try await stage.localizer.requestLocation(maximumAge: .zero) }
        try await stage.source.waitUntilScanning(2)
        try await stage.reach("searchVenue")
        for reading in LocalizerStage.walk(from: LocalizerStage.beginning + 100, for: 5) { stage.source.send(reading) }
        _ = try await Bounded.wait(for: "a place") { try await request.value }
        let (isPaused, state) = (await stage.localizer.isPaused, await stage.localizer.state)
        XCTAssertTrue(isPaused)
        XCTAssertEqual(state, .idle)
    }

    func testASessionThatIsPausedWhileARequestWaitsStaysPausedWhenTheRequestEnds() async throws {
        let stage = LocalizerStage()
        let request = Task { try await stage.localizer.requestLocation() }
        try await stage.source.waitUntilScanning()
        try await stage.reach("searchVenue")
        await stage.localizer.pause()
        let outcome = try await Bounded.wait(for: "the end of the request") { await request.result }
        XCTAssertThrowsError(try outcome.get())
        let isPaused = await stage.localizer.isPaused
        XCTAssertTrue(isPaused, "only the request is over")
        try await Bounded.wait(for: "the end of the scan") { try await stage.source.waitUntilNothingRuns() }
        await stage.localizer.resume()
        try await stage.reach("searchVenue")
        XCTAssertEqual(stage.source.runningScanCount, 1)
        await stage.localizer.stop()
    }

    func testASessionThatIsStartedWhileARequestWaitsContinues() async throws {
        let stage = LocalizerStage()
        let request = Task { try await stage.localizer.requestLocation() }
        try await stage.source.waitUntilScanning()
        try await stage.reach("searchVenue")
        await stage.localizer.start()
        for reading in LocalizerStage.walk(from: LocalizerStage.beginning, for: 5) { stage.source.send(reading) }
        _ = try await Bounded.wait(for: "a place") { try await request.value }
        let state = await stage.localizer.state
        XCTAssertNotEqual(state, .idle, "only the request is over")
        await stage.localizer.stop()
    }

    func testARecordedSessionThatIsStartedWhileARequestBeginsOneContinues() async throws {
        let stage = LocalizerStage(ScriptedSource(pace: .recorded))
        stage.venues.change { $0.isHeld = true }
        let request = Task { [localizer = stage.localizer] in try await localizer.requestLocation() }
        try await Bounded.wait(for: "the request of the catalogue") { try await stage.venues.waitForRequests(1) }
        // The start of the request waits for the catalogue.
        await stage.localizer.start()
        stage.venues.release()
        try await stage.source.waitUntilScanning()
        for reading in LocalizerStage.walk(from: Self.beginning, for: 8) { stage.source.send(reading) }
        _ = try await Bounded.wait(for: "a place") { try await request.value }
        let state = await stage.localizer.state
        XCTAssertFalse(state.isOver, "only the request is over")
        await stage.localizer.stop()
    }

    func testARequestReturnsARecentPositionAtOnce() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        let latest = try XCTUnwrap(stage.localizer.latestPosition)
        let answer = try await stage.localizer.requestLocation()
        XCTAssertEqual(answer, .indoors(latest))
        XCTAssertEqual(answer.instant, latest.instant)
        XCTAssertEqual(answer.radius, latest.radius)
        // 30 s later by the clock it is too old.
        stage.clock.advance(to: stage.clock.now.advanced(by: .seconds(30)))
        let late = Task { [localizer = stage.localizer] in try await localizer.requestLocation() }
        // The alarm of the request, in 10 s: nothing is heard any more.
        let timeout = stage.clock.now.advanced(by: .seconds(10))
        let alarms = Task { [clock = stage.clock] in while true { clock.advance(to: try await clock.waitForSleeper()) }
        }
        defer { alarms.cancel() }
        do {
            let place = try await late.value
            XCTAssertNotEqual(place, answer, "only a newer one, which the session may tell without a beacon")
        } catch {
            XCTAssertEqual((error as? LocalizationError)?.kind, .positionUnavailable)
            XCTAssertGreaterThanOrEqual(stage.clock.now, timeout)
        }
    }

    func testARequestThrowsAfterTenSecondsWithoutAPosition() async throws {
        let stage = LocalizerStage()
        let request = Task { [localizer = stage.localizer] in try await localizer.requestLocation() }
        try await stage.source.waitUntilScanning()
        let begin = Instant(seconds: 777)
        let alarms = Task { [clock = stage.clock] in while true { clock.advance(to: try await clock.waitForSleeper()) }
        }
        defer { alarms.cancel() }
        do {
            _ = try await request.value
            XCTFail("there was nothing to hear")
        } catch {
            let error = try XCTUnwrap(error as? LocalizationError)
            XCTAssertEqual(error.kind, .positionUnavailable)
            XCTAssertTrue(error.message.contains("within 10.0 s"), error.message)
        }
        XCTAssertGreaterThanOrEqual(begin.duration(to: stage.clock.now), .seconds(10))
        let state = await stage.localizer.state
        XCTAssertEqual(state, .idle, "the session that was begun for it has ended")
    }

    func testARequestWithoutASessionStartsOneAndEndsIt() async throws {
        let stage = LocalizerStage(ScriptedSource(LocalizerStage.walk(from: Self.beginning, for: 8)))
        let answer = try await stage.localizer.requestLocation()
        guard case .indoors(let position) = answer else { return XCTFail("\(answer)") }
        XCTAssertEqual(position.venueID, 1)
        let state = await stage.localizer.state
        XCTAssertEqual(state, .idle)
    }

    func testARequestReturnsASatellitePositionOutdoors() async throws {
        let satellites = ScriptedSource()
        let stage = LocalizerStage(gnss: satellites)
        let request = Task { [localizer = stage.localizer] in try await localizer.requestLocation() }
        try await satellites.waitUntilScanning()
        try await stage.reach("searchVenue")
        satellites.send(SessionStage.gnss(10, at: Self.beginning))
        let answer = try await request.value
        XCTAssertEqual(answer.coordinate, Coordinate(latitude: 10, longitude: 13))
        guard case .outdoors = answer else { return XCTFail("\(answer)") }
    }

    func testARequestThrowsTheErrorThatEndsTheSession() async throws {
        let stage = LocalizerStage()
        stage.venues.change { $0.catalogueFailures = [SessionStage.credential] }
        do {
            _ = try await stage.localizer.requestLocation()
            XCTFail("the session has ended")
        } catch {
            XCTAssertEqual(error, SessionStage.credential)
        }
    }

    func testACancelledRequestThrowsACancellationError() async throws {
        let stage = LocalizerStage()
        let request = Task { [localizer = stage.localizer] in try await localizer.requestLocation() }
        try await stage.source.waitUntilScanning()
        request.cancel()
        do {
            _ = try await request.value
            XCTFail("it was cancelled")
        } catch {
            XCTAssertEqual((error as? LocalizationError)?.kind, .cancelled)
        }
    }

    // MARK: - Accuracy

    func testTheDesiredAccuracyOverridesTheSettingsAndCanBeReset() async throws {
        let stage = LocalizerStage(ScriptedSource(), LocalizationSettings())
        let standard = LocalizationSettings()
        await stage.localizer.setDesiredAccuracy(.low)
        let low = await stage.localizer.settings
        XCTAssertEqual(low.resolved.localization.positionInterval, .seconds(2))
        XCTAssertEqual(low.resolved.localization.positioning.particleCount, 500)
        XCTAssertEqual(low.resolved.scanner.timing, .half)
        XCTAssertEqual(ScanSchedule(low), ScanSchedule(cycle: .continuous, timing: .half))
        await stage.localizer.setDesiredAccuracy(.bestForCart)
        let cart = await stage.localizer.settings
        XCTAssertEqual(cart.resolved.localization.positioning.motion, MotionModel(.shoppingCart))
        XCTAssertEqual(cart.resolved.localization.positionInterval, standard.positionInterval)
        XCTAssertNil(cart.resolved.scanner.timing)
        await stage.localizer.setDesiredAccuracy(.best)
        let best = await stage.localizer.settings
        XCTAssertEqual(best, SettingsStack(localization: standard))
        let accuracy = await stage.localizer.desiredAccuracy
        XCTAssertEqual(accuracy, .best)
    }

    func testLowAccuracyNeverAsksForMoreThanTheSettings() throws {
        var settings = LocalizationSettings()
        settings.positionInterval = .seconds(5)
        settings.positioning.particleCount = 200
        var stack = SettingsStack(localization: settings)
        try stack.override("scanner.powerMode", "eco")
        stack.apply()
        stack.desiredAccuracy = .low
        XCTAssertEqual(stack.resolved.localization.positionInterval, .seconds(5))
        XCTAssertEqual(stack.resolved.localization.positioning.particleCount, 200)
        XCTAssertEqual(ScanSchedule(stack).cycle, PowerMode.eco.dutyCycle, "the rests stay")
    }

    /// Positions come every 2 s as soon as low accuracy is asked for, and as often as before once it isn't.
    func testLowAccuracyReducesThePositionsAtOnce() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        let positions = stage.localizer.positions
        await stage.localizer.setDesiredAccuracy(.low)
        // The timing of the radio is half as well, for which the scan begins anew.
        try await stage.source.waitUntilScanning(2)
        for reading in LocalizerStage.walk(from: Self.beginning + 5.6, for: 10) { stage.source.send(reading) }
        let told = try await Bounded.first(4, of: positions)
        for (one, next) in zip(told.dropFirst(), told.dropFirst(2)) {
            XCTAssertEqual(one.instant.duration(to: next.instant), .seconds(2))
        }
    }

    // MARK: - Trace

    func testEachSessionHasItsOwnTraceID() async throws {
        let numbers = WatchedState<UInt64>(0xABC)
        let source = ScriptedSource()
        let localizer = Localizer(
            source: source, venues: VenueLibrary([]), clock: ManualClock(),
            traceIDs: {
                TraceID(
                    rawValue: numbers.update {
                        $0 += 1; return $0
                    })
            })
        let before = await localizer.traceID
        XCTAssertNil(before)
        await localizer.start()
        let first = await localizer.traceID
        XCTAssertEqual(first?.description, "0000000000000abd")
        await localizer.start()
        let same = await localizer.traceID
        XCTAssertEqual(same, first, "the session is on already")
        await localizer.stop()
        let after = await localizer.traceID
        XCTAssertEqual(after, first, "for what is told of it later")
        await localizer.start()
        let second = await localizer.traceID
        XCTAssertEqual(second, TraceID(rawValue: 0xABE))
    }

    func testATraceIDIsRandomAndCanBeParsed() {
        let names = Set((0..<100).map { _ in TraceID() })
        XCTAssertEqual(names.count, 100)
        for name in names { XCTAssertEqual(TraceID(name.description), name) }
        var generator = SeededGenerator(seed: 7)
        var again = SeededGenerator(seed: 7)
        XCTAssertEqual(TraceID(using: &generator), TraceID(using: &again))
        for text in ["", "x", "12345678901234567", "+1", "0x1"] { XCTAssertNil(TraceID(text), text) }
    }
}

/// Where a session says that the device is at any instant.
final class PositionAtInstantTests: XCTestCase {
    /// A session that has taken in readings, and the positions that it told.
    private func session(
        _ readings: [SensorReading], _ settings: LocalizationSettings = LocalizerStage.settings, seed: UInt64 = 3
    ) -> (replay: SessionReplay, told: [Position]) {
        var replay = SessionReplay(venues: [SessionStage.office], settings: settings, seed: seed)
        var outputs = replay.start()
        for reading in readings { outputs += replay.handle(reading) }
        return (replay, outputs.compactMap(Self.position))
    }

    private static func position(_ output: SessionReplay.Output) -> Position? {
        if case .position(let position) = output.content { position } else { nil }
    }

    func testThePositionBetweenTwoPositionsLiesOnTheLine() throws {
        let (replay, told) = session(LocalizerStage.walk(from: 0, for: 10))
        XCTAssertGreaterThan(told.count, 10)
        for (first, last) in zip(told, told.dropFirst()) {
            let share = 0.25
            let instant = first.instant.advanced(by: first.instant.duration(to: last.instant) * share)
            let between = try XCTUnwrap(replay.position(at: instant))
            XCTAssertEqual(between.instant, instant)
            XCTAssertEqual(between.x, first.x + share * (last.x - first.x), accuracy: 1e-9)
            XCTAssertEqual(between.y, first.y + share * (last.y - first.y), accuracy: 1e-9)
            XCTAssertEqual(between.radius, first.radius + share * (last.radius - first.radius), accuracy: 1e-9)
            let pixels = try [between, first, last].map { try XCTUnwrap($0.pixel).x }
            XCTAssertEqual(pixels[0], pixels[1] + share * (pixels[2] - pixels[1]), accuracy: 1e-6)
            XCTAssertEqual(replay.position(at: first.instant)?.point, first.point)
        }
    }

    /// The belief is carried on as the session will carry it on.
    func testThePositionAfterTheLatestEqualsTheNextPosition() throws {
        let (replay, told) = session(LocalizerStage.walk(from: 0, for: 10))
        let latest = try XCTUnwrap(told.last)
        var later = replay
        let next = try XCTUnwrap(
            later.handle(SessionStage.heard(1, at: latest.instant.seconds + 0.9)).compactMap(Self.position).first)
        let asked = try XCTUnwrap(replay.position(at: next.instant))
        XCTAssertEqual(asked, next)
        XCTAssertNotEqual(asked.point, latest.point)
    }

    func testAPositionQueryDoesNotChangeTheSession() {
        let readings = LocalizerStage.walk(from: 0, for: 10)
        var replay = SessionReplay(venues: [SessionStage.office], settings: LocalizerStage.settings, seed: 3)
        var outputs = replay.start()
        for reading in readings {
            outputs += replay.handle(reading)
            _ = replay.position(at: reading.instant.advanced(by: .seconds(2)))
        }
        XCTAssertEqual(outputs.compactMap(Self.position), session(readings).told)
    }

    func testThePositionIsLessCertainWithoutNewReadings() throws {
        let (replay, told) = session(LocalizerStage.walk(from: 0, for: 10))
        let latest = try XCTUnwrap(told.last)
        let later = try XCTUnwrap(replay.position(at: latest.instant.advanced(by: .seconds(8))))
        XCTAssertGreaterThan(later.radius, latest.radius)
    }

    func testThereIsNoPositionBeforeTheFirstAndLongAfterTheLatest() throws {
        let (replay, told) = session(LocalizerStage.walk(from: 0, for: 10))
        let (first, latest) = (try XCTUnwrap(told.first?.instant), try XCTUnwrap(told.last?.instant))
        XCTAssertNil(replay.position(at: first.advanced(by: .milliseconds(-1))))
        XCTAssertNotNil(replay.position(at: latest.advanced(by: .seconds(10))))
        XCTAssertNil(replay.position(at: latest.advanced(by: .milliseconds(10_001))))
        XCTAssertNil(SessionReplay(venues: [SessionStage.office]).position(at: .zero))
    }

    /// Half a minute is kept, however long the session, and however often it tells a position.
    func testALongSessionKeepsPositionsOfTheLastHalfMinute() throws {
        for (interval, length) in [(0.05, 40.0), (0.5, 150), (2, 150)] {
            var settings = LocalizerStage.settings
            settings.positionInterval = .seconds(interval)
            let (replay, told) = session(LocalizerStage.walk(from: 0, for: length), settings)
            let latest = try XCTUnwrap(told.last?.instant)
            XCTAssertNotNil(replay.position(at: latest.advanced(by: .seconds(-30))), "\(interval)")
            XCTAssertNil(replay.position(at: latest.advanced(by: .milliseconds(-30_001))), "\(interval)")
            XCTAssertNil(replay.position(at: latest.advanced(by: .seconds(-90))), "\(interval)")
        }
    }

    func testALocalizerReturnsThePositionAtAnInstant() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        let position = await stage.localizer.position(at: Instant(seconds: LocalizerStage.beginning + 6.5))
        XCTAssertEqual(position?.venueID, SessionStage.office.id)
        XCTAssertEqual(position?.instant, Instant(seconds: LocalizerStage.beginning + 6.5))
        await stage.localizer.stop()
        let after = await stage.localizer.position(at: Instant(seconds: LocalizerStage.beginning + 6.5))
        XCTAssertNil(after)
    }
}
