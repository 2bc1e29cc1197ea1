import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Coming to venues and floor plans, as the states tell it.
final class VisitTests: XCTestCase {
    private let office = SessionStage.office
    private let shop = SessionStage.shop

    private func told(_ states: [LocalizationState]) -> [String] {
        var machine = VisitMachine()
        return states.flatMap { machine.handle($0, at: .zero) }.map { event in
            (event.isEntry ? "+" : "-") + (event.floorPlan.map { "map \($0.mapID)" } ?? "venue \(event.venueID)")
        }
    }

    private func running(_ map: MapID) -> LocalizationState {
        .localizationRunning(RunningState(venue: office, mapID: map))
    }

    func testEachVenueAndFloorPlanHasOneEntryAndOneExit() {
        XCTAssertEqual(
            told([
                .idle, .started, .searchVenue, .getPacket(venueID: 1, progress: 0.5), .findFloor(office), running(10),
                running(10), .searchVenue, .idle,
            ]), ["+venue 1", "+map 10", "-map 10", "-venue 1"])
    }

    func testAnotherFloorIsEnteredWhenTheOneBeforeIsLeft() {
        XCTAssertEqual(
            told([.findFloor(office), running(10), .findFloor(office), running(11), .idle]),
            ["+venue 1", "+map 10", "-map 10", "+map 11", "-map 11", "-venue 1"])
        XCTAssertEqual(
            told([.findFloor(office), running(10), .findFloor(office), running(10)]), ["+venue 1", "+map 10"],
            "a floor that was looked for in vain")
    }

    func testAnErrorOrAnotherVenueEndsAllVisits() {
        let error = LocalizationState.error(SessionStage.credential)
        XCTAssertEqual(told([running(10), error]), ["+venue 1", "+map 10", "-map 10", "-venue 1"])
        XCTAssertEqual(
            told([running(10), .findFloor(shop)]), ["+venue 1", "+map 10", "-map 10", "-venue 1", "+venue 2"])
    }

    func testALocalizerEmitsItsVisits() async throws {
        let stage = LocalizerStage()
        let visits = stage.localizer.visits
        try await stage.run()
        await stage.localizer.stop()
        let seen = try await Bounded.first(4, of: visits)
        XCTAssertEqual(seen.map(\.isEntry), [true, true, false, false])
        XCTAssertEqual(seen.map(\.venueID), [1, 1, 1, 1])
        XCTAssertEqual(seen.map(\.floorPlan?.mapID), [nil, 10, 10, nil])
        let instants = seen.map(\.instant.seconds)
        XCTAssertTrue((LocalizerStage.beginning...LocalizerStage.beginning + 5.55).contains(instants[0]), "\(instants)")
        XCTAssertEqual(instants, instants.sorted())
        XCTAssertEqual(instants[3], LocalizerStage.beginning + 5.55, accuracy: 0.01, "the stop")
    }

    func testSatellitesNearAVenueBeginNoVisitButItsFirstBeaconDoes() async throws {
        let satellites = ScriptedSource()
        let stage = LocalizerStage(gnss: satellites)
        let (visits, venues) = (stage.localizer.visits, stage.localizer.downloadedVenues)
        await stage.localizer.start()
        try await stage.source.waitUntilScanning()
        try await satellites.waitUntilScanning()
        try await stage.reach("searchVenue")
        // 52.001° is 111 m from the office's centre, 61 m outside.
        for second in 0...1 {
            satellites.send(SessionStage.gnss(52.001, at: LocalizerStage.beginning + Double(second)))
        }
        _ = try await Bounded.first(1, of: venues)
        let state = await stage.localizer.state
        XCTAssertEqual(state.isOutdoor, true)
        stage.source.send(SessionStage.heard(1, at: LocalizerStage.beginning + 2))
        let first = try await Bounded.first(1, of: visits)
        XCTAssertEqual(first.map(\.content), [.enterVenue(office)])
        XCTAssertGreaterThanOrEqual(first[0].instant, Instant(seconds: LocalizerStage.beginning + 1))
        await stage.localizer.stop()
    }

    func testCalibrationQualitiesBeginWithTheCurrentOne() async throws {
        let localizer = LocalizerStage()
        let atOnce = try await Bounded.first(1, of: localizer.localizer.calibrationQualities)
        XCTAssertEqual(atOnce, [.poor], "before anything is known")
        var known = Calibration()
        (known.rssiOffset, known.rssiDeviation, known.stepDeviation) = (3, 0.5, 0.05)
        let qualities = localizer.localizer.calibrationQualities
        _ = try await Bounded.first(1, of: qualities)
        await localizer.localizer.setCalibration(known)
        let next = try await Bounded.first(1, of: localizer.localizer.calibrationQualities)
        XCTAssertEqual(next, [.excellent])
        let positioner = FloorPlanLocalizerStage()
        await positioner.positioner.setCalibration(known)
        let present = try await Bounded.first(1, of: positioner.positioner.calibrationQualities)
        XCTAssertEqual(present, [.excellent])
        try await localizer.run()
        let later = try await Bounded.first(1, of: qualities)
        XCTAssertGreaterThan(later[0], .poor, "told anew when a position came")
    }
}
