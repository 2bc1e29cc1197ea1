import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

@testable import LocalizationSession

/// All outputs of a session as one stream.
final class SessionOutputTests: XCTestCase {
    /// The office, all of it one room.
    private static var house: Venue {
        var venue = SessionStage.office
        let area = Area.circle(center: MapPoint(x: 20, y: 15), radius: 200)
        venue.rooms = [Room(id: 1, name: "hall", mapID: 10, area: area)]
        return venue
    }

    private static func name(_ output: SessionOutput) -> String {
        switch output.content {
        case .state(let state): state.name
        case .position: "position"
        case .outdoorPosition: "outdoorPosition"
        case .motion: "motion"
        case .event(let event): event.isEntry ? "entry" : "exit"
        case .interaction: "interaction"
        case .downloadedVenue: "downloadedVenue"
        case .error(let error): "error \(error.message)"
        case .diagnosis(let diagnosis): "diagnosis \(diagnosis.reason)"
        }
    }

    func testTheOutputsOfARecordingAreThoseOfItsReplayInTheSameOrder() async throws {
        var settings = LocalizerStage.settings
        settings.areaDwell = .zero
        let readings =
            LocalizerStage.walk(from: 3, for: 20) + (0..<10).map { SessionStage.motion(at: 23 + Double($0) / 10) }
            + [60.0, 61].map { SessionStage.gnss(52.002, at: $0) } + LocalizerStage.walk(from: 62, for: 10, venue: 2)
        let venues = [Self.house, SessionStage.shop]
        let stage = LocalizerStage(ScriptedSource(readings), venues: venues, settings)
        let outputs = stage.localizer.outputs
        await stage.localizer.start()

        var replay = SessionReplay(venues: venues, settings: settings, seed: 1, tellsMotion: true)
        var expected = replay.start()
        for reading in readings { expected += replay.handle(reading) }
        expected += replay.finish()

        // The stream is read once the recording is over: all its outputs wait.
        try await stage.reach("idle")
        let seen = try await Bounded.first(expected.count, of: outputs)
        XCTAssertEqual(seen.map(Self.name), expected.map(Self.name))
        XCTAssertEqual(seen, expected)
        let kinds = Set(seen.map(Self.name))
        for kind in [
            "localizationRunning", "position", "outdoorPosition", "motion", "entry", "exit", "diagnosis silentBeacons",
            "diagnosis outdoors", "idle",
        ] {
            XCTAssertTrue(kinds.contains(kind), kind)
        }
    }

    /// A venue source that emits updates.
    private struct UpdatedVenues: VenueSource {
        let updates: AsyncStream<VenueUpdate>

        func catalogue() async throws -> [VenueSummary] { SessionStage.summaries }
        func packet(for id: VenueID, progress: @escaping @Sendable (Double) -> Void) async throws -> Venue {
            SessionStage.office
        }
    }

    func testASlowReaderOfALiveSessionLosesTheOldestOutputs() async throws {
        let (updates, update) = AsyncStream.makeStream(of: VenueUpdate.self)
        let localizer = Localizer(
            source: ScriptedSource(), venues: UpdatedVenues(updates: updates), clock: ManualClock())
        let (slow, states, errors) = (localizer.outputs, localizer.states, localizer.errors)
        await localizer.start()
        _ = try await Bounded.elements(of: states, until: "searchVenue") { $0 == .searchVenue }
        for number in 1...1100 {
            update.yield(.failure(LocalizationError(code: .generic, message: "\(number)")))
        }
        _ = try await Bounded.elements(of: errors, until: "the last error") { $0.message == "1100" }
        await localizer.stop()
        localizer.finishStreams()
        let seen = try await Bounded.all(slow).map(Self.name)
        XCTAssertEqual(seen.count, 1024)
        XCTAssertEqual(seen.first, "error 78")
        XCTAssertEqual(seen.suffix(2), ["error 1100", "idle"])
        XCTAssertEqual(localizer.outputBroadcast.dropped, 2 + 1100 + 1 - 1024)
    }

    func testTheOutputsContinueAfterARestartAndEndWithTheStreams() async throws {
        let stage = LocalizerStage()
        let outputs = stage.localizer.outputs
        for _ in 0..<2 {
            await stage.localizer.start()
            try await stage.reach("searchVenue")
            await stage.localizer.stop()
        }
        stage.localizer.finishStreams()
        let seen = try await Bounded.all(outputs).map(Self.name)
        XCTAssertEqual(seen, ["started", "searchVenue", "idle", "started", "searchVenue", "idle"])
    }

    func testAnErrorThatEndsTheSessionFollowsItsState() async throws {
        let stage = LocalizerStage()
        let outputs = stage.localizer.outputs
        await stage.localizer.start()
        try await stage.reach("searchVenue")
        stage.source.fail(SessionStage.credential)
        let seen = try await Bounded.first(4, of: outputs).map(\.content)
        XCTAssertEqual(seen.suffix(2), [.state(.error(SessionStage.credential)), .error(SessionStage.credential)])
    }
}
