import BlueZScanning
import IndoorLocalization
import XCTest

final class HCILinkMachineTests: XCTestCase {
    private typealias Stage = HCILinkStage
    private var stage = HCILinkStage()

    // MARK: - Own scan

    func testTheAdapterIsAskedForItsCommandsFirst() {
        XCTAssertEqual(stage.handle(.opened), [.send(Stage.readCommands)])
        XCTAssertEqual(stage.machine.phase, .probing)
    }

    func testWithoutExtendedCommandsTheLegacyOnesAreUsed() {
        _ = stage.handle(.opened)
        XCTAssertEqual(stage.probed(extended: false), [Stage.setParameters(.legacy)])
        XCTAssertEqual(stage.answer(0x200B), [Stage.enable(.legacy)])
        XCTAssertEqual(stage.answer(0x200C), [.report(.scanning, detail: nil)])
        XCTAssertEqual(stage.machine.phase, .scanning)
    }

    func testWithExtendedCommandsTheseAreUsed() {
        _ = stage.handle(.opened)
        XCTAssertEqual(stage.probed(extended: true), [Stage.setParameters(.extended)])
        XCTAssertEqual(stage.answer(0x2041), [Stage.enable(.extended)])
        XCTAssertEqual(stage.answer(0x2042), [.report(.scanning, detail: nil)])
    }

    func testExtendedCommandsCountOnlyIfBothAreThere() {
        for bits: UInt8 in [0x20, 0x40] {
            var stage = HCILinkStage()
            _ = stage.handle(.opened)
            let answer = [UInt8](repeating: 0, count: 37) + [bits] + [UInt8](repeating: 0, count: 26)
            XCTAssertEqual(stage.answer(0x1002, 0, answer), [Stage.setParameters(.legacy)], "\(bits)")
        }
    }

    func testAnAdapterThatDoesNotTellItsCommandsGetsTheLegacyOnes() {
        for (status, parameters): (UInt8, [UInt8]) in [(1, []), (0, [0xFF, 0xFF])] {
            var stage = HCILinkStage()
            _ = stage.handle(.opened)
            XCTAssertEqual(stage.answer(0x1002, status, parameters), [Stage.setParameters(.legacy)])
        }
    }

    func testTheLegacyCommandsAreTriedWhereTheExtendedOnesAreDisallowed() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: true)
        XCTAssertEqual(stage.answer(0x2041, 0x0C), [Stage.setParameters(.legacy)])
        XCTAssertEqual(stage.answer(0x200B), [Stage.enable(.legacy)])
        XCTAssertEqual(stage.answer(0x200C), [.report(.scanning, detail: nil)])
        XCTAssertEqual(stage.machine.close(), [HCIScanCommands.legacy.enable(false)])
    }

    func testAnAdapterWithoutLEIsRefused() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        XCTAssertEqual(stage.answer(0x200B, 0x01), [.report(.refused, detail: "it has no LE scan commands")])
    }

    func testAnErrorOfTheAdapterIsTold() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        XCTAssertEqual(
            stage.answer(0x200B, 0x12), [.report(.refused, detail: "scan parameters were refused with error 0x12")])
        XCTAssertEqual(stage.machine.phase, .resting)
        XCTAssertEqual(stage.pass(.milliseconds(500)), [Stage.setParameters()])
        _ = stage.answer(0x200B)
        XCTAssertEqual(stage.answer(0x200C, 0x0C), [.report(.refused, detail: "the scan was refused with error 0x0C")])
        XCTAssertEqual(stage.machine.close(), [], "a scan that was refused is not ended")
    }

    // MARK: - Silence of the air

    func testAScanThatIsSilentForAMinuteIsBegunAnew() {
        stage.scan()
        XCTAssertEqual(stage.pass(.seconds(60)), [.send(HCIScanCommands.legacy.enable(false))])
        XCTAssertEqual(stage.answer(0x200C), [])
        XCTAssertEqual(stage.pass(.milliseconds(250)), [Stage.setParameters()])
        XCTAssertEqual(stage.answer(0x200B), [Stage.enable()])
        XCTAssertEqual(stage.answer(0x200C), [.report(.scanning, detail: nil)])
        XCTAssertEqual(stage.machine.close(), [HCIScanCommands.legacy.enable(false)])
    }

    func testAScanThatHearsGoesOn() {
        stage.scan()
        for _ in 0..<5 {
            XCTAssertEqual(stage.handle(.heard), [])
            XCTAssertEqual(stage.pass(.seconds(60)), [])
        }
        XCTAssertEqual(stage.machine.phase, .scanning)
        XCTAssertEqual(stage.pass(.seconds(60)).count, 1)
    }

    func testAnEndWhileASilentScanIsBegunAnewLeavesNothing() {
        stage.scan()
        _ = stage.pass(.seconds(60))
        XCTAssertEqual(stage.machine.close(), [], "it was ended already")
    }

    // MARK: - The end

    func testAnOwnScanIsEndedAtTheEnd() {
        for extended in [false, true] {
            var stage = HCILinkStage()
            stage.scan(extended: extended)
            XCTAssertEqual(
                stage.machine.close(), [(extended ? HCIScanCommands.extended : .legacy).enable(false)])
            XCTAssertEqual(stage.machine.phase, .closed)
        }
    }

    func testAScanThatMayHaveBegunIsEndedAtTheEnd() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        _ = stage.answer(0x200B)
        XCTAssertEqual(stage.machine.close(), [HCIScanCommands.legacy.enable(false)])
    }

    func testNothingIsEndedBeforeAScanBegan() {
        XCTAssertEqual(stage.machine.close(), [])
        _ = stage.handle(.opened)
        XCTAssertEqual(stage.machine.close(), [])
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        XCTAssertEqual(stage.machine.close(), [])
    }

    func testAScanOfOthersGoesOnAtTheEnd() {
        stage.share()
        XCTAssertEqual(stage.machine.phase, .sharing)
        XCTAssertEqual(stage.machine.close(), [])
    }

    func testNothingHappensBehindTheEnd() {
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
            stage.pass(.milliseconds(1)), [.report(.refused, detail: "it did not answer a command within 2 s")])
        XCTAssertEqual(stage.machine.phase, .resting)
    }

    func testEveryCommandIsTriedAgain() {
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

    func testRestsGrowLongerUpToHalfAMinute() {
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

    func testALateAnswerCounts() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        _ = stage.answer(0x200B)
        _ = stage.pass(.seconds(3))
        XCTAssertEqual(stage.machine.phase, .resting)
        XCTAssertEqual(stage.answer(0x200C), [.report(.scanning, detail: nil)])
        XCTAssertEqual(stage.machine.close(), [HCIScanCommands.legacy.enable(false)])
    }

    func testAScanWhoseAnswerWasLostIsStillTheOwnOne() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        _ = stage.answer(0x200B)
        _ = stage.pass(.seconds(2))
        _ = stage.pass(.milliseconds(500))
        // The scan runs, therefore no parameters are taken.
        XCTAssertEqual(stage.answer(0x200B, 0x0C), [Stage.enable()])
        XCTAssertEqual(stage.answer(0x200C), [.report(.scanning, detail: nil)])
    }

    func testACommandThatCouldNotBeSentIsToldAndTriedAgain() {
        _ = stage.handle(.opened)
        XCTAssertEqual(
            stage.handle(.notSent(100)), [.report(.refused, detail: "a command could not be sent: Network is down")])
        XCTAssertEqual(stage.pass(.milliseconds(500)), [.send(Stage.readCommands)])
    }

    func testAScanThatCouldNotBeAskedForIsNotEnded() {
        _ = stage.handle(.opened)
        _ = stage.probed(extended: false)
        _ = stage.answer(0x200B)
        _ = stage.handle(.notSent(100))
        XCTAssertEqual(stage.machine.close(), [])
    }
}
