import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// A localizer with a satellite receiver beside the radio.
final class LocalizerGNSSTests: XCTestCase {
    private struct Broken: Error, CustomStringConvertible {
        var description: String { "the sky fell down" }
    }

    private static let beginning = LocalizerStage.beginning

    private func started() async throws -> (stage: LocalizerStage, satellites: ScriptedSource) {
        let satellites = ScriptedSource()
        let stage = LocalizerStage(gnss: satellites)
        await stage.localizer.start()
        try await stage.source.waitUntilScanning()
        try await satellites.waitUntilScanning()
        try await stage.reach("searchVenue")
        return (stage, satellites)
    }

    func testSatellitesFindAVenueAndTheLocalizerEmitsItsData() async throws {
        let (stage, satellites) = try await started()
        let (venues, outdoors) = (stage.localizer.downloadedVenues, stage.localizer.outdoorPositions)
        for second in 0...1 { satellites.send(SessionStage.gnss(52, at: Self.beginning + Double(second))) }
        let found = try await Bounded.first(1, of: venues)
        XCTAssertEqual(found, [SessionStage.office])
        let state = await stage.localizer.state
        XCTAssertEqual(state, .searchVenue, "no beacon has been received")
        let told = try await Bounded.first(2, of: outdoors)
        XCTAssertEqual(
            told.map(\.instant), [0, 1].map { Instant(seconds: Self.beginning + $0) }, "no floor is known yet")
        XCTAssertEqual(told.map(\.radius), [5, 5])
    }

    func testEachEvaluationContainsTheStateAndTheDetectionOfTheVenue() async throws {
        let (stage, satellites) = try await started()
        let evaluations = stage.localizer.evaluations
        let venues = stage.localizer.downloadedVenues
        for second in 0...1 { satellites.send(SessionStage.gnss(52, at: Self.beginning + Double(second))) }
        let found = try await Bounded.first(2, of: evaluations)
        XCTAssertEqual(
            found, [VenueEvaluation(state: .searchVenue), VenueEvaluation(state: .searchVenue, detection: .satellites)])
        _ = try await Bounded.first(1, of: venues)
        let later = stage.localizer.evaluations
        stage.source.send(SessionStage.heard(1, at: Self.beginning + 1.1))
        let heard = try await Bounded.elements(of: later, until: "findFloor") { $0.state.name == "findFloor" }
        XCTAssertEqual(
            heard,
            [
                VenueEvaluation(state: .searchVenue, detection: .satellites),
                VenueEvaluation(state: .getPacket(venueID: 1, progress: 1), detection: .beacons),
                VenueEvaluation(state: .findFloor(SessionStage.office), detection: .beacons),
            ])
        let last = stage.localizer.evaluations
        await stage.localizer.stop()
        let over = try await Bounded.elements(of: last, until: "idle") { $0.state == .idle }
        XCTAssertEqual(over.last, VenueEvaluation(state: .idle))
    }

    func testTheReceiverRunsThroughoutAndSuppliesPositionsAfterTheVenueIsLost() async throws {
        let (stage, satellites) = try await started()
        for reading in LocalizerStage.walk(from: Self.beginning, for: 5) { stage.source.send(reading) }
        try await stage.reach("localizationRunning")
        let outdoors = stage.localizer.outdoorPositions
        let passed = try await stage.passTime(until: "searchVenue")
        XCTAssertEqual(satellites.scanCount, 1, "it was not begun anew")
        XCTAssertEqual(satellites.runningScanCount, 1)
        satellites.send(SessionStage.gnss(52.002, at: Self.beginning + 5 + passed))
        let told = try await Bounded.first(1, of: outdoors)
        XCTAssertEqual(told.map(\.coordinate.latitude), [52.002])
    }

    func testTheLocalizerEmitsNoVenueDataIfBeaconsFoundTheVenue() async throws {
        let (stage, satellites) = try await started()
        let (venues, states) = (stage.localizer.downloadedVenues, stage.localizer.states)
        stage.source.send(SessionStage.heard(1, at: Self.beginning))
        // Watched from before: the floor may be found at once.
        _ = try await Bounded.elements(of: states, until: "findFloor") { $0.name == "findFloor" }
        for second in 1...5 { satellites.send(SessionStage.gnss(52, at: Self.beginning + Double(second))) }
        // Lost, and found by satellites: the first that is told is of after the loss.
        satellites.send(SessionStage.gnss(52.002, at: Self.beginning + 11))
        satellites.send(SessionStage.gnss(52.002, at: Self.beginning + 12))
        try await stage.reach("searchVenue")
        for second in 13...14 { satellites.send(SessionStage.gnss(52.01, at: Self.beginning + Double(second))) }
        let found = try await Bounded.first(1, of: venues)
        XCTAssertEqual(found, [SessionStage.shop])
    }

    func testAReceiverThatRestedWhileTheVenueWasKnownRestartsAfterItsLoss() async throws {
        let (stage, satellites) = try await started()
        for reading in LocalizerStage.walk(from: Self.beginning, for: 5) { stage.source.send(reading) }
        try await stage.reach("localizationRunning")
        satellites.finish()
        try await Bounded.wait(for: "the end of the reception") { try await satellites.waitUntilNothingRuns() }
        let outdoors = stage.localizer.outdoorPositions
        let passed = try await stage.passTime(until: "searchVenue")
        try await satellites.waitUntilScanning(2)
        satellites.send(SessionStage.gnss(52.002, at: Self.beginning + 5 + passed))
        let told = try await Bounded.first(1, of: outdoors)
        XCTAssertEqual(told.map(\.coordinate.latitude), [52.002])
    }

    func testTheLocalizerReportsAndRetriesAFailedReceiverWhileTheRadioContinues() async throws {
        let (stage, satellites) = try await started()
        let errors = stage.localizer.errors
        satellites.fail(Broken())
        let error = try await Bounded.first(1, of: errors)[0]
        XCTAssertEqual(error.code, .generic)
        XCTAssertEqual(error.cause, "the sky fell down")
        try await stage.ring(within: 1)
        try await satellites.waitUntilScanning(2)
        for reading in LocalizerStage.walk(from: Self.beginning, for: 5) { stage.source.send(reading) }
        try await stage.reach("localizationRunning")
        XCTAssertEqual(stage.source.scanCount, 1)
    }

    func testTheLocalizerReportsAndRetriesAFailedRadioWhileSatellitesContinue() async throws {
        let (stage, satellites) = try await started()
        let (errors, outdoors) = (stage.localizer.errors, stage.localizer.outdoorPositions)
        stage.source.fail(Broken())
        let error = try await Bounded.first(1, of: errors)[0]
        XCTAssertEqual(error.code, .generic, "the session goes on outdoors")
        satellites.send(SessionStage.gnss(10, at: Self.beginning))
        let told = try await Bounded.first(1, of: outdoors)
        XCTAssertEqual(told[0].coordinate.latitude, 10)
        try await stage.ring(within: 1)
        try await stage.source.waitUntilScanning(2)
    }

    func testACriticalErrorOfTheRadioEndsTheSessionDespiteTheReceiver() async throws {
        let (stage, satellites) = try await started()
        stage.source.fail(SessionStage.credential)
        try await stage.reach("error")
        try await Bounded.wait(for: "the end of the reception") { try await satellites.waitUntilNothingRuns() }
    }

    func testASessionEndsWithItsLastSender() async throws {
        for isRadioFirst in [true, false] {
            let (stage, satellites) = try await started()
            let outdoors = stage.localizer.outdoorPositions
            (isRadioFirst ? stage.source : satellites).finish()
            // Whoever is left delivers.
            (isRadioFirst ? satellites : stage.source).send(SessionStage.gnss(10, at: Self.beginning))
            _ = try await Bounded.first(1, of: outdoors)
            (isRadioFirst ? satellites : stage.source).finish()
            try await stage.reach("idle")
        }
    }

    func testStopEndsTheReception() async throws {
        let (stage, satellites) = try await started()
        await stage.localizer.stop()
        try await Bounded.wait(for: "the end of the reception") { try await satellites.waitUntilNothingRuns() }
        XCTAssertEqual(satellites.runningScanCount, 0)
        await stage.localizer.start()
        try await satellites.waitUntilScanning(2)
        XCTAssertEqual(satellites.runningScanCount, 1)
    }

    func testADeallocatedLocalizerStopsReceiving() async throws {
        let satellites = try await started().satellites
        try await Bounded.wait(for: "the end of the reception") { try await satellites.waitUntilNothingRuns() }
    }

    func testInstantsOfAReceiverWithAnotherOriginMoveToTheSourcesTimeline() async throws {
        let (stage, satellites) = try await started()
        let (errors, outdoors) = (stage.localizer.errors, stage.localizer.outdoorPositions)
        // The radio event tells that the reading before it has arrived.
        stage.source.send(SessionStage.motion(at: Self.beginning))
        stage.source.send(.radio(RadioEvent(instant: Instant(seconds: Self.beginning), status: .poweredOff)))
        _ = try await Bounded.first(1, of: errors)
        stage.clock.advance(by: .seconds(2))
        for second in 0...2 { satellites.send(SessionStage.gnss(10, at: 1e9 + Double(second))) }
        let told = try await Bounded.first(3, of: outdoors)
        XCTAssertEqual(told.map(\.instant.seconds), [2, 3, 4].map { Self.beginning + $0 })
    }

    func testInstantsOfAReceiverWithTheSameOriginStay() async throws {
        let (stage, satellites) = try await started()
        let (errors, outdoors) = (stage.localizer.errors, stage.localizer.outdoorPositions)
        stage.source.send(SessionStage.motion(at: Self.beginning))
        stage.source.send(.radio(RadioEvent(instant: Instant(seconds: Self.beginning), status: .poweredOff)))
        _ = try await Bounded.first(1, of: errors)
        stage.clock.advance(by: .seconds(2))
        // What it delivers took 0.4 s.
        satellites.send(SessionStage.gnss(10, at: Self.beginning + 1.6))
        let told = try await Bounded.first(1, of: outdoors)
        XCTAssertEqual(told.map(\.instant.seconds), [Self.beginning + 1.6])
    }

    func testALocalizerOnARecordingIgnoresTheReceiver() async throws {
        let satellites = ScriptedSource()
        let recording = ScriptedSource([SessionStage.motion(at: 0), SessionStage.gnss(10, at: 1)])
        let stage = LocalizerStage(recording, gnss: satellites)
        let outdoors = stage.localizer.outdoorPositions
        await stage.localizer.start()
        let told = try await Bounded.first(1, of: outdoors)
        XCTAssertEqual(told.map(\.instant.seconds), [1], "its own")
        try await stage.reach("idle")
        XCTAssertEqual(satellites.scanCount, 0)
    }
}
