import IndoorLocalization
import XCTest

/// Each row of the table of `LocalizationState`: what is to be done, and the next state.
final class LocalizationMachineTransitionTests: XCTestCase {
    private let office = SessionStage.office

    private var running: LocalizationState {
        .localizationRunning(RunningState(venue: office, mapID: 10))
    }

    func testTheStagesAreTheStatesTheyAreNamedAfter() {
        for stage in SessionStage.Stage.allCases {
            XCTAssertEqual(SessionStage.machine(in: stage).state.name, stage.rawValue)
        }
    }

    func testStartBeginsASession() {
        var machine = SessionStage.machine(in: .idle)
        XCTAssertEqual(machine.handle(.start, at: 0), [.publish(.started), .fetchCatalogue, .startScanning])
        XCTAssertEqual(machine.state, .started)
    }

    func testStartAfterAnErrorBeginsANewSession() {
        var machine = SessionStage.machine(in: .error)
        XCTAssertEqual(machine.handle(.start, at: 20), [.publish(.started), .fetchCatalogue, .startScanning])
        XCTAssertEqual(machine.state, .started)
    }

    func testStartWithSettingsOutOfRangeIsACriticalErrorThatNamesThem() throws {
        var settings = LocalizationSettings()
        settings.positionInterval = .zero
        for stage in [SessionStage.Stage.idle, .error] {
            var machine = SessionStage.machine(in: stage, settings)
            let directives = machine.handle(.start, at: 0)
            guard case .error(let error) = machine.state else { return XCTFail("\(machine.state)") }
            XCTAssertEqual(error.code, .critical)
            let problem = "positionInterval must be in [0.05, 86400] s, not 0"
            XCTAssertTrue(error.message.contains(problem), error.message)
            XCTAssertEqual(directives, [.publish(.error(error)), .report(error)])
            XCTAssertNil(machine.nextWake)
        }
    }

    func testASessionIsOverInTheStatesInWhichStartBeginsOne() {
        for stage in SessionStage.Stage.allCases {
            XCTAssertEqual(SessionStage.machine(in: stage).state.isOver, [.idle, .error].contains(stage), "\(stage)")
        }
    }

    func testTheCatalogueBeginsTheSearch() {
        var machine = SessionStage.machine(in: .started)
        XCTAssertEqual(machine.handle(.catalogue(SessionStage.summaries), at: 10), [.publish(.searchVenue)])
        XCTAssertEqual(machine.state, .searchVenue)
    }

    func testABeaconStartsTheRequestOfItsVenuesPacket() {
        var machine = SessionStage.machine(in: .searchVenue)
        let next = LocalizationState.getPacket(venueID: 2, progress: 0)
        XCTAssertEqual(
            machine.handle(.reading(SessionStage.heard(2, at: 11)), at: 11), [.publish(next), .fetchPacket(2)])
        XCTAssertEqual(machine.state, next)
    }

    func testTwoSatellitePositionsInAVenueStartTheRequestOfItsPacketAndTheDeviceStaysOutdoors() {
        var machine = SessionStage.machine(in: .searchVenue)
        XCTAssertEqual(
            machine.handle(.reading(SessionStage.gnss(52, at: 11)), at: 11), [SessionStage.outdoors(52, at: 11)])
        let next = LocalizationState.getPacket(venueID: 1, progress: 0)
        XCTAssertEqual(
            machine.handle(.reading(SessionStage.gnss(52, at: 12)), at: 12),
            [.fetchPacket(1), SessionStage.outdoors(52, at: 12)])
        XCTAssertEqual(machine.state, next)
        XCTAssertEqual(machine.shownState, .searchVenue)
    }

    func testProgressIsPublished() {
        var machine = SessionStage.machine(in: .getPacket)
        let next = LocalizationState.getPacket(venueID: 1, progress: 0.25)
        XCTAssertEqual(machine.handle(.progress(1, 0.25), at: 11), [.publish(next)])
        XCTAssertEqual(machine.state, next)
    }

    func testProgressIsAtMostOne() {
        var machine = SessionStage.machine(in: .getPacket)
        XCTAssertEqual(
            machine.handle(.progress(1, 7), at: 11), [.publish(.getPacket(venueID: 1, progress: 1))])
    }

    func testThePacketBeginsTheSearchForTheFloor() {
        var machine = SessionStage.machine(in: .getPacket)
        XCTAssertEqual(machine.handle(.packet(1, office), at: 11), [.publish(.findFloor(office))])
        XCTAssertEqual(machine.state, .findFloor(office))
        XCTAssertEqual(machine.nextWake, Instant(seconds: 11), "what was heard before may tell the floor")
    }

    func testThePacketOfAVenueFoundBySatellitesIsAnnounced() {
        var machine = SessionStage.machine(in: .searchVenue)
        for second in [11.0, 12] { _ = machine.handle(.reading(SessionStage.gnss(52, at: second)), at: second) }
        XCTAssertEqual(
            machine.handle(.packet(1, office), at: 13), [.announceVenue(office)])
        XCTAssertEqual(machine.state, .findFloor(office))
        XCTAssertEqual(machine.shownState, .searchVenue)
    }

    func testPositionsStartWithAKnownFloor() throws {
        var machine = SessionStage.machine(in: .findFloor)
        XCTAssertEqual(machine.handle(.reading(SessionStage.fix(10, at: 10)), at: 10), [])
        let directives = machine.handle(.tick, at: 10)
        let position = Position(
            instant: Instant(seconds: 10), venueID: 1, mapID: 10, point: MapPoint(x: 20, y: 20), radius: 1,
            pixel: PixelPoint(x: 200, y: 200), floorCertainty: 1)
        XCTAssertEqual(directives, [.publish(running), .emit(position)])
        XCTAssertEqual(machine.state, running)
    }

    func testARunningSessionEmitsPositionsAtTheirInterval() {
        var machine = SessionStage.machine(in: .localizationRunning)
        let directives = machine.pass(to: 12)
        let instants = directives.compactMap { directive in
            if case .emit(let position) = directive { position.instant.seconds } else { nil }
        }
        XCTAssertEqual(instants, [10.5, 11, 11.5, 12])
        XCTAssertEqual(directives.count, 4)
        XCTAssertEqual(machine.state, running)
    }

    func testAChangeOfFloorGoesThroughFindFloor() {
        var machine = SessionStage.machine(in: .localizationRunning)
        _ = machine.handle(.reading(SessionStage.fix(11, at: 10.1)), at: 10.1)
        let states = machine.pass(to: 13).compactMap { directive in
            if case .publish(let state) = directive { state } else { nil }
        }
        let above = LocalizationState.localizationRunning(RunningState(venue: office, mapID: 11))
        XCTAssertEqual(states, [.findFloor(office), above])
        XCTAssertEqual(machine.state, above)
    }

    func testTheSessionLosesASilentVenueInEveryState() {
        for stage in [SessionStage.Stage.getPacket, .findFloor, .localizationRunning] {
            var machine = SessionStage.machine(in: stage)
            _ = machine.pass(to: 39.999)
            XCTAssertEqual(machine.state.name, stage.rawValue)
            let directives = machine.pass(to: 40)
            XCTAssertEqual(directives, [.cancelFetch, .publish(.searchVenue)], stage.rawValue)
            XCTAssertEqual(machine.state, .searchVenue, stage.rawValue)
            XCTAssertNil(machine.nextWake, stage.rawValue)
        }
    }

    func testASightingKeepsTheVenueInEveryState() {
        for stage in [SessionStage.Stage.getPacket, .findFloor, .localizationRunning] {
            var machine = SessionStage.machine(in: stage)
            _ = machine.pass(to: 30)
            _ = machine.handle(.reading(SessionStage.heard(1, at: 30)), at: 30)
            _ = machine.pass(to: 59.999)
            XCTAssertEqual(machine.state.name, stage.rawValue)
            _ = machine.pass(to: 60.5)
            XCTAssertEqual(machine.state, .searchVenue, stage.rawValue)
        }
    }

    func testSatellitePositionsOutdoorsEndTheVenueInEveryState() {
        for stage in [SessionStage.Stage.getPacket, .findFloor, .localizationRunning] {
            var machine = SessionStage.machine(in: stage)
            let told = stage == .localizationRunning ? [] : [SessionStage.outdoors(52.002, at: 16)]
            XCTAssertEqual(
                machine.handle(.reading(SessionStage.gnss(52.002, at: 16)), at: 16), told, stage.rawValue)
            XCTAssertEqual(
                machine.handle(.reading(SessionStage.gnss(52.002, at: 17)), at: 17),
                [.cancelFetch, .publish(.searchVenue), SessionStage.outdoors(52.002, at: 17)], stage.rawValue)
            XCTAssertEqual(machine.state, .searchVenue, stage.rawValue)
        }
    }

    func testAnotherVenueTakesOverInEveryState() {
        for stage in [SessionStage.Stage.getPacket, .findFloor, .localizationRunning] {
            var machine = SessionStage.machine(in: stage)
            // After 3 s the office is out of the window; then the shop must lead for 5 s.
            for second in stride(from: 11.0, through: 18, by: 1) {
                _ = machine.handle(.reading(SessionStage.heard(2, at: second)), at: second)
                XCTAssertEqual(machine.state.venueID, 1, "\(stage) at \(second) s")
            }
            XCTAssertEqual(
                machine.handle(.reading(SessionStage.heard(2, at: 20)), at: 20),
                [.cancelFetch, .publish(.searchVenue)], stage.rawValue)
            _ = machine.handle(.reading(SessionStage.heard(2, at: 21)), at: 21)
            XCTAssertEqual(machine.state, .getPacket(venueID: 2, progress: 0), stage.rawValue)
        }
    }

    func testStopEndsEveryState() {
        for stage in SessionStage.Stage.allCases where stage != .idle && stage != .error {
            var machine = SessionStage.machine(in: stage)
            XCTAssertEqual(
                machine.handle(.stop, at: 10), [.cancelFetch, .stopScanning, .publish(.idle)], stage.rawValue)
            XCTAssertEqual(machine.state, .idle, stage.rawValue)
            XCTAssertNil(machine.nextWake, stage.rawValue)
        }
    }

    func testStopAfterAnErrorIsIdle() {
        var machine = SessionStage.machine(in: .error)
        XCTAssertEqual(machine.handle(.stop, at: 10), [.publish(.idle)])
        XCTAssertEqual(machine.state, .idle)
    }

    func testTheEndOfTheSourceEndsEveryState() {
        for stage in [SessionStage.Stage.started, .searchVenue, .getPacket, .findFloor] {
            var machine = SessionStage.machine(in: stage)
            XCTAssertEqual(
                machine.handle(.sourceEnded, at: 10), [.cancelFetch, .stopScanning, .publish(.idle)], stage.rawValue)
            XCTAssertEqual(machine.state, .idle, stage.rawValue)
        }
    }

    func testTheEndOfTheSourceEmitsALastPosition() {
        var machine = SessionStage.machine(in: .localizationRunning)
        let directives = machine.handle(.sourceEnded, at: 10.3)
        guard case .emit(let position) = directives.first else { return XCTFail("\(directives)") }
        XCTAssertEqual(position.instant, Instant(seconds: 10.3))
        XCTAssertEqual(directives.dropFirst(), [.cancelFetch, .stopScanning, .publish(.idle)])
        XCTAssertEqual(machine.state, .idle)
        XCTAssertNil(machine.nextWake)
    }

    func testACriticalOrCredentialErrorOfTheSourceEndsEveryState() {
        for code in [LocalizationError.Code.critical, .credential] {
            let error = LocalizationError(code: code, message: "no radio")
            for stage in SessionStage.Stage.allCases where stage != .idle && stage != .error {
                var machine = SessionStage.machine(in: stage)
                XCTAssertEqual(
                    machine.handle(.sourceFailed(error), at: 10),
                    [.cancelFetch, .stopScanning, .publish(.error(error)), .report(error)], stage.rawValue)
                XCTAssertEqual(machine.state, .error(error), stage.rawValue)
                XCTAssertNil(machine.nextWake)
            }
        }
    }

    func testACredentialErrorOfARequestEndsTheSession() {
        let error = SessionStage.credential
        for (stage, event) in [
            (.started, .catalogueFailed(error)), (.getPacket, .packetFailed(1, error)),
        ] as [(SessionStage.Stage, Machine.Event)] {
            var machine = SessionStage.machine(in: stage)
            XCTAssertEqual(
                machine.handle(event, at: 10),
                [.cancelFetch, .stopScanning, .publish(.error(error)), .report(error)], stage.rawValue)
            XCTAssertEqual(machine.state, .error(error), stage.rawValue)
        }
    }

    func testTheDeviceLeavesRoomsAndFencesWithTheSessionAndTheVenue() {
        for (event, second) in [(.stop, 13), (.tick, 40)] as [(Machine.Event, Double)] {
            var machine = SessionStage.machine(in: .localizationRunning)
            _ = machine.handle(.reading(SessionStage.fix(10, 5, 5, at: 10)), at: 10)
            let entered = machine.pass(to: 13).compactMap(\.event)
            XCTAssertEqual(entered.map(\.kind), [.enterRoom(office.rooms[0]), .enterFence(office.fences[0])])
            _ = machine.pass(to: second - 0.001)
            let left = machine.handle(event, at: second).prefix(2).compactMap(\.event)
            XCTAssertEqual(left.map(\.kind), [.exitRoom(office.rooms[0]), .exitFence(office.fences[0])])
            XCTAssertEqual(left.map(\.instant), [Instant(seconds: second), Instant(seconds: second)])
        }
    }
}

extension Machine.Directive {
    var event: LocalizationEvent? {
        if case .emitEvent(let event) = self { event } else { nil }
    }
}
