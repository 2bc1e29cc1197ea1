import IndoorLocalization
import XCTest

@testable import IndoorPositioning

/// The preparation of a belief apart from the session that waits for it.
final class BeliefPreparationTests: XCTestCase {
    private typealias Stage = SessionStage

    private let log = WatchedBelief()

    /// A machine whose shell prepares beliefs, waiting for the office's packet.
    private func machine(_ settings: LocalizationSettings = LocalizationSettings()) -> Machine {
        var machine = Machine(settings: settings, seed: 1, preparesApart: true) { [log] _ in FixBelief(log: log) }
        for event in [Machine.Event.start, .catalogue(Stage.summaries), .reading(Stage.heard(1, at: 10))] {
            _ = machine.handle(event, at: 10)
        }
        return machine
    }

    /// The work that is the only directive.
    private func work(_ directives: [Machine.Directive], line: UInt = #line) throws -> BeliefPreparation {
        guard directives.count == 1, case .prepareBelief(let work) = directives[0] else {
            XCTFail("\(directives)", line: line)
            throw LocalizationError(code: .generic, message: "no work")
        }
        return work
    }

    func testAPacketStartsThePreparationAndItsResultEntersTheVenue() throws {
        var machine = machine()
        let state = machine.state
        let work = try work(machine.handle(.packet(1, Stage.office), at: 11))
        XCTAssertEqual(machine.state, state)
        XCTAssertEqual(
            work,
            BeliefPreparation(
                venue: Stage.office, settings: PositioningSettings(), readings: [Stage.heard(1, at: 10)]))
        let result = work.run(machine.makeBelief)
        XCTAssertEqual(
            machine.handle(.prepared(work, result), at: 12), [.publish(.findFloor(Stage.office))])
        XCTAssertEqual(machine.state, .findFloor(Stage.office))
    }

    func testReadingsDuringThePreparationReachTheBeliefInOrder() throws {
        var machine = machine()
        let work = try work(machine.handle(.packet(1, Stage.office), at: 11))
        let readings = [Stage.heard(1, 2, at: 11.2), Stage.fix(10, at: 11.4), Stage.heard(1, 3, at: 11.6)]
        for reading in readings { _ = machine.handle(.reading(reading), at: reading.instant) }
        XCTAssertEqual(log.readings, [])
        _ = machine.handle(.prepared(work, work.run(machine.makeBelief)), at: 12)
        XCTAssertEqual(log.readings, [Stage.heard(1, at: 10)] + readings)
    }

    func testAFixSubmittedDuringThePreparationKeepsItsPlaceAmongTheReadings() throws {
        var machine = machine()
        let work = try work(machine.handle(.packet(1, Stage.office), at: 11))
        _ = machine.handle(.reading(Stage.heard(1, 2, at: 11.2)), at: 11.2)
        guard case .fix(let fix) = Stage.fix(10, at: 11.4) else { return XCTFail("no fix") }
        _ = machine.handle(.fix(fix), at: 11.4)
        XCTAssertEqual(machine.fixOutcome, .kept)
        _ = machine.handle(.reading(Stage.heard(1, 3, at: 11.6)), at: 11.6)
        _ = machine.handle(.prepared(work, work.run(machine.makeBelief)), at: 12)
        XCTAssertEqual(
            log.readings,
            [Stage.heard(1, at: 10), Stage.heard(1, 2, at: 11.2), .fix(fix), Stage.heard(1, 3, at: 11.6)])
    }

    func testSettingsThatDoNotConcernTheEngineLeaveThePreparationValid() throws {
        var machine = machine()
        let work = try work(machine.handle(.packet(1, Stage.office), at: 11))
        var settings = LocalizationSettings()
        settings.positionInterval = .milliseconds(200)
        _ = machine.handle(.settings(SettingsStack(localization: settings)), at: 11)
        _ = machine.handle(.prepared(work, work.run(machine.makeBelief)), at: 12)
        XCTAssertEqual(machine.state, .findFloor(Stage.office))
    }

    func testChangedSettingsDuringThePreparationRestartIt() throws {
        var machine = machine()
        let first = try work(machine.handle(.packet(1, Stage.office), at: 11))
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 500
        _ = machine.handle(.settings(SettingsStack(localization: settings)), at: 11)
        let second = try work(machine.handle(.prepared(first, first.run(machine.makeBelief)), at: 12))
        XCTAssertEqual(second.settings.particleCount, 500)
        _ = machine.handle(.prepared(second, second.run(machine.makeBelief)), at: 13)
        XCTAssertEqual(machine.state, .findFloor(Stage.office))
    }

    func testAResultThatNoSessionWaitsForIsIgnored() throws {
        var machine = machine()
        let work = try work(machine.handle(.packet(1, Stage.office), at: 11))
        let result = work.run(machine.makeBelief)
        var stopped = machine
        _ = stopped.handle(.stop, at: 12)
        XCTAssertEqual(stopped.handle(.prepared(work, result), at: 13), [])
        XCTAssertEqual(stopped.state, .idle)
        let other = BeliefPreparation(venue: Stage.shop, settings: PositioningSettings())
        XCTAssertEqual(machine.handle(.prepared(other, other.run(machine.makeBelief)), at: 13), [])
        _ = machine.handle(.prepared(work, result), at: 14)
        XCTAssertEqual(machine.handle(.prepared(work, result), at: 15), [], "a second time")
    }

    func testAFailedPreparationEndsTheSession() throws {
        var machine = machine()
        let work = try work(machine.handle(.packet(1, Stage.office), at: 11))
        let error = LocalizationError(code: .critical, message: "too large", kind: .badResponse)
        _ = machine.handle(.prepared(work, .failure(error)), at: 12)
        XCTAssertEqual(machine.state, .error(error))
    }

    func testTheVenueIsLostDuringThePreparationAsDuringADownload() throws {
        var machine = machine()
        _ = try work(machine.handle(.packet(1, Stage.office), at: 11))
        _ = machine.pass(to: 600)
        XCTAssertEqual(machine.state, .searchVenue)
    }

    func testThePreparationComputesTheTablesOfTheFirstGlobalUpdate() throws {
        let venue = PositioningStage.twoFloors
        let engine = PositioningEngine(venue: venue, seed: 1)
        let rates = engine.field.maps.map(\.totalRates)
        XCTAssertEqual(rates.map(\.isMade), [false, false])
        engine.prepareTables(for: [], on: PositioningStage.gallery)
        XCTAssertEqual(rates.map(\.isMade), [false, true], "the map that the device is on")
        let heard = Sighting(instant: .zero, beacon: PositioningStage.identity(0), rssi: -60)
        engine.prepareTables(for: [.sighting(heard)], on: nil)
        XCTAssertEqual(rates.map(\.isMade), [true, true], "maps where the beacon can be heard")
    }

    func testThePreparationOfAFloorPlanIsThatOfItsMap() throws {
        var machine = FloorPlanLocalizerMachine<FixBelief>(
            plan: FloorPlanLocalizerMachineStage.plan, settings: LocalizationSettings(), seed: 1, preparesApart: true
        ) { [log] _, _ in FixBelief(log: log) }
        for event in [FloorPlanLocalizerMachine<FixBelief>.Event.prepare(.init()), .catalogue(Stage.summaries)] {
            _ = machine.handle(event, at: .zero)
        }
        let directives = machine.handle(.packet(Stage.office), at: .zero)
        let work = BeliefPreparation(venue: Stage.office, settings: PositioningSettings(), mapID: 10)
        XCTAssertEqual(directives, [.prepareBelief(work)])
        XCTAssertEqual(machine.state, .loading)
        XCTAssertEqual(machine.handle(.prepared(work, work.run(machine.makeBelief)), at: .zero), [.publish(.ready)])
        XCTAssertEqual(machine.handle(.prepared(work, work.run(machine.makeBelief)), at: .zero), [], "a second time")
    }
}
