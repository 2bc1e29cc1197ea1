import IndoorLocalization
import XCTest

/// A session whose radio rests, or is off: silence counts only while the radio listens.
final class RestingRadioTests: XCTestCase {
    private func radio(_ status: RadioEvent.Status, at seconds: Double) -> Machine.Event {
        .reading(.radio(RadioEvent(instant: Instant(seconds: seconds), status: status)))
    }

    /// The states that are told until a second, each with the second at which it was told.
    private func states(of machine: inout Machine, to seconds: Double) -> [String] {
        machine.pass(to: seconds).compactMap { if case .publish(let state) = $0 { state.name } else { nil } }
    }

    func testALongRestKeepsTheVenueAndTheSilenceBeforeIt() {
        for stage in [SessionStage.Stage.getPacket, .findFloor, .localizationRunning] {
            var machine = SessionStage.machine(in: stage)
            _ = machine.pass(to: 15)
            _ = machine.handle(radio(.resting, at: 15), at: 15)
            XCTAssertEqual(states(of: &machine, to: 105), [], stage.rawValue)
            _ = machine.handle(radio(.scanning, at: 105), at: 105)
            // 5 s of silence before the rest, and 25 s behind it.
            XCTAssertEqual(states(of: &machine, to: 129.4), [], stage.rawValue)
            XCTAssertEqual(states(of: &machine, to: 131), ["searchVenue"], stage.rawValue)
        }
    }

    func testASightingEndsARestWithoutARadioEvent() {
        var machine = SessionStage.machine(in: .localizationRunning)
        _ = machine.handle(radio(.resting, at: 11), at: 11)
        _ = machine.pass(to: 80)
        _ = machine.handle(.reading(SessionStage.heard(1, at: 80)), at: 80)
        XCTAssertEqual(states(of: &machine, to: 109.9), [])
        XCTAssertEqual(states(of: &machine, to: 110.5), ["searchVenue"])
    }

    func testALateSightingFromBeforeARestDoesNotEndIt() {
        var machine = SessionStage.machine(in: .localizationRunning)
        _ = machine.handle(radio(.resting, at: 20), at: 20)
        _ = machine.handle(.reading(SessionStage.heard(1, at: 19.9)), at: 21)
        XCTAssertEqual(states(of: &machine, to: 200), [])
    }

    func testARestCausesNoErrorAndNoLimitedStatus() {
        var machine = SessionStage.machine(in: .localizationRunning)
        XCTAssertEqual(machine.handle(radio(.resting, at: 11), at: 11), [])
        XCTAssertEqual(machine.serviceStatus, .available)
        for status in RadioEvent.Status.allCases {
            XCTAssertEqual(status.isFailure, !status.isHearing && status != .resting, status.rawValue)
        }
    }

    func testARadioThatIsOffKeepsTheVenueAsLongAsMotionWould() {
        var settings = LocalizationSettings()
        settings.motion.reckoningLimit = .seconds(600)
        var machine = SessionStage.machine(in: .localizationRunning, settings)
        _ = machine.handle(radio(.poweredOff, at: 12), at: 12)
        XCTAssertEqual(states(of: &machine, to: 611.9), [])
        XCTAssertEqual(states(of: &machine, to: 613), ["searchVenue"])
    }

    func testTheFirstReadingsTimeDoesNotCountAsSilence() {
        // The first reading tells where the source's timeline is: a session that began at 0 moves there.
        var machine = SessionStage.machine(in: .searchVenue)
        machine.shift(by: .seconds(5000))
        _ = machine.handle(.reading(SessionStage.heard(1, at: 5010)), at: 5010)
        _ = machine.handle(.packet(1, SessionStage.office), at: 5010)
        XCTAssertEqual(states(of: &machine, to: 5039.9), [])
        XCTAssertEqual(states(of: &machine, to: 5041), ["searchVenue"])
    }

    // MARK: - Satellites, rooms and floors

    func testSatellitesDoNotEndAVenueDuringARest() {
        for rests in [true, false] {
            var machine = SessionStage.machine(in: .localizationRunning)
            if rests { _ = machine.handle(radio(.resting, at: 11), at: 11) }
            var told: [Machine.Directive] = []
            // Just outside of the venue, as positions under a roof are, long after the last beacon.
            for second in 35...38 {
                told += machine.handle(
                    .reading(SessionStage.gnss(52.0006, at: Double(second))), at: Double(second))
            }
            let isLeft = told.contains(.publish(.searchVenue))
            XCTAssertEqual(isLeft, !rests)
        }
    }

    func testTheDeviceStaysInItsRoomsDuringARestUnlessMotionOrAFixLeavesThem() {
        for (what, leaves) in [("nothing", false), ("motion", true), ("a fix", true)] {
            var machine = inKitchen()
            _ = machine.handle(radio(.resting, at: 13), at: 13)
            _ = machine.pass(to: 20)
            // Whatever the belief comes to in the meantime: this one takes the fix at its word.
            _ = machine.handle(.reading(SessionStage.fix(10, 20, 20, at: 20)), at: 20)
            var told: [Machine.Directive] = []
            for second in 21...30 {
                let seconds = Double(second)
                if what == "motion" {
                    let sample = MotionSample(
                        instant: Instant(seconds: seconds), acceleration: Vector3(x: 0, y: 0, z: 9.81))
                    _ = machine.handle(.reading(.motion(sample)), at: seconds)
                } else if what == "a fix" {
                    _ = machine.handle(.reading(SessionStage.fix(10, 20, 20, at: seconds)), at: seconds)
                }
                told += machine.pass(to: seconds)
            }
            XCTAssertEqual(told.contains { $0.isExit }, leaves, what)
            _ = machine.handle(radio(.scanning, at: 31), at: 31)
            told += machine.pass(to: 40)
            XCTAssertTrue(told.contains { $0.isExit }, "\(what): whoever is elsewhere has left once the radio listens")
        }
    }

    func testADwellElapsesOnlyWhileTheRadioListens() {
        var machine = inKitchen()
        // Outside for one second of the two that an exit takes, then a long rest, then back inside.
        _ = machine.handle(.reading(SessionStage.fix(10, 20, 20, at: 13)), at: 13)
        var told = machine.pass(to: 14)
        _ = machine.handle(radio(.resting, at: 14), at: 14)
        told += machine.pass(to: 99)
        _ = machine.handle(radio(.scanning, at: 99), at: 99)
        told += machine.pass(to: 99.5)
        _ = machine.handle(.reading(SessionStage.fix(10, 5, 5, at: 99.6)), at: 99.6)
        told += machine.pass(to: 110)
        XCTAssertFalse(told.contains { $0.isExit })
    }

    func testTheFloorDoesNotChangeDuringARest() {
        var machine = SessionStage.machine(in: .localizationRunning)
        _ = machine.pass(to: 12)
        _ = machine.handle(.reading(SessionStage.fix(11, at: 12)), at: 12)
        _ = machine.handle(radio(.resting, at: 12.1), at: 12.1)
        XCTAssertEqual(states(of: &machine, to: 90), [], "the other floor was told for a moment only")
        _ = machine.handle(radio(.scanning, at: 90), at: 90)
        XCTAssertEqual(states(of: &machine, to: 100), ["findFloor", "localizationRunning"])
    }

    /// A machine that has told the entry into the kitchen, at second 13.
    private func inKitchen() -> Machine {
        var machine = SessionStage.machine(in: .localizationRunning)
        _ = machine.handle(.reading(SessionStage.fix(10, 5, 5, at: 10.1)), at: 10.1)
        let told = machine.pass(to: 13)
        XCTAssertTrue(told.contains { if case .emitEvent(let event) = $0 { event.isEntry } else { false } })
        return machine
    }
}

extension Machine.Directive {
    /// Whether a room or a fence was left.
    fileprivate var isExit: Bool {
        if case .emitEvent(let event) = self { !event.isEntry } else { false }
    }
}
