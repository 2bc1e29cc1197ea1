import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// How time passes for a localizer: by its clock on a live source, by the readings on a recording.
final class LocalizerTimeTests: XCTestCase {
    private static let beginning = LocalizerStage.beginning

    func testTheVenueIsLostWithoutAnyReading() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        let waited = try await stage.passTime(until: "searchVenue")
        // The last beacon was heard at 5.55 s, and the clock had not moved then; ticks come every half second.
        XCTAssertEqual(waited, 30, accuracy: 1)
    }

    func testTheLocalizerGivesUpAMissingPacketWithoutAnyReading() async throws {
        let stage = LocalizerStage()
        await stage.localizer.start()
        try await stage.reach("searchVenue")
        stage.venues.change { $0.isHeld = true }
        stage.source.send(SessionStage.heard(1, at: Self.beginning))
        try await stage.reach("getPacket")
        let waited = try await stage.passTime(until: "searchVenue")
        XCTAssertEqual(waited, 30, accuracy: 1)
        try await Bounded.wait(for: "the cancelled request") { try await stage.venues.waitForAnswers(2) }
    }

    func testTheLocalizerEmitsPositionsAtTheirIntervalWithoutAnyReading() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        let positions = stage.localizer.positions
        for _ in 0..<20 { try await stage.ring(within: 0.5) }
        let seen = try await Bounded.first(5, of: positions)
        for (earlier, later) in zip(seen, seen.dropFirst()) {
            XCTAssertEqual(earlier.instant.duration(to: later.instant), .milliseconds(500))
        }
    }

    func testTheAlarmFollowsTheSourcesInstantsWhateverTheirOrigin() async throws {
        let stage = LocalizerStage()
        await stage.localizer.start()
        try await stage.reach("searchVenue")
        stage.clock.advance(by: .seconds(3))
        stage.venues.change { $0.isHeld = true }
        stage.source.send(SessionStage.heard(1, at: Self.beginning))
        // The venue is lost 30 s from now on the clock, whatever the source calls now.
        try await stage.reach("getPacket")
        _ = try await stage.passTime(until: "searchVenue")
        XCTAssertEqual(stage.clock.now, Instant(seconds: 777 + 3 + 30))
        await stage.localizer.stop()
        try await Bounded.wait(for: "the end of the alarm") { try await stage.clock.waitUntilNobodySleeps() }
    }

    func testARetryThatWaitsWhenTheFirstReadingComesStaysOnTheClock() async throws {
        let stage = LocalizerStage()
        stage.venues.change { $0.catalogueFailures = [SessionStage.network] }
        let (states, errors) = (stage.localizer.states, stage.localizer.errors)
        await stage.localizer.start()
        _ = try await Bounded.first(1, of: errors)
        // The pause is of 0.5 to 1 s. The alarm for a slow catalogue, in 5 s, may still be there.
        let latest = stage.clock.now.advanced(by: .seconds(1))
        let due = try await Bounded.wait(for: "the alarm of the retry") {
            try await stage.clock.waitForSleeper(dueBy: latest)
        }
        stage.source.send(SessionStage.motion(at: Self.beginning))
        stage.source.send(SessionStage.heard(1, at: Self.beginning + 0.001))
        // Once the session knows its venues, the beacon would identify one.
        try await stage.waitForSightings(1)
        stage.clock.advance(to: due)
        _ = try await Bounded.elements(of: states, until: "searchVenue") { $0 == .searchVenue }
        XCTAssertEqual(stage.venues.requests, [.catalogue, .catalogue])
    }

    func testLateReadingsDoNotTurnTimeBack() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        let (positions, states) = (stage.localizer.positions, stage.localizer.states)
        for _ in 0..<10 {
            try await stage.ring(within: 0.5)
            // Sensed two seconds ago, delivered now.
            stage.source.send(SessionStage.heard(1, at: Self.beginning + 3))
        }
        for reading in LocalizerStage.walk(from: Self.beginning + 20, for: 3) { stage.source.send(reading) }
        stage.source.finish()
        _ = try await Bounded.elements(of: states, until: "the end") { $0 == .idle }
        let end = Instant(seconds: Self.beginning + 22)
        let seen = try await Bounded.elements(of: positions, until: "the last position") { $0.instant > end }
        XCTAssertGreaterThan(seen.count, 5)
        for (earlier, later) in zip(seen, seen.dropFirst()) { XCTAssertLessThan(earlier.instant, later.instant) }
    }

    func testTheEndOfALiveSourceEmitsALastPosition() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        let (positions, states) = (stage.localizer.positions, stage.localizer.states)
        // Between two ticks: a position that is told already is not told again.
        stage.clock.advance(by: .milliseconds(100))
        stage.source.finish()
        _ = try await Bounded.elements(of: states, until: "the end") { $0 == .idle }
        let seen = try await Bounded.elements(of: positions, until: "the last position") {
            $0.instant >= Instant(seconds: Self.beginning + 5.6)
        }
        XCTAssertFalse(seen.isEmpty)
    }

    func testARecordingGivesTheOutputsOfItsReplay() async throws {
        let readings =
            LocalizerStage.walk(from: 3, for: 20) + [30.0, 31].map { SessionStage.gnss(52.002, at: $0) }
            + LocalizerStage.walk(from: 32, for: 10, venue: 2)
        let stage = LocalizerStage(ScriptedSource(readings))
        let localizer = stage.localizer
        let (states, positions) = (localizer.states, localizer.positions)
        await localizer.start()

        var replay = SessionReplay(
            venues: [SessionStage.office, SessionStage.shop], settings: LocalizerStage.settings, seed: 1)
        var outputs = replay.start()
        for reading in readings { outputs += replay.handle(reading) }
        outputs += replay.finish()
        let expectedStates = outputs.compactMap { if case .state(let state) = $0.content { state } else { nil } }
        let expectedPositions = outputs.compactMap { if case .position(let place) = $0.content { place } else { nil } }

        let seenStates = try await Bounded.first(expectedStates.count + 1, of: states)
        XCTAssertEqual(Array(seenStates.dropFirst()), expectedStates)
        XCTAssertEqual(expectedStates.last, .idle)
        XCTAssertGreaterThan(expectedPositions.count, 40)
        XCTAssertEqual(Set(expectedPositions.map(\.venueID)), [1, 2])
        let seenPositions = try await Bounded.first(expectedPositions.count, of: positions)
        XCTAssertEqual(seenPositions, expectedPositions)
        XCTAssertEqual(localizer.droppedElements, 0)
    }

    func testARecordingLosesNothingToASlowSubscriber() async throws {
        var settings = LocalizerStage.settings
        settings.positionInterval = .milliseconds(50)
        let stage = LocalizerStage(ScriptedSource(LocalizerStage.walk(from: 0, for: 60)), settings)
        let (states, positions) = (stage.localizer.states, stage.localizer.positions)
        await stage.localizer.start()
        _ = try await Bounded.elements(of: states, until: "positions") { $0.name == "localizationRunning" }
        _ = try await Bounded.elements(of: states, until: "the end") { $0 == .idle }
        XCTAssertEqual(stage.localizer.droppedElements, 0)
        let seen = try await Bounded.elements(of: positions, until: "the last one") {
            $0.instant >= Instant(seconds: 59.9)
        }
        XCTAssertGreaterThan(seen.count, 1100, "more than the buffer of a live session holds")
    }
}

final class WallClockTests: XCTestCase {
    private static let noon: Int64 = 1_700_000_000_000

    /// A clock that shows noon at the beginning of a walk of the stage.
    private static func noon(later milliseconds: Int64 = 0) -> WallClock {
        WallClock(timeOfZero: .milliseconds(noon + milliseconds) - .seconds(LocalizerStage.beginning))
    }

    private static var settings: LocalizationSettings {
        var settings = LocalizerStage.settings
        settings.areaDwell = .zero
        return settings
    }

    /// What a session of the stage tells from its first reading on to its end.
    private func events(
        _ source: ScriptedSource, _ change: (ScriptedSource) -> Void = { _ in }
    ) async throws -> (events: [LocalizationEvent], localizer: Localizer) {
        let stage = LocalizerStage(source, venues: [EventHistoryTests.everywhere], Self.settings)
        let told = stage.localizer.events
        try await stage.run()
        // However late the packet came: the session ends after the entry.
        let end = LocalizerStage.beginning + 10
        let positions = stage.localizer.positions
        source.send(SessionStage.heard(1, at: end))
        _ = try await Bounded.elements(of: positions, until: "a later position") {
            $0.instant >= Instant(seconds: end - 1)
        }
        change(source)
        await stage.localizer.stop()
        stage.localizer.finishStreams()
        var events: [LocalizationEvent] = []
        for await event in told { events.append(event) }
        return (events, stage.localizer)
    }

    func testAnInstantIsRoundedDownToTheMillisecond() {
        let clock = WallClock(timeOfZero: .milliseconds(5))
        XCTAssertEqual(clock.unixTime(at: Instant(nanoseconds: 1_999_999)).milliseconds, 6)
        XCTAssertEqual(clock.unixTime(at: Instant(nanoseconds: 2_000_000)).milliseconds, 7)
        XCTAssertEqual(clock.unixTime(at: Instant(nanoseconds: -5_000_001)).milliseconds, -1)
        XCTAssertEqual(UnixTime(milliseconds: 1500).seconds, 1.5)
        XCTAssertLessThan(UnixTime(milliseconds: -1), UnixTime(milliseconds: 0))
    }

    /// An event's time is in milliseconds since 1970.
    func testAnEventHasTheWallClocksTimeBesideTheSourcesInstant() async throws {
        let source = ScriptedSource()
        source.wallClock = Self.noon()
        let told = try await events(source).events
        XCTAssertEqual(told.map(\.isEntry), [true, false])
        for event in told {
            let elapsed = Instant(seconds: LocalizerStage.beginning).duration(to: event.instant)
            XCTAssertEqual(event.unixTime?.milliseconds, Self.noon + elapsed.nanoseconds / 1_000_000)
        }
    }

    func testAClockChangeDuringTheSessionAppliesFromThenOn() async throws {
        let source = ScriptedSource()
        source.wallClock = Self.noon()
        let told = try await events(source) { $0.wallClock = Self.noon(later: 3_600_000) }.events
        let times = try told.map { event in
            let elapsed = Instant(seconds: LocalizerStage.beginning).duration(to: event.instant)
            return try XCTUnwrap(event.unixTime).milliseconds - Self.noon - elapsed.nanoseconds / 1_000_000
        }
        XCTAssertEqual(times, [0, 3_600_000])
    }

    /// The requested time is in milliseconds since 1970.
    func testEventsCanBeRequestedByWallClockTime() async throws {
        let source = ScriptedSource()
        source.wallClock = Self.noon()
        let (told, localizer) = try await events(source)
        let first = try XCTUnwrap(told.first?.unixTime)
        let before = UnixTime(milliseconds: first.milliseconds - 1)
        let all = await localizer.events(after: before)
        XCTAssertEqual(all, told)
        let later = await localizer.events(after: first)
        XCTAssertEqual(later, Array(told.dropFirst()))
        let last = try XCTUnwrap(told.last?.unixTime)
        let none = await localizer.events(after: last)
        XCTAssertEqual(none, [])
    }

    func testEventsOfASourceWithoutAWallClockHaveNoUnixTimeAndAreReturned() async throws {
        let source = ScriptedSource()
        XCTAssertNil(source.wallClock)
        let (told, localizer) = try await events(source)
        XCTAssertEqual(told.map(\.unixTime), [nil, nil])
        let found = await localizer.events(after: UnixTime(milliseconds: .max))
        XCTAssertEqual(found, told)
    }

    func testSourcesAroundASourceForwardItsWallClock() {
        let source = ScriptedSource()
        source.wallClock = Self.noon()
        XCTAssertEqual(SharedScanSource(source).wallClock, Self.noon())
        XCTAssertEqual(source.dutyCycled(.eco).wallClock, Self.noon())
        XCTAssertEqual(source.dutyCycledBySettings().wallClock, Self.noon())
        source.wallClock = nil
        XCTAssertNil(SharedScanSource(source.dutyCycled(.eco)).wallClock)
    }

    func testAReplayTimesItsEventsByItsWallClock() {
        for clock in [nil, WallClock(timeOfZero: .milliseconds(Self.noon))] {
            var replay = SessionReplay(venues: [SessionStage.office], settings: Self.settings)
            replay.wallClock = clock
            var outputs = replay.start()
            for reading in LocalizerStage.walk(from: 0, for: 15) { outputs += replay.handle(reading) }
            outputs += replay.finish()
            let events = outputs.compactMap { if case .event(let event) = $0.content { event } else { nil } }
            XCTAssertFalse(events.isEmpty)
            for event in events { XCTAssertEqual(event.unixTime, clock?.unixTime(at: event.instant)) }
        }
    }
}
