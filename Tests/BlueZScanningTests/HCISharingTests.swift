import BlueZScanning
import IndoorLocalization
import XCTest

/// What the link machine makes of others who use the adapter.
final class HCISharingTests: XCTestCase {
    private typealias Stage = HCILinkStage
    private var stage = HCILinkStage()

    private let filtered = "it filters duplicates, so that most repeated reports are missing"
    private let acceptList = "it hears devices of its accept list only"

    // MARK: - A scan of others

    func testAScanThatWasThereFirstIsListenedTo() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        XCTAssertEqual(stage.answer(0x200B, 0x0C), [.report(.sharing, detail: HCILinkMachine.unknownDetail)])
        XCTAssertFalse(stage.machine.ownsScan)
    }

    func testItIsListenedToOnlyIfBothSetsOfCommandsAreRefused() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: true)
        _ = stage.answer(0x2041, 0x0C)
        XCTAssertEqual(stage.answer(0x200B, 0x0C), [.report(.sharing, detail: HCILinkMachine.unknownDetail)])
        XCTAssertEqual(stage.machine.commands, .extended, "the set that the adapter prefers is the first next time")
    }

    func testAnOwnScanBeginsWhenTheirsHasEnded() {
        stage.share()
        XCTAssertEqual(stage.foreign(Stage.foreignStop), [])
        XCTAssertEqual(stage.machine.phase, .resting)
        XCTAssertEqual(stage.pass(.milliseconds(249)), [])
        XCTAssertEqual(stage.pass(.milliseconds(1)), [Stage.setParameters()])
        _ = stage.answer(0x200B)
        XCTAssertEqual(stage.answer(0x200C), [.report(.scanning, detail: nil)])
        XCTAssertEqual(stage.machine.close(), [HCIScanCommands.legacy.enable(false)])
    }

    func testAnEndThatWasMissedIsFoundOutWithinTenSeconds() {
        stage.share()
        XCTAssertEqual(stage.pass(.seconds(10)), [Stage.setParameters()])
        XCTAssertEqual(stage.answer(0x200B, 0x0C), [.report(.sharing, detail: HCILinkMachine.unknownDetail)])
        XCTAssertEqual(stage.pass(.seconds(10)), [Stage.setParameters()])
        XCTAssertEqual(stage.answer(0x200B), [Stage.enable()])
    }

    func testAListOfAcceptedDevicesIsTold() {
        stage.scan()
        _ = stage.foreign(Stage.foreignStop)
        _ = stage.foreign(HCICommand(opcode: 0x200B, parameters: [0, 0x60, 0, 0x30, 0, 0, 1]))
        XCTAssertEqual(stage.foreign(Stage.foreignStart), [.report(.sharing, detail: "\(filtered), and \(acceptList)")])
        _ = stage.foreign(Stage.foreignStop)
        _ = stage.foreign(Stage.foreignParameters)
        XCTAssertEqual(
            stage.foreign(HCICommand(opcode: 0x200C, parameters: [1, 0])), [.report(.sharing, detail: nil)])
    }

    // MARK: - An own scan that others touch

    func testAnOwnScanThatOthersEndBeginsAgain() {
        stage.scan()
        XCTAssertEqual(stage.foreign(Stage.foreignStop), [])
        XCTAssertEqual(stage.pass(.milliseconds(250)), [Stage.setParameters()])
        XCTAssertEqual(stage.answer(0x200B), [Stage.enable()])
    }

    func testOthersAreGivenTimeToBeginTheirs() {
        stage.scan()
        _ = stage.foreign(Stage.foreignStop)
        XCTAssertEqual(stage.pass(.milliseconds(200)), [])
        XCTAssertEqual(stage.foreign(Stage.foreignParameters), [])
        XCTAssertEqual(stage.pass(.milliseconds(200)), [], "their parameters begin the time anew")
        _ = stage.foreign(Stage.foreignStart)
        XCTAssertEqual(stage.machine.phase, .sharing)
    }

    func testWhoBeginsLastOwnsTheScan() {
        stage.scan()
        _ = stage.foreign(HCICommand(opcode: 0x200C, parameters: [1, 0]))
        XCTAssertEqual(stage.machine.phase, .sharing)
        XCTAssertEqual(stage.machine.close(), [])
    }

    func testACommandOfOthersThatWasRefusedChangesNothing() {
        stage.scan()
        for command in [Stage.foreignParameters, Stage.foreignStart, Stage.foreignStop] {
            XCTAssertEqual(stage.foreign(command, status: 0x0C), [])
            XCTAssertEqual(stage.machine.phase, .scanning)
        }
    }

    func testTheirAnswerIsNotTakenForAnOwnOne() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        // Theirs went to the adapter first, although the own one was sent already.
        XCTAssertEqual(stage.foreign(Stage.foreignParameters), [])
        XCTAssertEqual(stage.machine.phase, .settingParameters)
        XCTAssertEqual(stage.answer(0x200B), [Stage.enable()])
    }

    func testAnOwnCommandOnItsWayComesBehindTheirs() {
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

    func testTheirStartBeforeTheOwnOneIsListenedTo() {
        _ = stage.handle(.opened)
        XCTAssertEqual(stage.foreign(HCICommand(opcode: 0x200C, parameters: [1, 0])), [.report(.sharing, detail: nil)])
        _ = stage.probed(extended: true)
        _ = stage.foreign(Stage.foreignStop)
        XCTAssertEqual(stage.pass(.milliseconds(250)), [.send(Stage.readCommands)], "the answer came too early")
    }

    func testTheSetOfCommandsThatOthersUseIsTaken() {
        stage.scan(extended: true)
        _ = stage.foreign(HCICommand(opcode: 0x0C03, parameters: []))
        _ = stage.foreign(Stage.foreignParameters)
        _ = stage.foreign(Stage.foreignStart)
        _ = stage.answer(0x200C)
        _ = stage.foreign(Stage.foreignStop)
        XCTAssertEqual(stage.pass(.milliseconds(250)), [Stage.setParameters(.legacy)])
    }

    func testAfterAResetTheScanBeginsAgain() {
        stage.scan()
        XCTAssertEqual(stage.foreign(HCICommand(opcode: 0x0C03, parameters: [])), [])
        XCTAssertEqual(stage.machine.close(), [], "nothing is left to be ended")
        stage = HCILinkStage()
        stage.scan()
        _ = stage.foreign(HCICommand(opcode: 0x0C03, parameters: []))
        XCTAssertEqual(stage.pass(.milliseconds(250)), [Stage.setParameters()])
    }

    func testCommandsThatDoNotConcernTheScanChangeNothing() {
        stage.scan()
        XCTAssertEqual(stage.foreign(HCICommand(opcode: 0x2006, parameters: [UInt8](repeating: 0, count: 15))), [])
        XCTAssertEqual(stage.machine.phase, .scanning)
        stage.share()
    }

    // MARK: - Their duplicate filter

    func testTheirDuplicateFilterIsLifted() {
        stage.scan()
        _ = stage.foreign(Stage.foreignStop)
        _ = stage.foreign(Stage.foreignParameters)
        XCTAssertEqual(stage.foreign(Stage.foreignStart), [Stage.enable()])
        XCTAssertEqual(stage.answer(0x200C), [.report(.sharing, detail: HCILinkMachine.liftedDetail)])
        XCTAssertFalse(stage.machine.ownsScan)
    }

    func testItIsSetAgainAtTheEnd() {
        stage.scan()
        _ = stage.foreign(Stage.foreignStart)
        _ = stage.answer(0x200C)
        XCTAssertEqual(stage.machine.close(), [HCIScanCommands.legacy.enable(true, filtersDuplicates: true)])
    }

    func testAFilterThatCannotBeLiftedIsTold() {
        stage.scan()
        XCTAssertEqual(stage.foreign(Stage.foreignStart), [Stage.enable()])
        XCTAssertEqual(stage.answer(0x200C, 0x0C), [.report(.sharing, detail: filtered)])
        XCTAssertEqual(stage.machine.close(), [])
    }

    func testAScanThatLiftingBeganAgainForNobodyIsEnded() {
        stage.scan()
        _ = stage.foreign(Stage.foreignStart)
        _ = stage.foreign(Stage.foreignStop)
        XCTAssertEqual(stage.answer(0x200C), [.send(HCIScanCommands.legacy.enable(false))])
        XCTAssertEqual(stage.answer(0x200C), [], "the answer to that is no news")
        XCTAssertEqual(stage.pass(.milliseconds(250)), [Stage.setParameters()])
    }

    func testAfterTheirScanNoFilterIsSetAgain() {
        stage.scan()
        _ = stage.foreign(Stage.foreignStart)
        _ = stage.answer(0x200C)
        _ = stage.foreign(Stage.foreignStop)
        XCTAssertEqual(stage.machine.close(), [])
    }
}
