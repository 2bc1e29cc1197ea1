import IndoorLocalization
import IndoorLocalizationTesting
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

/// The scan and the satellite receiver beside it: each fails and ends alone.
final class LocalizationMachineDeliveryTests: XCTestCase {
    private let sessions = SessionStage.Stage.allCases.filter { $0 != .idle && $0 != .error }

    func testASessionWithAReceiverStartsTheScanAndTheReceiver() {
        var machine = SessionStage.machine(in: .idle, hasReceiver: true)
        XCTAssertEqual(
            machine.handle(.start, at: 0), [.publish(.started), .fetchCatalogue, .startScanning, .startReceiving])
    }

    func testTheSessionReportsAndRestartsAFailedReceiverWhateverTheError() throws {
        for code in LocalizationError.Code.allCases {
            for stage in sessions {
                var machine = SessionStage.machine(in: stage, hasReceiver: true)
                let (state, error) = (machine.state, LocalizationError(code: code, message: "no gpsd"))
                var expected = error
                expected.code = code == .network ? .network : .generic
                XCTAssertEqual(machine.handle(.gnssFailed(error), at: 10), [.report(expected)], stage.rawValue)
                XCTAssertEqual(machine.state, state)
                let begun = machine.pass(to: 11).filter { $0 == .startReceiving }
                XCTAssertEqual(begun, [.startReceiving], "after a pause of 0.5 to 1 s")
            }
        }
    }

    func testTheSessionRestartsARepeatedlyFailingReceiverLessOften() throws {
        var machine = SessionStage.machine(in: .searchVenue, hasReceiver: true)
        var now = Instant(seconds: 10)
        for failure in 0..<10 {
            _ = machine.handle(.gnssFailed(SessionStage.network), at: now)
            let due = try XCTUnwrap(machine.nextWake)
            let longest = min(60, Double(1 << failure))
            XCTAssertTrue((longest / 2...longest).contains(now.duration(to: due).seconds), "failure \(failure)")
            XCTAssertEqual(machine.handle(.tick, at: due), [.startReceiving])
            // The radio goes on delivering; that says nothing of the receiver.
            _ = machine.handle(.reading(SessionStage.motion(at: due.seconds)), at: due)
            now = due
        }
        _ = machine.handle(.reading(SessionStage.gnss(10, at: now.seconds)), at: now)
        _ = machine.handle(.gnssFailed(SessionStage.network), at: now)
        XCTAssertLessThanOrEqual(now.duration(to: try XCTUnwrap(machine.nextWake)), .seconds(1), "it has delivered")
    }

    private struct Unclassified: Error {}

    func testAnUnknownErrorOfTheScanEndsTheSessionUnlessAReceiverDelivers() {
        for hasReceiver in [false, true] {
            for stage in sessions {
                var machine = SessionStage.machine(in: stage, hasReceiver: hasReceiver)
                let state = machine.state
                let directives = machine.handle(.sourceFailed(Unclassified()), at: 10)
                let error = LocalizationError(
                    code: hasReceiver ? .generic : .critical, message: "the scan failed", cause: "Unclassified()")
                XCTAssertTrue(directives.contains(.report(error)), "\(directives)")
                XCTAssertEqual(machine.state, hasReceiver ? state : .error(error))
            }
        }
    }

    func testOnARecordingEveryErrorOfTheScanEndsTheSession() {
        for code in LocalizationError.Code.allCases {
            var machine = Machine(settings: SettingsStack(), seed: 1, pace: .recorded) { _, _ in FixBelief() }
            _ = machine.handle(.start, at: 10)
            let error = LocalizationError(code: code, message: "the file is broken", kind: .badResponse)
            _ = machine.handle(.sourceFailed(error), at: 10)
            var expected = error
            expected.code = code == .credential ? .credential : .critical
            XCTAssertEqual(machine.state, .error(expected))
        }
    }

    func testAnUnknownErrorOfTheReceiverIsReported() {
        var machine = SessionStage.machine(in: .searchVenue, hasReceiver: true)
        let error = LocalizationError(
            code: .generic, message: "the satellite receiver failed", cause: "Unclassified()")
        XCTAssertEqual(machine.handle(.gnssFailed(Unclassified()), at: 10), [.report(error)])
        XCTAssertEqual(machine.state, .searchVenue)
    }

    func testSatellitePositionsBesideTheScanDoNotShortenItsPauses() throws {
        var machine = SessionStage.machine(in: .searchVenue, hasReceiver: true)
        var now = Instant(seconds: 10)
        for _ in 0..<6 {
            _ = machine.handle(.sourceFailed(SessionStage.network), at: now)
            now = try XCTUnwrap(machine.nextWake)
            XCTAssertEqual(machine.handle(.tick, at: now), [.startScanning])
            _ = machine.handle(.reading(SessionStage.gnss(10, at: now.seconds)), at: now)
        }
        _ = machine.handle(.sourceFailed(SessionStage.network), at: now)
        XCTAssertGreaterThan(now.duration(to: try XCTUnwrap(machine.nextWake)), .seconds(29))
    }

    func testTheSessionEndsWithItsLastSender() {
        let ends: [(first: Machine.Event, second: Machine.Event)] = [
            (.sourceEnded, .gnssEnded), (.gnssEnded, .sourceEnded),
        ]
        for stage in sessions {
            for (first, second) in ends {
                var machine = SessionStage.machine(in: stage, hasReceiver: true)
                let state = machine.state
                XCTAssertEqual(machine.handle(first, at: 10), [], stage.rawValue)
                XCTAssertEqual(machine.state, state)
                XCTAssertEqual(machine.handle(second, at: 10).last, .publish(.idle), stage.rawValue)
                XCTAssertEqual(machine.state, .idle)
            }
        }
    }

    func testTheNextSessionStartsTheScanAndTheReceiverAgain() {
        var machine = SessionStage.machine(in: .searchVenue, hasReceiver: true)
        _ = machine.handle(.gnssEnded, at: 10)
        _ = machine.handle(.stop, at: 10)
        _ = machine.handle(.start, at: 20)
        XCTAssertEqual(machine.handle(.sourceEnded, at: 21), [], "the receiver delivers")
    }

    func testAStoppedSessionDoesNotReceiveAgain() {
        var machine = SessionStage.machine(in: .searchVenue, hasReceiver: true)
        _ = machine.handle(.gnssFailed(SessionStage.network), at: 10)
        _ = machine.handle(.stop, at: 10.1)
        XCTAssertNil(machine.nextWake)
    }

    func testASessionWithoutAReceiverIgnoresItsEvents() {
        for stage in SessionStage.Stage.allCases {
            for event in [Machine.Event.gnssEnded, .gnssFailed(SessionStage.credential)] {
                var machine = SessionStage.machine(in: stage)
                let (state, wake) = (machine.state, machine.nextWake)
                XCTAssertEqual(machine.handle(event, at: 10), [], stage.rawValue)
                XCTAssertEqual(machine.state, state)
                XCTAssertEqual(machine.nextWake, wake)
            }
        }
    }
}

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

/// What programs can tell errors by: code, kind and status, beside the text for people.
final class ErrorKindTests: XCTestCase {
    private struct Plain: Error {}

    private struct Classified: ClassifiedError {
        let kind: LocalizationError.Kind
        let status: LocalizationError.Status?
    }

    /// The error with which a session ends whose source fails so.
    private func told(of failure: any Error) async throws -> LocalizationError {
        let stage = LocalizerStage()
        let errors = stage.localizer.errors
        await stage.localizer.start()
        try await stage.reach("searchVenue")
        stage.source.fail(failure)
        return try await Bounded.first(1, of: errors)[0]
    }

    func testASourcesErrorKeepsItsKindAndItsStatus() async throws {
        let refused = try await told(of: Classified(kind: .permissionDenied, status: .system(13)))
        XCTAssertEqual(refused.code, .critical)
        XCTAssertEqual(refused.kind, .permissionDenied)
        XCTAssertEqual(refused.systemErrorNumber, 13)
        XCTAssertNil(refused.httpStatus)
        let answered = try await told(of: Classified(kind: .serviceUnavailable, status: .http(503)))
        XCTAssertEqual(answered.kind, .serviceUnavailable)
        XCTAssertEqual(answered.httpStatus, 503)
        XCTAssertNil(answered.systemErrorNumber)
        let plain = try await told(of: Plain())
        XCTAssertEqual(plain.kind, .unknown)
        XCTAssertNil(plain.status)
        let cancelled = try await told(of: CancellationError())
        XCTAssertEqual(cancelled.kind, .cancelled)
    }

    func testAnErrorWithoutAKindHasTheKindOfItsCode() {
        let kinds = LocalizationError.Code.allCases.map { LocalizationError(code: $0, message: "").kind }
        XCTAssertEqual(kinds, [.unknown, .serviceUnavailable, .invalidCredentials, .unknown])
    }

    /// One kind for each of the codes that can happen here.
    func testTheStatusOfAnAnswerDeterminesTheKind() {
        let kinds: [(ClosedRange<Int>, LocalizationError.Kind)] = [
            (400...400, .badRequest), (401...401, .invalidCredentials), (402...402, .badRequest),
            (403...403, .invalidCredentials), (404...404, .contentUnavailable), (405...406, .badRequest),
            (407...407, .proxyRefused), (408...408, .timedOut), (409...409, .badRequest),
            (410...410, .contentUnavailable), (411...428, .badRequest), (429...429, .serviceUnavailable),
            (430...499, .badRequest), (500...500, .serviceUnavailable), (501...501, .notSupported),
            (502...503, .serviceUnavailable), (504...504, .timedOut), (505...505, .notSupported),
            (506...599, .serviceUnavailable), (201...399, .badResponse),
        ]
        for (statuses, kind) in kinds {
            for status in statuses { XCTAssertEqual(LocalizationError.Kind(httpStatus: status), kind, "\(status)") }
        }
    }

    func testErrorsOfFloorPlansHaveTheirKinds() {
        let inner = LocalizationError(code: .network, message: "", kind: .timedOut, status: .http(504))
        let errors: [(FloorPlanError, LocalizationError.Kind)] = [
            (.cancelled, .cancelled), (.unknownMap(7, 1), .mapNotFound), (.noImage(7), .contentUnavailable),
            (.failed(inner), .timedOut),
        ]
        for (error, kind) in errors { XCTAssertEqual(error.kind, kind, "\(error)") }
        XCTAssertEqual(FloorPlanError.failed(inner).status, .http(504))
        XCTAssertNil(FloorPlanError.cancelled.status)
    }

    func testAFloorPlanLocalizerReportsWhetherTheVenueOrTheMapIsMissing() async throws {
        for (plan, kind) in [
            (FloorPlan(venueID: 9, map: SessionStage.office.maps[0]), LocalizationError.Kind.contentUnavailable),
            (FloorPlan(venueID: 2, map: SessionStage.office.maps[0]), .mapNotFound),
        ] {
            let positioner = FloorPlanLocalizer(
                on: plan, source: ScriptedSource(), venues: VenueLibrary([SessionStage.office, SessionStage.shop]),
                clock: ManualClock())
            let states = positioner.states
            await positioner.prepare()
            let seen = try await Bounded.elements(of: states, until: "the error") { $0.error != nil }
            XCTAssertEqual(seen.last?.error?.kind, kind)
        }
    }

    func testErrorsOfASessionsInputsHaveTheirKinds() async throws {
        var settings = LocalizationSettings()
        settings.areaDwell = .seconds(-1)
        let stage = LocalizerStage(ScriptedSource(), settings)
        let errors = stage.localizer.errors
        await stage.localizer.start()
        let error = try await Bounded.first(1, of: errors)[0]
        XCTAssertEqual(error.kind, .settings)
        XCTAssertEqual(LocalizationError.unknownBeacons([]).kind, .unknownBeacons)
        XCTAssertEqual(LocalizationError.instantsStandStill(at: .zero).kind, .sampling)
    }

    func testARadioThatStopsReceivingIsASensorError() async throws {
        let stage = LocalizerStage()
        let errors = stage.localizer.errors
        try await stage.run()
        stage.source.send(ScannerStage.radio(.poweredOff, at: LocalizerStage.beginning + 6))
        let error = try await Bounded.first(1, of: errors)[0]
        XCTAssertEqual(error.code, .generic)
        XCTAssertEqual(error.kind, .sensorFailed)
    }

    func testErrorsOfRoutesHaveTheirKinds() throws {
        var planner = RoutePlanner(venue: RouteStage.twoFloors)
        XCTAssertThrowsError(try planner.route(from: RouteStage.at(7, 0, 0), to: RouteStage.at(1, 0, 10))) { error in
            XCTAssertEqual((error as? RouteError)?.kind, .mapNotFound)
        }
        var empty = RoutePlanner(venue: SessionStage.office)
        XCTAssertThrowsError(try empty.route(from: RouteStage.at(10, 1, 1), to: RouteStage.at(10, 2, 2))) { error in
            XCTAssertEqual((error as? RouteError)?.kind, .contentUnavailable)
        }
    }
}
