import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

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
