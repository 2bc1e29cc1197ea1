import IndoorLocalization
import RecordUpload
import XCTest

/// The time at which a batch is sent, and the treatment of a batch that failed.
final class UploadMachineTests: XCTestCase {
    private func settings(size: Int = 10, interval: Duration = .seconds(60)) -> UploadSettings {
        var settings = UploadSettings()
        settings.batchSize = size
        settings.interval = interval
        return settings
    }

    private func machine(_ settings: UploadSettings, waiting: Int = 0) -> UploadMachine {
        var machine = UploadMachine(settings, seed: 1)
        _ = machine.handle(.start(waiting: waiting), at: .zero)
        return machine
    }

    private func seconds(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

    func testTheRecordsOfAnEarlierRunAreSentImmediately() {
        var machine = UploadMachine(settings(), seed: 1)
        XCTAssertEqual(machine.handle(.start(waiting: 3), at: .zero), [.send(size: 10, anew: false)])
        XCTAssertEqual(machine.state, .sending)
        var idle = UploadMachine(settings(), seed: 1)
        XCTAssertEqual(idle.handle(.start(waiting: 0), at: .zero), [])
        XCTAssertNil(idle.nextWake)
    }

    func testABatchIsSentAnIntervalAfterItsFirstRecordOrWhenItIsFull() {
        var machine = machine(settings())
        XCTAssertEqual(machine.handle(.queued(waiting: 1), at: seconds(5)), [])
        XCTAssertEqual(machine.handle(.queued(waiting: 9), at: seconds(20)), [])
        XCTAssertEqual(machine.nextWake, seconds(65))
        XCTAssertEqual(machine.handle(.tick, at: seconds(64.9)), [])
        XCTAssertEqual(machine.handle(.tick, at: seconds(65)), [.send(size: 10, anew: false)])
        XCTAssertEqual(machine.handle(.queued(waiting: 30), at: seconds(66)), [], "one batch at a time")
        XCTAssertEqual(machine.handle(.removed(waiting: 21), at: seconds(67)), [.send(size: 10, anew: false)])
        XCTAssertEqual(machine.handle(.removed(waiting: 1), at: seconds(68)), [])
        XCTAssertEqual(machine.nextWake, seconds(128))
        XCTAssertEqual(machine.handle(.queued(waiting: 10), at: seconds(70)), [.send(size: 10, anew: false)])
    }

    func testPausesGrowWhileTheNetworkIsDownAndResetAfterASuccess() {
        var machine = machine(settings(), waiting: 1)
        let away = UploadError(.unreachable, "away")
        var pauses: [Double] = []
        var now = seconds(0)
        for _ in 0..<8 {
            XCTAssertEqual(machine.handle(.failed(away), at: now), [.report(away)])
            let wake = machine.nextWake ?? now
            pauses.append(now.duration(to: wake).seconds)
            XCTAssertEqual(machine.handle(.queued(waiting: 1000), at: now), [], "it waits for the network")
            now = wake
            XCTAssertEqual(machine.handle(.tick, at: now), [.send(size: 10, anew: false)])
        }
        for (pause, longest) in zip(pauses, [5.0, 10, 20, 40, 60, 60, 60, 60]) {
            XCTAssertLessThanOrEqual(pause, longest)
            XCTAssertGreaterThanOrEqual(pause, longest / 2)
        }
        _ = machine.handle(.removed(waiting: 0), at: now)
        _ = machine.handle(.queued(waiting: 10), at: now)
        _ = machine.handle(.failed(away), at: now)
        XCTAssertLessThanOrEqual(machine.nextWake ?? now, now.advanced(by: .seconds(5)))
    }

    func testARefusedBatchIsSentAgainAtTheInterval() {
        var machine = machine(settings(), waiting: 1)
        let refusal = UploadError(.refused, status: 401, "no")
        XCTAssertEqual(machine.handle(.failed(refusal), at: seconds(1)), [.report(refusal)])
        XCTAssertEqual(machine.nextWake, seconds(61))
    }

    func testATooLargeBatchIsHalvedDownToOneRecordWhichIsDiscarded() {
        var machine = machine(settings(size: 4), waiting: 4)
        let error = UploadError(.tooLarge, status: 413, "too large")
        XCTAssertEqual(machine.handle(.failed(error), at: .zero), [.report(error), .send(size: 2, anew: true)])
        XCTAssertEqual(machine.handle(.failed(error), at: .zero), [.report(error), .send(size: 1, anew: true)])
        XCTAssertEqual(machine.handle(.failed(error), at: .zero), [.report(error), .reject])
        XCTAssertEqual(machine.handle(.removed(waiting: 3), at: .zero), [.send(size: 1, anew: false)])
    }

    func testARejectedBatchDoesNotBlockTheOthers() {
        var machine = machine(settings(), waiting: 15)
        let error = UploadError(.rejected, status: 422, "no")
        XCTAssertEqual(machine.handle(.failed(error), at: .zero), [.report(error), .reject])
        XCTAssertEqual(machine.handle(.removed(waiting: 12), at: .zero), [.send(size: 10, anew: false)])
    }

    func testAStopCancelsTheBatchAndLateAnswersHaveNoEffect() {
        var machine = machine(settings(), waiting: 1)
        XCTAssertEqual(machine.handle(.stop, at: .zero), [.cancel])
        XCTAssertEqual(machine.handle(.removed(waiting: 20), at: .zero), [])
        XCTAssertEqual(machine.handle(.queued(waiting: 20), at: .zero), [])
        XCTAssertEqual(machine.state, .stopped)
        XCTAssertNil(machine.nextWake)
    }

    func testOtherSettingsApplyFromTheNextBatchOn() {
        var machine = machine(settings())
        _ = machine.handle(.queued(waiting: 1), at: .zero)
        XCTAssertEqual(machine.handle(.change(settings(size: 3, interval: .seconds(1))), at: .zero), [])
        XCTAssertEqual(machine.handle(.queued(waiting: 3), at: .zero), [.send(size: 3, anew: false)])
    }
}
