import BlueZScanning
import IndoorLocalization
import XCTest

/// The link machine while other programs use the adapter.
final class HCISharingTests: XCTestCase {
    private typealias Stage = HCILinkStage
    private var stage = HCILinkStage()

    private let filtered = "another program's scan filters duplicates, so most repeated reports are missing"
    private let acceptList = "another program's scan reports only devices on its accept list"

    // MARK: - Scans of other programs

    func testTheMachineUsesAScanThatWasAlreadyRunning() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        XCTAssertEqual(stage.answer(0x200B, 0x0C), [.report(.sharing, detail: HCILinkMachine.unknownDetail)])
        XCTAssertFalse(stage.machine.ownsScan)
    }

    func testTheMachineUsesARunningScanOnlyIfBothCommandSetsAreRefused() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: true)
        _ = stage.answer(0x2041, 0x0C)
        XCTAssertEqual(stage.answer(0x200B, 0x0C), [.report(.sharing, detail: HCILinkMachine.unknownDetail)])
        XCTAssertEqual(stage.machine.commands, .extended, "the next attempt starts with the preferred set")
    }

    func testAnOwnScanStartsAfterTheOtherScanEnds() {
        stage.share()
        XCTAssertEqual(stage.foreign(Stage.foreignStop), [])
        XCTAssertEqual(stage.machine.phase, .resting)
        XCTAssertEqual(stage.pass(.milliseconds(249)), [])
        XCTAssertEqual(stage.pass(.milliseconds(1)), [Stage.setParameters()])
        _ = stage.answer(0x200B)
        XCTAssertEqual(stage.answer(0x200C), [.report(.scanning, detail: nil)])
        XCTAssertEqual(stage.machine.close(), [HCIScanCommands.legacy.enable(false)])
    }

    func testAMissedEndIsDetectedWithinTenSeconds() {
        stage.share()
        XCTAssertEqual(stage.pass(.seconds(10)), [Stage.setParameters()])
        XCTAssertEqual(stage.answer(0x200B, 0x0C), [.report(.sharing, detail: HCILinkMachine.unknownDetail)])
        XCTAssertEqual(stage.pass(.seconds(10)), [Stage.setParameters()])
        XCTAssertEqual(stage.answer(0x200B), [Stage.enable()])
    }

    func testAnAcceptListIsReported() {
        stage.scan()
        _ = stage.foreign(Stage.foreignStop)
        _ = stage.foreign(HCICommand(opcode: 0x200B, parameters: [0, 0x60, 0, 0x30, 0, 0, 1]))
        XCTAssertEqual(stage.foreign(Stage.foreignStart), [.report(.sharing, detail: "\(filtered), and \(acceptList)")])
        _ = stage.foreign(Stage.foreignStop)
        _ = stage.foreign(Stage.foreignParameters)
        XCTAssertEqual(
            stage.foreign(HCICommand(opcode: 0x200C, parameters: [1, 0])), [.report(.sharing, detail: nil)])
    }

    // MARK: - An own scan that other programs change

    func testAnOwnScanThatAnotherProgramStopsIsRestarted() {
        stage.scan()
        XCTAssertEqual(stage.foreign(Stage.foreignStop), [])
        XCTAssertEqual(stage.pass(.milliseconds(250)), [Stage.setParameters()])
        XCTAssertEqual(stage.answer(0x200B), [Stage.enable()])
    }

    func testTheMachineWaitsForTheScanOfAnotherProgram() {
        stage.scan()
        _ = stage.foreign(Stage.foreignStop)
        XCTAssertEqual(stage.pass(.milliseconds(200)), [])
        XCTAssertEqual(stage.foreign(Stage.foreignParameters), [])
        XCTAssertEqual(stage.pass(.milliseconds(200)), [], "the other program's parameters restart the wait")
        _ = stage.foreign(Stage.foreignStart)
        XCTAssertEqual(stage.machine.phase, .sharing)
    }

    func testTheLastProgramToStartOwnsTheScan() {
        stage.scan()
        _ = stage.foreign(HCICommand(opcode: 0x200C, parameters: [1, 0]))
        XCTAssertEqual(stage.machine.phase, .sharing)
        XCTAssertEqual(stage.machine.close(), [])
    }

    func testARefusedCommandOfAnotherProgramIsIgnored() {
        stage.scan()
        for command in [Stage.foreignParameters, Stage.foreignStart, Stage.foreignStop] {
            XCTAssertEqual(stage.foreign(command, status: 0x0C), [])
            XCTAssertEqual(stage.machine.phase, .scanning)
        }
    }

    func testAnAnswerToAnotherProgramIsNotAnOwnAnswer() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        // The other program's command reached the adapter first, although the own command was already sent.
        XCTAssertEqual(stage.foreign(Stage.foreignParameters), [])
        XCTAssertEqual(stage.machine.phase, .settingParameters)
        XCTAssertEqual(stage.answer(0x200B), [Stage.enable()])
    }

    func testAPendingOwnCommandFollowsTheOtherProgramsCommand() {
        for (command, own) in [(Stage.foreignStart, true), (Stage.foreignStop, true)] {
            var stage = HCILinkStage()
            _ = stage.handle(.opened)
            _ = stage.probed(extended: false)
            _ = stage.answer(0x200B)
            XCTAssertEqual(stage.foreign(command), [])
            XCTAssertEqual(stage.answer(0x200C), [.report(.scanning, detail: nil)])
            XCTAssertEqual(stage.machine.ownsScan, own)
        }
    }

    func testTheMachineUsesAScanThatStartsBeforeItsOwn() {
        _ = stage.handle(.opened)
        XCTAssertEqual(stage.foreign(HCICommand(opcode: 0x200C, parameters: [1, 0])), [.report(.sharing, detail: nil)])
        _ = stage.probed(extended: true)
        _ = stage.foreign(Stage.foreignStop)
        XCTAssertEqual(stage.pass(.milliseconds(250)), [.send(Stage.readCommands)], "the early answer was ignored")
    }

    func testTheMachineUsesTheCommandSetOfTheOtherProgram() {
        stage.scan(extended: true)
        _ = stage.foreign(HCICommand(opcode: 0x0C03, parameters: []))
        _ = stage.foreign(Stage.foreignParameters)
        _ = stage.foreign(Stage.foreignStart)
        _ = stage.answer(0x200C)
        _ = stage.foreign(Stage.foreignStop)
        XCTAssertEqual(stage.pass(.milliseconds(250)), [Stage.setParameters(.legacy)])
    }

    func testTheScanRestartsAfterAReset() {
        stage.scan()
        XCTAssertEqual(stage.foreign(HCICommand(opcode: 0x0C03, parameters: [])), [])
        XCTAssertEqual(stage.machine.close(), [], "no scan is left to stop")
        stage = HCILinkStage()
        stage.scan()
        _ = stage.foreign(HCICommand(opcode: 0x0C03, parameters: []))
        XCTAssertEqual(stage.pass(.milliseconds(250)), [Stage.setParameters()])
    }

    func testUnrelatedCommandsAreIgnored() {
        stage.scan()
        XCTAssertEqual(stage.foreign(HCICommand(opcode: 0x2006, parameters: [UInt8](repeating: 0, count: 15))), [])
        XCTAssertEqual(stage.machine.phase, .scanning)
        stage.share()
    }

    // MARK: - The duplicate filter of other programs

    func testTheDuplicateFilterOfAnotherScanIsDisabled() {
        stage.scan()
        _ = stage.foreign(Stage.foreignStop)
        _ = stage.foreign(Stage.foreignParameters)
        XCTAssertEqual(stage.foreign(Stage.foreignStart), [Stage.enable()])
        XCTAssertEqual(stage.answer(0x200C), [.report(.sharing, detail: HCILinkMachine.disabledFilterDetail)])
        XCTAssertFalse(stage.machine.ownsScan)
    }

    func testTheDuplicateFilterIsRestoredAtTheEnd() {
        stage.scan()
        _ = stage.foreign(Stage.foreignStart)
        _ = stage.answer(0x200C)
        XCTAssertEqual(stage.machine.close(), [HCIScanCommands.legacy.enable(true, filtersDuplicates: true)])
    }

    func testAFilterThatCannotBeDisabledIsReported() {
        stage.scan()
        XCTAssertEqual(stage.foreign(Stage.foreignStart), [Stage.enable()])
        XCTAssertEqual(stage.answer(0x200C, 0x0C), [.report(.sharing, detail: filtered)])
        XCTAssertEqual(stage.machine.close(), [])
    }

    func testAScanThatDisablingTheFilterRestartedIsStopped() {
        stage.scan()
        _ = stage.foreign(Stage.foreignStart)
        _ = stage.foreign(Stage.foreignStop)
        XCTAssertEqual(stage.answer(0x200C), [.send(HCIScanCommands.legacy.enable(false))])
        XCTAssertEqual(stage.answer(0x200C), [], "the answer changes nothing")
        XCTAssertEqual(stage.pass(.milliseconds(250)), [Stage.setParameters()])
    }

    func testNoFilterIsRestoredAfterTheOtherScanEnded() {
        stage.scan()
        _ = stage.foreign(Stage.foreignStart)
        _ = stage.answer(0x200C)
        _ = stage.foreign(Stage.foreignStop)
        XCTAssertEqual(stage.machine.close(), [])
    }
}
