import BlueZScanning
import IndoorLocalization
import XCTest

final class HCILinkMachineTests: XCTestCase {
    private typealias Stage = HCILinkStage
    private var stage = HCILinkStage()

    // MARK: - Own scan

    func testTheMachineAsksForTheSupportedCommandsFirst() {
        XCTAssertEqual(stage.handle(.opened), [.send(Stage.readCommands)])
        XCTAssertEqual(stage.machine.phase, .probing)
    }

    func testTheLegacyCommandsAreUsedWithoutExtendedOnes() {
        _ = stage.handle(.opened)
        XCTAssertEqual(stage.probed(extended: false), [Stage.setParameters(.legacy)])
        XCTAssertEqual(stage.answer(0x200B), [Stage.enable(.legacy)])
        XCTAssertEqual(stage.answer(0x200C), [.report(.scanning, detail: nil)])
        XCTAssertEqual(stage.machine.phase, .scanning)
    }

    func testTheExtendedCommandsAreUsedWhereTheyAreSupported() {
        _ = stage.handle(.opened)
        XCTAssertEqual(stage.probed(extended: true), [Stage.setParameters(.extended)])
        XCTAssertEqual(stage.answer(0x2041), [Stage.enable(.extended)])
        XCTAssertEqual(stage.answer(0x2042), [.report(.scanning, detail: nil)])
    }

    func testTheExtendedCommandsAreUsedOnlyIfBothAreSupported() {
        for bits: UInt8 in [0x20, 0x40] {
            var stage = HCILinkStage()
            _ = stage.handle(.opened)
            let answer = [UInt8](repeating: 0, count: 37) + [bits] + [UInt8](repeating: 0, count: 26)
            XCTAssertEqual(stage.answer(0x1002, 0, answer), [Stage.setParameters(.legacy)], "\(bits)")
        }
    }

    func testTheLegacyCommandsAreUsedIfTheAdapterReportsNoCommands() {
        for (status, parameters): (UInt8, [UInt8]) in [(1, []), (0, [0xFF, 0xFF])] {
            var stage = HCILinkStage()
            _ = stage.handle(.opened)
            XCTAssertEqual(stage.answer(0x1002, status, parameters), [Stage.setParameters(.legacy)])
        }
    }

    func testTheLegacyCommandsAreTriedIfTheExtendedOnesAreDisallowed() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: true)
        XCTAssertEqual(stage.answer(0x2041, 0x0C), [Stage.setParameters(.legacy)])
        XCTAssertEqual(stage.answer(0x200B), [Stage.enable(.legacy)])
        XCTAssertEqual(stage.answer(0x200C), [.report(.scanning, detail: nil)])
        XCTAssertEqual(stage.machine.close(), [HCIScanCommands.legacy.enable(false)])
    }

    func testAnAdapterWithoutLEIsReportedAsRefused() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        XCTAssertEqual(stage.answer(0x200B, 0x01), [.report(.refused, detail: "the adapter has no LE scan commands")])
    }

    func testAnErrorOfTheAdapterIsReported() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        XCTAssertEqual(
            stage.answer(0x200B, 0x12),
            [.report(.refused, detail: "the adapter refused the scan parameters with error 0x12")])
        XCTAssertEqual(stage.machine.phase, .resting)
        XCTAssertEqual(stage.pass(.milliseconds(500)), [Stage.setParameters()])
        _ = stage.answer(0x200B)
        XCTAssertEqual(
            stage.answer(0x200C, 0x0C), [.report(.refused, detail: "the adapter refused the scan with error 0x0C")])
        XCTAssertEqual(stage.machine.close(), [], "a refused scan is not stopped")
    }

    // MARK: - Silence of the air

    func testAScanIsRestartedAfterAMinuteOfSilence() {
        stage.scan()
        XCTAssertEqual(stage.pass(.seconds(60)), [.send(HCIScanCommands.legacy.enable(false))])
        XCTAssertEqual(stage.answer(0x200C), [])
        XCTAssertEqual(stage.pass(.milliseconds(250)), [Stage.setParameters()])
        XCTAssertEqual(stage.answer(0x200B), [Stage.enable()])
        XCTAssertEqual(stage.answer(0x200C), [.report(.scanning, detail: nil)])
        XCTAssertEqual(stage.machine.close(), [HCIScanCommands.legacy.enable(false)])
    }

    func testAScanWithReportsContinues() {
        stage.scan()
        for _ in 0..<5 {
            XCTAssertEqual(stage.handle(.heard), [])
            XCTAssertEqual(stage.pass(.seconds(60)), [])
        }
        XCTAssertEqual(stage.machine.phase, .scanning)
        XCTAssertEqual(stage.pass(.seconds(60)).count, 1)
    }

    func testClosingDuringARestartLeavesNoScan() {
        stage.scan()
        _ = stage.pass(.seconds(60))
        XCTAssertEqual(stage.machine.close(), [], "the scan was already stopped")
    }

    // MARK: - The end

    func testAnOwnScanIsStoppedAtTheEnd() {
        for extended in [false, true] {
            var stage = HCILinkStage()
            stage.scan(extended: extended)
            XCTAssertEqual(
                stage.machine.close(), [(extended ? HCIScanCommands.extended : .legacy).enable(false)])
            XCTAssertEqual(stage.machine.phase, .closed)
        }
    }

    func testAScanThatMayHaveStartedIsStoppedAtTheEnd() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        _ = stage.answer(0x200B)
        XCTAssertEqual(stage.machine.close(), [HCIScanCommands.legacy.enable(false)])
    }

    func testNothingIsStoppedBeforeAScanStarts() {
        XCTAssertEqual(stage.machine.close(), [])
        _ = stage.handle(.opened)
        XCTAssertEqual(stage.machine.close(), [])
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        XCTAssertEqual(stage.machine.close(), [])
    }

    func testAScanOfAnotherProgramContinuesAfterTheEnd() {
        stage.share()
        XCTAssertEqual(stage.machine.phase, .sharing)
        XCTAssertEqual(stage.machine.close(), [])
    }

    func testNothingHappensAfterTheEnd() {
        stage.scan()
        _ = stage.machine.close()
        XCTAssertEqual(stage.foreign(Stage.foreignStart), [])
        XCTAssertEqual(stage.foreign(Stage.foreignStop), [])
        XCTAssertEqual(stage.answer(0x200C), [])
        XCTAssertEqual(stage.pass(.seconds(60)), [])
        XCTAssertEqual(stage.machine.phase, .closed)
    }

    // MARK: - Silence of the adapter

    func testAnAnswerMayTakeTwoSeconds() {
        _ = stage.handle(.opened)
        XCTAssertEqual(stage.machine.deadline, stage.now.advanced(by: .seconds(2)))
        XCTAssertEqual(stage.pass(.milliseconds(1999)), [])
        XCTAssertEqual(stage.machine.phase, .probing)
        XCTAssertEqual(
            stage.pass(.milliseconds(1)), [.report(.refused, detail: "the adapter did not answer a command within 2 s")]
        )
        XCTAssertEqual(stage.machine.phase, .resting)
    }

    func testEveryCommandIsRetried() {
        let directives: [HCILinkMachine.Directive] = [.send(Stage.readCommands), Stage.setParameters(), Stage.enable()]
        for (index, directive) in directives.enumerated() {
            var stage = HCILinkStage()
            _ = stage.handle(.opened)
            if index > 0 { _ = stage.probed(extended: false) }
            if index > 1 { _ = stage.answer(0x200B) }
            _ = stage.pass(.seconds(2))
            XCTAssertEqual(stage.machine.phase, .resting, "\(directive)")
            let again = stage.pass(.milliseconds(500))
            XCTAssertEqual(again, [index == 2 ? Stage.setParameters() : directive])
        }
    }

    func testRestsGrowUpToThirtySeconds() {
        _ = stage.handle(.opened)
        var rests: [Double] = []
        for _ in 0..<9 {
            _ = stage.pass(.seconds(2))
            let deadline = stage.machine.deadline ?? stage.now
            rests.append(stage.now.duration(to: deadline).seconds)
            stage.now = deadline
            _ = stage.handle(.tick)
        }
        XCTAssertEqual(rests, [0.5, 1, 2, 4, 8, 16, 30, 30, 30])
    }

    func testAfterASuccessRestsAreShortAgain() {
        _ = stage.handle(.opened)
        _ = stage.pass(.seconds(2))
        _ = stage.pass(.milliseconds(500))
        _ = stage.pass(.seconds(2))
        _ = stage.pass(.seconds(1))
        _ = stage.probed(extended: false)
        _ = stage.answer(0x200B)
        _ = stage.answer(0x200C)
        _ = stage.foreign(Stage.foreignStop)
        _ = stage.pass(.milliseconds(250))
        _ = stage.pass(.seconds(2))
        XCTAssertEqual(stage.machine.deadline, stage.now.advanced(by: .milliseconds(500)))
    }

    func testALateAnswerIsAccepted() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        _ = stage.answer(0x200B)
        _ = stage.pass(.seconds(3))
        XCTAssertEqual(stage.machine.phase, .resting)
        XCTAssertEqual(stage.answer(0x200C), [.report(.scanning, detail: nil)])
        XCTAssertEqual(stage.machine.close(), [HCIScanCommands.legacy.enable(false)])
    }

    func testAScanWithALostAnswerIsStillTheMachinesOwn() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        _ = stage.answer(0x200B)
        _ = stage.pass(.seconds(2))
        _ = stage.pass(.milliseconds(500))
        // The scan runs, so the adapter refuses parameters.
        XCTAssertEqual(stage.answer(0x200B, 0x0C), [Stage.enable()])
        XCTAssertEqual(stage.answer(0x200C), [.report(.scanning, detail: nil)])
    }

    func testAFailureToSendACommandIsReportedAndTheCommandIsRetried() {
        _ = stage.handle(.opened)
        XCTAssertEqual(
            stage.handle(.notSent(100)), [.report(.refused, detail: "sending a command failed: Network is down")])
        XCTAssertEqual(stage.pass(.milliseconds(500)), [.send(Stage.readCommands)])
    }

    func testAScanWhoseStartWasNotSentIsNotStopped() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        _ = stage.answer(0x200B)
        _ = stage.handle(.notSent(100))
        XCTAssertEqual(stage.machine.close(), [])
    }
}
