import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Another edition of the packet during a session.
final class VenueRenewalTests: XCTestCase {
    /// The office with another version.
    private static let renewed: Venue = {
        var venue = SessionStage.office
        venue.version += 1
        return venue
    }()

    private func states(_ directives: [Machine.Directive]) -> [LocalizationState] {
        directives.compactMap { if case .publish(let state) = $0 { state } else { nil } }
    }

    func testASessionUsesAnotherEditionAtOnceAndLocatesOn() {
        var machine = SessionStage.machine(in: .localizationRunning)
        XCTAssertEqual(states(machine.handle(.renewed(Self.renewed), at: 11)), [.findFloor(Self.renewed)])
        _ = machine.handle(.reading(SessionStage.fix(10, at: 12)), at: 12)
        let directives = machine.pass(to: 13)
        XCTAssertEqual(
            states(directives), [.localizationRunning(RunningState(venue: Self.renewed, mapID: 10))])
        XCTAssertTrue(directives.contains { if case .emit = $0 { true } else { false } })
        XCTAssertFalse(directives.contains(.fetchCatalogue))
    }

    func testTheLevelsOfBothEditionsAreCollected() {
        var machine = SessionStage.machine(in: .localizationRunning)
        _ = machine.handle(.collectLevels, at: 10)
        func versions(_ directives: [Machine.Directive]) -> [Int] {
            directives.compactMap { if case .emitLevels(let levels) = $0 { levels.version } else { nil } }
        }
        var seen: [Int] = []
        for second in 11...200 {
            let at = Double(second)
            if second == 100 { seen += versions(machine.handle(.renewed(Self.renewed), at: at)) }
            seen += versions(machine.pass(to: at))
            seen += versions(machine.handle(.reading(SessionStage.heard(1, at: at)), at: at))
            seen += versions(machine.handle(.reading(SessionStage.fix(10, at: at)), at: at))
        }
        // Each minute, and those of the seconds before the renewal.
        XCTAssertEqual(seen, [1, 1, 2, 2])
    }

    func testTheDeviceStaysInItsRoom() {
        var machine = SessionStage.machine(in: .localizationRunning)
        func events(_ directives: [Machine.Directive]) -> [LocalizationEvent.Kind] {
            directives.compactMap { if case .emitEvent(let event) = $0 { event.kind } else { nil } }
        }
        var told: [LocalizationEvent.Kind] = []
        func stay(from start: Int, to end: Int) {
            for second in start...end {
                let at = Double(second)
                told += events(machine.handle(.reading(SessionStage.heard(1, at: at)), at: at))
                told += events(machine.handle(.reading(SessionStage.fix(10, 5, 5, at: at)), at: at))
                told += events(machine.pass(to: at))
            }
        }
        stay(from: 11, to: 30)
        let kitchen = SessionStage.office.rooms[0]
        XCTAssertEqual(told.count { $0 == .enterRoom(kitchen) }, 1)
        told += events(machine.handle(.renewed(Self.renewed), at: 30.5))
        stay(from: 31, to: 50)
        XCTAssertEqual(told.count { $0 == .enterRoom(kitchen) }, 1, "no second entry")
        XCTAssertFalse(told.contains(.exitRoom(kitchen)))
    }

    /// A machine that runs in the office, and waits for the belief of the other edition.
    private func renewing() throws -> (machine: Machine, preparation: BeliefPreparation) {
        var machine = Machine(settings: LocalizationSettings(), seed: 1, preparesApart: true) { _ in FixBelief() }
        for event in SessionStage.Stage.way.prefix(4).flatMap(\.1) {
            for case .prepareBelief(let preparation) in machine.handle(event, at: 10) {
                _ = machine.handle(.prepared(preparation, .success(FixBelief())), at: 10)
            }
        }
        _ = machine.handle(.reading(SessionStage.fix(10, at: 10)), at: 10)
        _ = machine.pass(to: 10)
        XCTAssertEqual(machine.state.name, "localizationRunning")
        let preparation = try preparation(machine.handle(.renewed(Self.renewed), at: 11))
        return (machine, preparation)
    }

    private func preparation(_ directives: [Machine.Directive]) throws -> BeliefPreparation {
        try XCTUnwrap(
            directives.lazy.compactMap { if case .prepareBelief(let preparation) = $0 { preparation } else { nil } }
                .first)
    }

    func testTheEarlierEditionIsUsedUntilTheBeliefIsPrepared() throws {
        var (machine, preparation) = try renewing()
        XCTAssertEqual(machine.state.venue?.version, SessionStage.office.version)
        XCTAssertTrue(machine.pass(to: 12).contains { if case .emit = $0 { true } else { false } })
        XCTAssertEqual(
            states(machine.handle(.prepared(preparation, .success(FixBelief())), at: 12)), [.findFloor(Self.renewed)])
        XCTAssertEqual(machine.handle(.prepared(preparation, .success(FixBelief())), at: 13), [], "a second time")
    }

    func testOnlyTheLatestEditionIsUsed() throws {
        var (machine, second) = try renewing()
        // Taken back before it was prepared.
        let first = try preparation(machine.handle(.renewed(SessionStage.office), at: 11.5))
        XCTAssertEqual(machine.handle(.prepared(second, .success(FixBelief())), at: 12), [])
        XCTAssertEqual(
            states(machine.handle(.prepared(first, .success(FixBelief())), at: 12)),
            [.findFloor(SessionStage.office)])
    }

    func testAnEditionThatCannotBePreparedLeavesTheEarlierOneInUse() throws {
        var (machine, preparation) = try renewing()
        let directives = machine.handle(.prepared(preparation, .failure(SessionStage.credential)), at: 11)
        guard case .report(let error)? = directives.first else { return XCTFail("\(directives)") }
        XCTAssertFalse(error.endsSession)
        XCTAssertEqual(machine.state.venue, SessionStage.office)
    }

    func testTheRequestOfThePacketIsRepeated() {
        var machine = SessionStage.machine(in: .getPacket)
        let directives = machine.handle(.renewed(Self.renewed), at: 11)
        XCTAssertEqual(Array(directives.suffix(1)), [.fetchPacket(1)])
        XCTAssertEqual(directives.first, .cancelFetch)
    }

    func testAnEditionOfAnotherVenueChangesNothing() {
        for stage in SessionStage.Stage.allCases {
            var machine = SessionStage.machine(in: stage)
            let before = machine.state
            XCTAssertEqual(machine.handle(.renewed(SessionStage.shop), at: 11), [], stage.rawValue)
            XCTAssertEqual(machine.state, before)
        }
    }

    func testALocalizerContinuesWithAnotherEdition() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        let states = stage.localizer.states
        await stage.localizer.renew(Self.renewed)
        let seen = try await Bounded.elements(of: states, until: "the new edition") {
            $0.venue?.version == Self.renewed.version
        }
        XCTAssertFalse(seen.contains { $0.isOver }, "\(seen.map(\.name))")
    }
}
