import IndoorLocalization
import XCTest

/// What fails for now is reported and tried again.
final class LocalizationMachineErrorTests: XCTestCase {
    private let network = SessionStage.network
    private let generic = LocalizationError(code: .generic, message: "no space left")

    /// The pause until the machine asks again, in seconds.
    private func pause(_ machine: Machine, after second: Double) throws -> Double {
        Instant(seconds: second).duration(to: try XCTUnwrap(machine.nextWake)).seconds
    }

    func testTheSessionReportsAFailedCatalogueAndRequestsItAgain() throws {
        for error in [network, generic] {
            var machine = SessionStage.machine(in: .started)
            XCTAssertEqual(machine.handle(.catalogueFailed(error), at: 10), [.report(error)])
            XCTAssertEqual(machine.state, .started)
            XCTAssertEqual(machine.pass(to: 11), [.fetchCatalogue], "after at most the first pause, 1 s")
            XCTAssertEqual(machine.state, .started)
            XCTAssertNil(machine.nextWake)
        }
    }

    func testTheSessionReportsAFailedPacketAndRequestsItAgain() throws {
        for error in [network, generic] {
            var machine = SessionStage.machine(in: .getPacket)
            XCTAssertEqual(machine.handle(.packetFailed(1, error), at: 10), [.report(error)])
            XCTAssertEqual(machine.state, .getPacket(venueID: 1, progress: 0))
            XCTAssertEqual(machine.pass(to: 11), [.fetchPacket(1)])
            XCTAssertEqual(machine.handle(.packet(1, SessionStage.office), at: 11).count, 1)
            XCTAssertEqual(machine.state, .findFloor(SessionStage.office))
        }
    }

    func testPausesDoubleUpToAMinuteAndHalfOfEachIsRandom() throws {
        var machine = SessionStage.machine(in: .started)
        var second = 10.0
        var shares: Set<Double> = []
        for full in [1.0, 2, 4, 8, 16, 32, 60, 60, 60] {
            _ = machine.handle(.catalogueFailed(network), at: second)
            let pause = try pause(machine, after: second)
            XCTAssertGreaterThanOrEqual(pause, full / 2)
            XCTAssertLessThanOrEqual(pause, full)
            shares.insert(pause / full)
            second += pause
            XCTAssertEqual(machine.pass(to: second), [.fetchCatalogue])
        }
        XCTAssertGreaterThan(shares.count, 5, "devices that failed together must not return together")
    }

    func testDevicesWithDifferentSeedsRetryAtDifferentTimes() throws {
        var pauses: Set<Double> = []
        for seed in 1...20 as ClosedRange<UInt64> {
            var machine = SessionStage.machine(seed: seed)
            _ = machine.handle(.start, at: 0)
            _ = machine.handle(.catalogueFailed(network), at: 0)
            pauses.insert(try pause(machine, after: 0))
        }
        XCTAssertEqual(pauses.count, 20)
    }

    func testASuccessResetsTheRetryPause() throws {
        var machine = SessionStage.machine(in: .started)
        for second in [10.0, 20, 30] {
            _ = machine.handle(.catalogueFailed(network), at: second)
            _ = machine.pass(to: second + 9)
        }
        _ = machine.handle(.catalogue(SessionStage.summaries), at: 40)
        XCTAssertNil(machine.nextWake)
        _ = machine.handle(.reading(SessionStage.heard(1, at: 40)), at: 40)
        _ = machine.handle(.packetFailed(1, network), at: 40)
        XCTAssertLessThanOrEqual(try pause(machine, after: 40), 1)
    }

    func testASightingThatPostponesTheLossDoesNotPostponeTheRetry() {
        var settings = LocalizationSettings()
        settings.retryPause = .seconds(40)
        settings.venueLostTimeout = .seconds(10)
        var machine = SessionStage.machine(in: .getPacket, settings)
        _ = machine.handle(.packetFailed(1, network), at: 10)
        var asked: [Double] = []
        // The beacon stays: the loss moves on with it, the retry (after 20 to 40 s) must not.
        for second in stride(from: 11.0, through: 55, by: 1) {
            if machine.pass(to: second).contains(.fetchPacket(1)) { asked.append(second) }
            _ = machine.handle(.reading(SessionStage.heard(1, at: second)), at: second)
        }
        XCTAssertEqual(asked.count, 1)
        XCTAssertLessThanOrEqual(asked.first ?? .infinity, 50)
    }

    func testTheSessionReportsAPacketOfAnotherVenueAndRequestsItAgain() throws {
        var machine = SessionStage.machine(in: .getPacket)
        let directives = machine.handle(.packet(1, SessionStage.shop), at: 10)
        guard case .report(let error) = directives.first else { return XCTFail("\(directives)") }
        XCTAssertEqual(directives.count, 1)
        XCTAssertEqual(error.code, .generic)
        XCTAssertTrue(error.message.contains("the packet of venue 1 contains venue 2"), error.message)
        XCTAssertEqual(machine.state, .getPacket(venueID: 1, progress: 0))
        XCTAssertEqual(machine.pass(to: 11), [.fetchPacket(1)])
    }

    func testTheSessionRestartsATemporarilyFailedScanInEveryState() {
        for stage in SessionStage.Stage.allCases where stage != .idle && stage != .error {
            var machine = SessionStage.machine(in: stage)
            XCTAssertEqual(machine.handle(.sourceFailed(generic), at: 10), [.report(generic)], stage.rawValue)
            XCTAssertEqual(machine.state.name, stage.rawValue)
            let scans = machine.pass(to: 11).filter { $0 == .startScanning }
            XCTAssertEqual(scans.count, 1, stage.rawValue)
            XCTAssertEqual(machine.state.name, stage.rawValue)
        }
    }

    func testTheSessionRestartsARepeatedlyFailingScanLessOften() throws {
        var machine = SessionStage.machine(in: .searchVenue)
        var second = 10.0
        for full in [1.0, 2, 4, 8] {
            _ = machine.handle(.sourceFailed(generic), at: second)
            let pause = try pause(machine, after: second)
            XCTAssertGreaterThanOrEqual(pause, full / 2)
            XCTAssertLessThanOrEqual(pause, full)
            second += pause
            XCTAssertEqual(machine.pass(to: second), [.startScanning])
        }
        _ = machine.handle(.reading(SessionStage.motion(at: second)), at: second)
        _ = machine.handle(.sourceFailed(generic), at: second)
        XCTAssertLessThanOrEqual(try pause(machine, after: second), 1, "it worked in the meantime")
    }

    func testAStoppedSessionDoesNotScanAgain() {
        var machine = SessionStage.machine(in: .searchVenue)
        _ = machine.handle(.sourceFailed(generic), at: 10)
        _ = machine.handle(.stop, at: 10)
        XCTAssertNil(machine.nextWake)
        _ = machine.handle(.start, at: 10)
        XCTAssertNil(machine.nextWake)
    }

    func testTheLossOfAVenueDoesNotCancelTheNextScan() {
        var machine = SessionStage.machine(in: .localizationRunning)
        _ = machine.pass(to: 39.4)
        _ = machine.handle(.sourceFailed(generic), at: 39.4)
        // Satellites see the device far away.
        for second in [39.5, 39.6] { _ = machine.handle(.reading(SessionStage.gnss(53, at: second)), at: second) }
        XCTAssertEqual(machine.state, .searchVenue)
        let directives = machine.pass(to: 41)
        XCTAssertTrue(directives.contains(.startScanning), "\(directives)")
    }

    func testTheTimeOfAFailedScanIsNotCountedAsSilence() {
        var machine = SessionStage.machine(in: .localizationRunning)
        _ = machine.handle(.sourceFailed(generic), at: 20)
        var told = machine.pass(to: 100)
        XCTAssertTrue(told.contains(.startScanning))
        XCTAssertFalse(told.contains(.publish(.searchVenue)), "nobody listened")
        _ = machine.handle(.reading(.radio(RadioEvent(instant: Instant(seconds: 100), status: .scanning))), at: 100)
        told = machine.pass(to: 119.4)
        XCTAssertFalse(told.contains(.publish(.searchVenue)))
        XCTAssertTrue(machine.pass(to: 121).contains(.publish(.searchVenue)), "10 s before the failure, 20 s behind it")
    }
}
