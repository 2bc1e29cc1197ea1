import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Whether positions can be expected.
final class ServiceStatusTests: XCTestCase {
    func testEachStateHasAStatus() {
        for (stage, status) in [
            (.idle, .stopped), (.started, .available), (.searchVenue, .available), (.getPacket, .available),
            (.findFloor, .available), (.localizationRunning, .available), (.error, .outOfService),
        ] as [(SessionStage.Stage, ServiceStatus)] {
            XCTAssertEqual(SessionStage.machine(in: stage).serviceStatus, status, stage.rawValue)
        }
    }

    func testTheServiceIsUnavailableWithoutTheNetworkUntilTheAnswerArrives() {
        var machine = SessionStage.machine(in: .started)
        _ = machine.handle(.catalogueFailed(SessionStage.network), at: 11)
        XCTAssertEqual(machine.serviceStatus, .unavailable)
        _ = machine.handle(.catalogue(SessionStage.summaries), at: 12)
        XCTAssertEqual(machine.serviceStatus, .available)
        _ = machine.handle(.reading(SessionStage.heard(1, at: 13)), at: 13)
        _ = machine.handle(.packetFailed(1, SessionStage.network), at: 14)
        XCTAssertEqual(machine.serviceStatus, .unavailable)
        _ = machine.handle(.packet(1, SessionStage.office), at: 15)
        XCTAssertEqual(machine.serviceStatus, .available)
    }

    func testTheServiceIsLimitedWithoutARadioUntilItReceives() {
        func radio(_ status: RadioEvent.Status) -> Machine.Event {
            .reading(.radio(RadioEvent(instant: Instant(seconds: 11), status: status)))
        }
        for back in [radio(.scanning), .reading(SessionStage.heard(1, at: 12))] {
            var machine = SessionStage.machine(in: .localizationRunning)
            _ = machine.handle(radio(.poweredOff), at: 11)
            XCTAssertEqual(machine.serviceStatus, .limited)
            _ = machine.handle(back, at: 12)
            XCTAssertEqual(machine.serviceStatus, .available)
        }
        var machine = SessionStage.machine(in: .searchVenue)
        _ = machine.handle(.sourceFailed(LocalizationError(code: .generic, message: "unplugged")), at: 11)
        XCTAssertEqual(machine.serviceStatus, .limited)
        _ = machine.handle(.stop, at: 12)
        _ = machine.handle(.start, at: 12)
        XCTAssertEqual(machine.serviceStatus, .available, "a new session knows nothing of it")
    }

    func testEachStateOfAFloorPlanLocalizerHasAStatus() {
        for (state, status) in [
            (.stopped(nil), .stopped), (.stopped(SessionStage.credential), .outOfService),
            (.reconnecting(SessionStage.network), .unavailable), (.connecting, .available), (.loading, .available),
            (.waitingForFix, .available), (.positioning, .available), (.buffering, .limited),
            (.heavyBuffering, .limited),
        ] as [(FloorPlanLocalizerState, ServiceStatus)] {
            XCTAssertEqual(state.serviceStatus, status, state.name)
        }
    }

    func testALocalizerEmitsEachStatusOnce() async throws {
        let stage = LocalizerStage()
        let statuses = stage.localizer.serviceStatuses
        try await stage.run()
        await stage.localizer.stop()
        let seen = try await Bounded.first(3, of: statuses)
        XCTAssertEqual(seen, [.stopped, .available, .stopped])
    }
}
