import IndoorLocalization
import XCTest

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
