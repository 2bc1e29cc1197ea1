import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

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
