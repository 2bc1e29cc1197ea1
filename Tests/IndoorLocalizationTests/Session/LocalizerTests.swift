import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

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
