import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// What fails around a localizer, and what it makes of it.
final class LocalizerErrorTests: XCTestCase {
    private struct Broken: Error, CustomStringConvertible {
        var description: String { "the antenna fell off" }
    }

    private static let beginning = LocalizerStage.beginning

    func testASourceThatFailsEndsTheSessionWithACriticalError() async throws {
        let stage = LocalizerStage()
        let (states, errors) = (stage.localizer.states, stage.localizer.errors)
        await stage.localizer.start()
        try await stage.reach("searchVenue")
        stage.source.fail(Broken())
        let error = try await Bounded.first(1, of: errors)[0]
        XCTAssertEqual(error.code, .critical)
        XCTAssertEqual(error.cause, "the antenna fell off")
        let seen = try await Bounded.first(4, of: states)
        XCTAssertEqual(seen, [.idle, .started, .searchVenue, .error(error)])
        await stage.localizer.start()
        try await stage.reach("searchVenue")
        XCTAssertEqual(stage.source.scanCount, 2, "a new session")
    }

    func testTheLocalizerScansATemporarilyFailedSourceAgainAfterAPause() async throws {
        let stage = LocalizerStage()
        let errors = stage.localizer.errors
        try await stage.run()
        let failure = LocalizationError(code: .generic, message: "the adapter was reset")
        stage.source.fail(failure)
        let error = try await Bounded.first(1, of: errors)[0]
        XCTAssertEqual(error, failure)
        // The pause is of 0.5 to 1 s; positions have alarms of their own.
        while stage.source.scanCount < 2 { try await stage.ring(within: 1) }
        let state = await stage.localizer.state
        XCTAssertEqual(state.name, "localizationRunning", "one second is no loss")
        XCTAssertEqual(stage.source.runningScanCount, 1)
    }

    func testARecordingThatBreaksEndsTheSessionWhateverTheError() async throws {
        for error in [Broken(), SessionStage.network, SessionStage.credential] as [any Error] {
            let readings = LocalizerStage.walk(from: 0, for: 3)
            let stage = LocalizerStage(ScriptedSource(readings, failure: error))
            let (errors, positions) = (stage.localizer.errors, stage.localizer.positions)
            await stage.localizer.start()
            let told = try await Bounded.first(1, of: errors)[0]
            XCTAssertEqual(told.code, (error as? LocalizationError)?.code == .credential ? .credential : .critical)
            try await stage.reach("error")
            let last = try await Bounded.first(1, of: positions)
            XCTAssertEqual(last.count, 1, "what came before the error is not lost")
        }
    }

    func testTheLocalizerRetriesAVenueSourceThatFailsTwice() async throws {
        let stage = LocalizerStage()
        let (states, errors) = (stage.localizer.states, stage.localizer.errors)
        // Watched from before: the floor may be found at once.
        let path = stage.localizer.states
        stage.venues.change {
            $0.catalogueFailures = [Broken(), SessionStage.network]
            $0.packetFailures = [SessionStage.network, Broken()]
        }
        await stage.localizer.start()
        // Pauses are of 0.5 to 1 s and of 1 to 2 s.
        for pause in [1.0, 2] { try await stage.ring(within: pause) }
        try await stage.reach("searchVenue")
        stage.source.send(SessionStage.heard(1, at: Self.beginning))
        for pause in [1.0, 2] { try await stage.ring(within: pause) }
        _ = try await Bounded.elements(of: path, until: "findFloor") { $0.name == "findFloor" }
        XCTAssertEqual(
            stage.venues.requests, [.catalogue, .catalogue, .catalogue, .packet(1), .packet(1), .packet(1)])
        let told = try await Bounded.first(4, of: errors)
        XCTAssertEqual(told.map(\.code), [.generic, .network, .network, .generic])
        XCTAssertEqual(told[0].cause, "the antenna fell off")
        let seen = try await Bounded.first(6, of: states)
        XCTAssertEqual(seen.map(\.name), ["idle", "started", "searchVenue", "getPacket", "getPacket", "findFloor"])
    }

    func testOnARecordingTheReadingsAdvanceTheTimeToTheNextRetry() async throws {
        let stage = LocalizerStage(ScriptedSource(LocalizerStage.walk(from: Self.beginning, for: 30)))
        let states = stage.localizer.states
        stage.venues.change {
            $0.catalogueFailures = [Broken(), Broken()]
            $0.packetFailures = [Broken(), Broken()]
        }
        await stage.localizer.start()
        _ = try await Bounded.elements(of: states, until: "positions") { $0.name == "localizationRunning" }
        _ = try await Bounded.elements(of: states, until: "the end") { $0 == .idle }
        XCTAssertEqual(stage.venues.requests.count, 6)
        XCTAssertEqual(stage.clock.deadlines, [], "no alarm on a recording")
    }

    func testACredentialErrorEndsTheSession() async throws {
        for pace in [ScanPace.live, .recorded] {
            let stage = LocalizerStage(ScriptedSource(pace: pace))
            stage.venues.change { $0.catalogueFailures = [SessionStage.credential] }
            await stage.localizer.start()
            try await stage.reach("error")
            let state = await stage.localizer.state
            XCTAssertEqual(state, .error(SessionStage.credential))
            XCTAssertEqual(stage.source.runningScanCount, 0, "\(pace)")
        }
    }

    func testSettingsOutOfRangeAreTheFirstError() async throws {
        var settings = LocalizationSettings()
        settings.floor.settleProbability = 7
        settings.areaDwell = .seconds(-1)
        let stage = LocalizerStage(ScriptedSource(), settings)
        let (states, errors) = (stage.localizer.states, stage.localizer.errors)
        await stage.localizer.start()
        let error = try await Bounded.first(1, of: errors)[0]
        XCTAssertEqual(error.code, .critical)
        for problem in settings.problems { XCTAssertTrue(error.message.contains(problem), error.message) }
        let seen = try await Bounded.first(2, of: states)
        XCTAssertEqual(seen, [.idle, .error(error)])
        XCTAssertEqual(stage.venues.requests, [])
        XCTAssertEqual(stage.source.scanCount, 0)
    }

    func testTheLateAnswerToACancelledRequestIsIgnored() async throws {
        let stage = LocalizerStage()
        await stage.localizer.start()
        try await stage.reach("searchVenue")
        stage.venues.change {
            $0.isHeld = true
            $0.answersWhenCancelled = true
            $0.packetFailures = [SessionStage.credential]
            $0.progress = [0.9]
        }
        stage.source.send(SessionStage.heard(1, at: Self.beginning))
        try await Bounded.wait(for: "the request") { try await stage.venues.waitForRequests(2) }
        _ = try await stage.passTime(until: "searchVenue")
        let states = stage.localizer.states
        stage.source.send(SessionStage.heard(1, at: Self.beginning + 60))
        try await Bounded.wait(for: "the second request") { try await stage.venues.waitForRequests(3) }
        stage.venues.release(2)
        try await Bounded.wait(for: "the late answer") { try await stage.venues.waitForAnswers(2) }
        stage.venues.change { $0.progress = [0.5] }
        stage.venues.release(3)
        let seen = try await Bounded.first(4, of: states)
        XCTAssertEqual(
            seen,
            [
                .searchVenue, .getPacket(venueID: 1, progress: 0), .getPacket(venueID: 1, progress: 0.5),
                .findFloor(SessionStage.office),
            ])
    }

    func testAnAnswerAfterStopBelongsToNoSession() async throws {
        for pace in [ScanPace.live, .recorded] {
            let stage = LocalizerStage(ScriptedSource(pace: pace))
            stage.venues.change {
                $0.isHeld = true
                $0.answersWhenCancelled = true
            }
            let states = stage.localizer.states
            let starting = Task { await stage.localizer.start() }
            try await Bounded.wait(for: "the request") { try await stage.venues.waitForRequests(1) }
            await stage.localizer.stop()
            stage.venues.release()
            try await Bounded.wait(for: "start() to return") { await starting.value }
            try await Bounded.wait(for: "the answer") { try await stage.venues.waitForAnswers(1) }
            let second = Task { await stage.localizer.start() }
            try await Bounded.wait(for: "start() to return") { await second.value }
            let seen = try await Bounded.first(5, of: states)
            XCTAssertEqual(seen.map(\.name), ["idle", "started", "idle", "started", "searchVenue"], "\(pace)")
        }
    }
}
