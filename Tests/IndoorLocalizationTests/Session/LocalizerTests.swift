import IndoorLocalization
import IndoorLocalizationTesting
import XCTest
@testable import LocalizationSession

/// What the localizer promises to its users: start, stop, streams.
final class LocalizerTests: XCTestCase {
    private static let beginning = LocalizerStage.beginning
    private let wayIn = ["started", "searchVenue", "getPacket", "getPacket", "findFloor", "localizationRunning"]

    /// `started` is always visited, with the catalogue of the venues.
    func testASessionGoesThroughItsStatesAndGivesPositions() async throws {
        let stage = LocalizerStage()
        let (states, positions) = (stage.localizer.states, stage.localizer.positions)
        try await stage.run()
        let seen = try await Bounded.first(7, of: states)
        XCTAssertEqual(seen.map(\.name), ["idle"] + wayIn)
        XCTAssertEqual(seen[3...4], [.getPacket(venueID: 1, progress: 0), .getPacket(venueID: 1, progress: 1)])
        let position = try await Bounded.first(1, of: positions)[0]
        XCTAssertEqual(position.venueID, 1)
        XCTAssertEqual(position.mapID, 10)
        let state = await stage.localizer.state
        XCTAssertEqual(state.name, "localizationRunning")
    }

    func testEverySubscriberReceivesTheStatesBeginningWithTheCurrentOne() async throws {
        let stage = LocalizerStage()
        let early = [stage.localizer.states, stage.localizer.states]
        try await stage.run()
        let late = stage.localizer.states
        await stage.localizer.stop()
        for stream in early {
            let seen = try await Bounded.first(8, of: stream)
            XCTAssertEqual(seen.map(\.name), ["idle"] + wayIn + ["idle"])
        }
        let seen = try await Bounded.first(2, of: late)
        XCTAssertEqual(seen.map(\.name), ["localizationRunning", "idle"])
    }

    func testTheSameStreamsContinueAfterARestart() async throws {
        let stage = LocalizerStage()
        let (states, positions) = (stage.localizer.states, stage.localizer.positions)
        try await stage.run()
        await stage.localizer.stop()
        await stage.localizer.start()
        try await stage.source.waitUntilScanning(2)
        try await stage.reach("searchVenue")
        // The second scan counts from zero again.
        for reading in LocalizerStage.walk(from: 0, for: 5) { stage.source.send(reading) }
        try await stage.reach("localizationRunning")
        await stage.localizer.stop()
        let seen = try await Bounded.first(15, of: states)
        XCTAssertEqual(seen.map(\.name), ["idle"] + wayIn + ["idle"] + wayIn + ["idle"])
        let found = try await Bounded.elements(of: positions, until: "a position of the second session") {
            $0.instant < Instant(seconds: 10)
        }
        let first = try XCTUnwrap(found.first)
        XCTAssertGreaterThanOrEqual(first.instant, Instant(seconds: Self.beginning), "of the first session")
    }

    func testASecondStartOrStopDoesNothing() async throws {
        let stage = LocalizerStage()
        let states = stage.localizer.states
        await stage.localizer.stop()
        await stage.localizer.start()
        try await stage.reach("searchVenue")
        await stage.localizer.start()
        await stage.localizer.stop()
        await stage.localizer.stop()
        await stage.localizer.start()
        let seen = try await Bounded.first(5, of: states)
        XCTAssertEqual(seen.map(\.name), ["idle", "started", "searchVenue", "idle", "started"])
        XCTAssertEqual(stage.source.scanCount, 2)
    }

    func testNothingIsEmittedAfterStopHasReturned() async throws {
        // Each round stops at another moment of a flood of readings.
        for round in 0..<20 {
            let (states, positions, events, errors, venues) = try await streamsAfterStop()
            let seen = try await Bounded.all(states)
            XCTAssertEqual(seen, [.idle], "round \(round)")
            let lost = try await (
                Bounded.all(positions).count, Bounded.all(events).count, Bounded.all(errors).count,
                Bounded.all(venues).count
            )
            XCTAssertEqual("\(lost)", "(0, 0, 0, 0)", "round \(round)")
        }
    }

    /// Stops a session in the middle, then lets things happen; the streams end with the localizer.
    private func streamsAfterStop() async throws -> (
        AsyncStream<LocalizationState>, AsyncStream<Position>, AsyncStream<LocalizationEvent>,
        AsyncStream<LocalizationError>, AsyncStream<Venue>
    ) {
        let stage = LocalizerStage()
        let localizer = stage.localizer
        try await stage.run()
        for reading in LocalizerStage.walk(from: Self.beginning + 5.6, for: 20) { stage.source.send(reading) }
        stage.source.fail(SessionStage.credential)
        stage.clock.advance(by: .seconds(1))
        await localizer.stop()
        let streams = (
            localizer.states, localizer.positions, localizer.events, localizer.errors, localizer.downloadedVenues
        )
        stage.clock.advance(by: .seconds(100))
        try await Bounded.wait(for: "the end of the scan") { try await stage.source.waitUntilNothingRuns() }
        try await Bounded.wait(for: "the end of the alarm") { try await stage.clock.waitUntilNobodySleeps() }
        return streams
    }

    func testTwoConcurrentLocalizersUseTheirOwnSources() async throws {
        let office = LocalizerStage()
        let shop = LocalizerStage()
        let (atOffice, atShop) = (office.localizer.positions, shop.localizer.positions)
        await office.localizer.start()
        await shop.localizer.start()
        try await office.reach("searchVenue")
        try await shop.reach("searchVenue")
        let walks = zip(
            LocalizerStage.walk(from: 0, for: 5), LocalizerStage.walk(from: Self.beginning, for: 5, venue: 2))
        for (first, second) in walks {
            office.source.send(first)
            shop.source.send(second)
        }
        try await office.reach("localizationRunning")
        try await shop.reach("localizationRunning")
        let first = try await Bounded.first(1, of: atOffice)[0]
        let second = try await Bounded.first(1, of: atShop)[0]
        XCTAssertEqual([first.venueID, second.venueID], [1, 2])
        await office.localizer.stop()
        let states = await (office.localizer.state.name, shop.localizer.state.name)
        XCTAssertEqual("\(states)", "(\"idle\", \"localizationRunning\")")
        XCTAssertEqual(shop.source.runningScanCount, 1)
    }

    func testASubscriptionIsCalledUntilItIsClosed() async throws {
        let stage = LocalizerStage()
        let (names, teller) = AsyncStream.makeStream(of: String.self)
        let observation = stage.localizer.watch(\.states) { teller.yield($0.name) }
        await stage.localizer.start()
        let seen = try await Bounded.first(3, of: names)
        XCTAssertEqual(seen, ["idle", "started", "searchVenue"])
        observation.close()
        await stage.localizer.stop()
        await stage.localizer.start()
        try await stage.reach("searchVenue")
        teller.finish()
        let late = try await Bounded.all(names)
        XCTAssertEqual(late, [])
    }

    func testADeallocatedLocalizerReleasesItsTasks() async throws {
        for moment in ["started", "searchVenue", "getPacket", "localizationRunning"] {
            let (source, clock, venues, states, isGone) = try await giveUp(in: moment)
            try await Bounded.wait(for: "the end of the scan (\(moment))") { try await source.waitUntilNothingRuns() }
            try await Bounded.wait(for: "the end of the alarm (\(moment))") { try await clock.waitUntilNobodySleeps() }
            try await Bounded.wait(for: "the end of the requests (\(moment))") {
                try await venues.waitForAnswers(venues.requests.count)
            }
            let seen = try await Bounded.all(states)
            XCTAssertEqual(seen.last?.name, moment)
            XCTAssertTrue(isGone(), moment)
        }
    }

    private func giveUp(in moment: String) async throws -> (
        ScriptedSource, ManualClock, ScriptedVenueSource, AsyncStream<LocalizationState>, () -> Bool
    ) {
        let stage = LocalizerStage()
        let states = stage.localizer.states
        if moment == "started" { stage.venues.change { $0.isHeld = true } }
        if moment == "localizationRunning" {
            try await stage.run()
        } else {
            await stage.localizer.start()
            try await stage.source.waitUntilScanning()
            if moment != "started" { try await stage.reach("searchVenue") }
        }
        if moment == "getPacket" {
            stage.venues.change { $0.isHeld = true }
            stage.source.send(SessionStage.heard(1, at: Self.beginning))
            try await stage.reach("getPacket")
            try await Bounded.wait(for: "the request") { try await stage.venues.waitForRequests(2) }
        }
        weak let localizer = stage.localizer
        return (stage.source, stage.clock, stage.venues, states, { [weak localizer] in localizer == nil })
    }
}

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
            // The task of the scan may not have run since it was cancelled.
            try await Bounded.wait(for: "the end of the scan (\(pace))") {
                try await stage.source.waitUntilNothingRuns()
            }
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

extension Localizer {
    /// Whether the session has handled the end of its satellite receiver.
    fileprivate var hasReceiverEnded: Bool { runtime.driver.machine.receiver?.hasEnded ?? false }
}

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

    /// Lets beacons be heard for 5 s; returns when the session has a position and has handled them all.
    private func walk(to stage: LocalizerStage) async throws {
        let walk = LocalizerStage.walk(from: Self.beginning, for: 5)
        for reading in walk { stage.source.send(reading) }
        try await stage.reach("localizationRunning")
        // One that is handled after the loss of the venue would bring it back.
        try await stage.waitForSightings(walk.count)
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
        try await walk(to: stage)
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
        try await walk(to: stage)
        satellites.finish()
        try await Bounded.poll(for: "the end of the reception") { await stage.localizer.hasReceiverEnded }
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
