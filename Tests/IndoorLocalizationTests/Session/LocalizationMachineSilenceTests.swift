import IndoorLocalization
import XCTest

/// Each pair of state and event that must do nothing.
final class LocalizationMachineSilenceTests: XCTestCase {
    private typealias Stage = SessionStage.Stage

    private let everything: [(name: String, event: Machine.Event)] = [
        ("start", .start), ("stop", .stop), ("tick", .tick), ("weather", .reading(SessionStage.motion(at: 10))),
        ("own beacon", .reading(SessionStage.heard(1, at: 10))), ("one fix", .reading(SessionStage.gnss(52, at: 10))),
        ("catalogue", .catalogue(SessionStage.summaries)), ("catalogue failed", .catalogueFailed(SessionStage.network)),
        ("catalogue refused", .catalogueFailed(SessionStage.credential)), ("progress", .progress(1, 0.5)),
        ("packet", .packet(1, SessionStage.office)), ("packet failed", .packetFailed(1, SessionStage.network)),
        ("packet refused", .packetFailed(1, SessionStage.credential)), ("source ended", .sourceEnded),
        ("source failed", .sourceFailed(SessionStage.network)),
        ("source refused", .sourceFailed(SessionStage.credential)),
    ]

    /// What of `everything` means something in a state; nothing else may.
    private let meaningful: [SessionStage.Stage: Set<String>] = [
        .idle: ["start"],
        .error: ["start", "stop"],
        .started: ["stop", "one fix", "catalogue", "catalogue failed", "catalogue refused"],
        .searchVenue: ["stop", "own beacon", "one fix"],
        .getPacket: ["stop", "one fix", "progress", "packet", "packet failed", "packet refused"],
        .findFloor: ["stop", "one fix", "tick"],
        .localizationRunning: ["stop"],
    ]

    private func assertNothing(_ machine: Machine, _ event: Machine.Event, at second: Double, _ name: String) {
        var machine = machine
        let (state, wake) = (machine.state, machine.nextWake)
        XCTAssertEqual(machine.handle(event, at: second), [], name)
        XCTAssertEqual(machine.state, state, name)
        XCTAssertEqual(machine.nextWake, wake, name)
    }

    func testEventsThatAStateIgnoresDoNothing() {
        for stage in Stage.allCases {
            let ends: Set = ["source ended", "source failed", "source refused"]
            let expected = (meaningful[stage] ?? []).union(stage == .idle || stage == .error ? [] : ends)
            for (name, event) in everything where !expected.contains(name) {
                assertNothing(SessionStage.machine(in: stage), event, at: 10, "\(stage): \(name)")
            }
        }
    }

    func testEventsThatAStateHandlesHaveAnEffect() {
        for stage in Stage.allCases {
            for (name, event) in everything where meaningful[stage]?.contains(name) ?? false {
                var machine = SessionStage.machine(in: stage)
                let (state, wake) = (machine.state, machine.nextWake)
                let directives = machine.handle(event, at: 10)
                XCTAssertTrue(
                    !directives.isEmpty || machine.state != state || machine.nextWake != wake, "\(stage): \(name)")
            }
        }
    }

    func testProgressNeverDecreases() {
        var machine = SessionStage.machine(in: .getPacket)
        _ = machine.handle(.progress(1, 0.5), at: 10)
        for fraction in [0.5, 0.4, 0, -1, .nan] {
            assertNothing(machine, .progress(1, fraction), at: 10, "\(fraction)")
        }
    }

    func testProgressIsCompleteOnce() {
        var machine = SessionStage.machine(in: .getPacket)
        _ = machine.handle(.progress(1, 1.1), at: 10)
        XCTAssertEqual(machine.state, .getPacket(venueID: 1, progress: 1))
        assertNothing(machine, .progress(1, 1.2), at: 10, "beyond the whole")
    }

    func testAnswersAboutAnotherVenueDoNothing() {
        let machine = SessionStage.machine(in: .getPacket)
        assertNothing(machine, .progress(2, 0.5), at: 10, "progress")
        assertNothing(machine, .packet(2, SessionStage.shop), at: 10, "packet")
        assertNothing(machine, .packetFailed(2, SessionStage.credential), at: 10, "failure")
    }

    func testATickBeforeItsTimeDoesNothing() {
        for stage in Stage.allCases {
            assertNothing(SessionStage.machine(in: stage), .tick, at: 9.999, stage.rawValue)
        }
    }

    func testAfterTheLossOfAVenueItsAnswersDoNothing() {
        var machine = SessionStage.machine(in: .getPacket)
        _ = machine.pass(to: 40)
        XCTAssertEqual(machine.state, .searchVenue)
        assertNothing(machine, .progress(1, 0.5), at: 40, "progress")
        assertNothing(machine, .packet(1, SessionStage.office), at: 40, "packet")
        assertNothing(machine, .packetFailed(1, SessionStage.credential), at: 40, "failure")
    }
}
