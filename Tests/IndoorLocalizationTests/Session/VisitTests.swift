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

    func testCalibrationQualitiesContainEachChangeForASlowReader() async throws {
        var known = Calibration()
        (known.rssiOffset, known.rssiDeviation, known.stepDeviation) = (3, 0.5, 0.05)
        let stage = LocalizerStage()
        let qualities = stage.localizer.calibrationQualities
        _ = try await Bounded.first(1, of: qualities)
        for calibration in [known, Calibration(), known] { await stage.localizer.setCalibration(calibration) }
        let changes = try await Bounded.first(3, of: qualities)
        XCTAssertEqual(changes, [.excellent, .poor, .excellent])
        let floor = FloorPlanLocalizerStage()
        let present = floor.positioner.calibrationQualities
        _ = try await Bounded.first(1, of: present)
        for calibration in [known, Calibration(), known] { await floor.positioner.setCalibration(calibration) }
        let later = try await Bounded.first(3, of: present)
        XCTAssertEqual(later, [.excellent, .poor, .excellent])
        await stage.localizer.stop()
        await floor.positioner.stop()
    }
}

/// What a session makes of what a venue source tells without being asked.
final class VenueUpdateTests: XCTestCase {
    private let annex = Venue(
        id: 9, name: "annex", maps: [VenueMap(id: 90, name: "annex", level: 0, width: 10, height: 10)],
        beacons: [VenueBeacon(identity: SessionStage.beacon(9, 1), mapID: 90, point: MapPoint(x: 5, y: 5))])

    func testALateCatalogueMakesItsVenuesKnown() {
        var machine = SessionStage.machine(in: .searchVenue)
        let summaries = SessionStage.summaries + [VenueSummary(of: annex)]
        XCTAssertEqual(machine.handle(.venues(.catalogue(summaries)), at: 10), [])
        XCTAssertEqual(machine.state, .searchVenue)
        let directives = machine.handle(.reading(SessionStage.heard(9, at: 11)), at: 11)
        XCTAssertEqual(machine.state, .getPacket(venueID: 9, progress: 0))
        XCTAssertTrue(directives.contains(.fetchPacket(9)))
    }

    func testTheForcedVenueWithAPlaceIsEnteredOnceItIsKnown() {
        var settings = LocalizationSettings()
        settings.forcedVenue = 9
        var machine = SessionStage.machine(in: .searchVenue, settings)
        _ = machine.handle(.fix(Fix(instant: .zero, mapID: 90, point: MapPoint(x: 5, y: 5), radius: 1)), at: 10)
        XCTAssertEqual(machine.state, .searchVenue)
        _ = machine.handle(.venues(.catalogue([VenueSummary(of: annex)])), at: 11)
        XCTAssertEqual(machine.state, .getPacket(venueID: 9, progress: 0))
    }

    func testACatalogueUpdateReplacesThePendingAnswer() {
        var machine = SessionStage.machine(in: .started)
        XCTAssertEqual(
            machine.handle(.venues(.catalogue([VenueSummary(of: annex)])), at: 10), [.publish(.searchVenue)])
        XCTAssertEqual(machine.handle(.catalogue(SessionStage.summaries), at: 10), [])
        _ = machine.handle(.reading(SessionStage.heard(9, at: 11)), at: 11)
        XCTAssertEqual(machine.state, .getPacket(venueID: 9, progress: 0))
    }

    func testAFailureIsReportedAndACredentialErrorEndsTheSession() {
        for stage in [SessionStage.Stage.started, .searchVenue, .getPacket, .findFloor, .localizationRunning] {
            var machine = SessionStage.machine(in: stage)
            XCTAssertEqual(
                machine.handle(.venues(.failure(SessionStage.network)), at: 11), [.report(SessionStage.network)])
            XCTAssertEqual(machine.state.name, stage.rawValue)
            let last = machine.handle(.venues(.failure(SessionStage.credential)), at: 12)
            XCTAssertEqual(machine.state, .error(SessionStage.credential))
            XCTAssertTrue(last.contains(.report(SessionStage.credential)))
        }
    }

    func testTheSessionEmitsANewerVersionAndContinues() {
        var machine = SessionStage.machine(in: .localizationRunning)
        let state = machine.state
        var newer = SessionStage.office
        newer.version = 2
        XCTAssertEqual(machine.handle(.venues(.packet(newer)), at: 11), [.announceVenue(newer)])
        XCTAssertEqual(machine.state, state)
    }

    func testASessionThatIsOverIgnoresUpdates() {
        for stage in [SessionStage.Stage.idle, .error] {
            var machine = SessionStage.machine(in: stage)
            XCTAssertEqual(machine.handle(.venues(.failure(SessionStage.network)), at: 11), [])
        }
    }

    func testAFloorPlanLocalizerReportsAFailureAndEndsWithACredentialError() {
        var stage = FloorPlanLocalizerMachineStage()
        XCTAssertEqual(stage.handle(.venues(.failure(SessionStage.network)), at: 9), [], "it is stopped")
        stage.run()
        let state = stage.machine.state
        XCTAssertEqual(
            stage.handle(.venues(.failure(SessionStage.network)), at: 11), [.report(SessionStage.network)])
        XCTAssertEqual(stage.handle(.venues(.packet(SessionStage.office)), at: 11), [])
        XCTAssertEqual(stage.machine.state, state)
        let last = stage.handle(.venues(.failure(SessionStage.credential)), at: 12)
        XCTAssertEqual(stage.machine.state, .stopped(SessionStage.credential))
        XCTAssertTrue(last.contains(.report(SessionStage.credential)))
    }
}

final class FloorMachineTests: XCTestCase {
    private func machine(settledOn map: MapID? = nil) -> FloorMachine {
        var machine = FloorMachine(settings: FloorSettings())
        if let map { machine.observe([map: 1], at: .zero) }
        return machine
    }

    private func observe(_ machine: inout FloorMachine, _ probabilities: [MapID: Double], _ seconds: Double) {
        machine.observe(probabilities, at: Instant(seconds: seconds))
    }

    func testAnImprobableFloorIsNotSelectedAtOnce() {
        var machine = machine()
        observe(&machine, [1: 0.79, 2: 0.21], 5)
        XCTAssertNil(machine.map)
        XCTAssertEqual(machine.state, .searching(since: Instant(seconds: 5)))
    }

    func testAProbableFloorIsSelectedAtOnce() {
        var machine = machine()
        observe(&machine, [1: 0.8, 2: 0.2], 5)
        XCTAssertEqual(machine.state, .settled(map: 1, rival: nil))
    }

    func testTheMostProbableFloorIsSelectedAfterTheTimeout() {
        var machine = machine()
        observe(&machine, [1: 0.6, 2: 0.4], 5)
        observe(&machine, [1: 0.4, 2: 0.6], 6.999)
        XCTAssertNil(machine.map)
        observe(&machine, [1: 0.45, 2: 0.55], 7)
        XCTAssertEqual(machine.map, 2)
    }

    func testTheTimeoutBeginsWithTheFirstEvidence() {
        var machine = machine()
        observe(&machine, [:], 0)
        observe(&machine, [:], 10)
        observe(&machine, [1: 0.6, 2: 0.4], 20)
        XCTAssertEqual(machine.state, .searching(since: Instant(seconds: 20)))
    }

    func testTheLowestNumberWinsAmongEquallyProbableFloors() {
        var machine = machine()
        for second in [0.0, 2] { observe(&machine, [3: 0.25, 2: 0.25, 7: 0.25, 5: 0.25], second) }
        XCTAssertEqual(machine.map, 2)
    }

    func testARivalReplacesTheFloorAfterTheSwitchTime() {
        var machine = machine(settledOn: 1)
        observe(&machine, [1: 0.3, 2: 0.7], 10)
        XCTAssertEqual(
            machine.state, .settled(map: 1, rival: FloorMachine.Rival(map: 2, since: Instant(seconds: 10))))
        observe(&machine, [1: 0.3, 2: 0.7], 11.499)
        XCTAssertEqual(machine.map, 1)
        observe(&machine, [1: 0.3, 2: 0.7], 11.5)
        XCTAssertEqual(machine.state, .settled(map: 2, rival: nil))
    }

    func testAnImprobableRivalNeverReplacesTheFloor() {
        var machine = machine(settledOn: 1)
        for second in 0..<100 { observe(&machine, [1: 0.31, 2: 0.69], Double(second)) }
        XCTAssertEqual(machine.map, 1)
    }

    func testARivalThatFallsBackRestartsTheSwitchTime() {
        var machine = machine(settledOn: 1)
        observe(&machine, [1: 0.2, 2: 0.8], 10)
        observe(&machine, [1: 0.5, 2: 0.5], 11)
        observe(&machine, [1: 0.2, 2: 0.8], 11.4)
        observe(&machine, [1: 0.2, 2: 0.8], 12.8)
        XCTAssertEqual(machine.map, 1)
        observe(&machine, [1: 0.2, 2: 0.8], 12.9)
        XCTAssertEqual(machine.map, 2)
    }

    func testAnotherRivalRestartsTheSwitchTime() {
        var machine = machine(settledOn: 1)
        observe(&machine, [2: 0.8], 10)
        observe(&machine, [3: 0.8], 11)
        observe(&machine, [3: 0.8], 12.4)
        XCTAssertEqual(machine.map, 1)
        observe(&machine, [3: 0.8], 12.5)
        XCTAssertEqual(machine.map, 3)
    }

    func testWithoutEvidenceNothingChanges() {
        var machine = machine(settledOn: 1)
        observe(&machine, [2: 0.8], 10)
        let state = machine.state
        observe(&machine, [:], 20)
        XCTAssertEqual(machine.state, state)
    }

    func testAlternatingEvidenceDoesNotMakeTheFloorFlicker() {
        var machine = machine(settledOn: 1)
        for second in 0..<600 {
            observe(&machine, second % 2 == 0 ? [1: 0.1, 2: 0.9] : [1: 0.9, 2: 0.1], Double(second))
            XCTAssertEqual(machine.map, 1, "\(second) s")
        }
    }

    func testTheFloorChangesAfterTheDeviceHasGoneUp() {
        var machine = machine(settledOn: 1)
        var changes: [Double] = []
        for tick in 0..<40 {
            let second = Double(tick) / 2
            let before = machine.map
            observe(&machine, second < 5 ? [1: 0.9, 2: 0.1] : [1: 0.2, 2: 0.8], second)
            if machine.map != before { changes.append(second) }
        }
        XCTAssertEqual(changes, [6.5], "once, 1.5 s after the evidence has turned")
    }
}
