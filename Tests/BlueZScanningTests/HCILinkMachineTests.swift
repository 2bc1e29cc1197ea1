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

final class HCIRadioSwitchTests: XCTestCase {
    private var table = RadioSwitchTable()

    /// Returns an event in the kernel's format. Operations are 0 added, 1 removed, 2 changed, 3 all changed.
    private func event(_ index: UInt8, type: UInt8 = 2, operation: UInt8, soft: UInt8 = 0, hard: UInt8 = 0) -> [UInt8] {
        [index, 0, 0, 0, type, operation, soft, hard]
    }

    private func apply(_ bytes: [UInt8]) {
        table.apply(bytes.span) { index in index == 9 ? nil : UInt16(index) + 100 }
    }

    func testASwitchBlocksItsAdapterInHardwareOrSoftware() {
        for (soft, hard): (UInt8, UInt8) in [(1, 0), (0, 1), (1, 1)] {
            apply(event(5, operation: 0))
            XCTAssertEqual(table.blocked, [])
            apply(event(5, operation: 2, soft: soft, hard: hard))
            XCTAssertEqual(table.blocked, [105])
            apply(event(5, operation: 2))
            XCTAssertEqual(table.blocked, [])
        }
    }

    func testARemovedSwitchBlocksNothing() {
        apply(event(5, operation: 0, soft: 1))
        apply(event(6, operation: 0, soft: 1))
        XCTAssertEqual(table.blocked, [105, 106])
        apply(event(5, operation: 1))
        XCTAssertEqual(table.blocked, [106])
    }

    func testSwitchesOfOtherRadiosAreIgnored() {
        apply(event(5, type: 1, operation: 0, soft: 1))
        apply(event(9, operation: 0, soft: 1))
        XCTAssertEqual(table.blocked, [])
    }

    func testATruncatedEventIsIgnored() {
        let whole = event(5, operation: 0, soft: 1)
        for count in 0..<whole.count { apply(Array(whole.prefix(count))) }
        XCTAssertEqual(table.blocked, [])
    }
}

/// A link machine with a clock, and functions for its events.
struct HCILinkStage {
    typealias Directive = HCILinkMachine.Directive

    var machine = HCILinkMachine(parameters: HCILinkStage.parameters)
    var now = Instant(seconds: 100)

    static let parameters = HCIScanParameters(
        isActive: false, window: .milliseconds(60), interval: .milliseconds(60))
    static let readCommands = HCICommand(opcode: 0x1002, parameters: [])

    static func setParameters(_ commands: HCIScanCommands = .legacy) -> Directive {
        .send(commands.parameters(parameters))
    }

    static func enable(_ commands: HCIScanCommands = .legacy) -> Directive { .send(commands.enable(true)) }

    /// The commands of a discovery by the kernel, which scans actively and filters duplicates.
    static let foreignParameters = HCICommand(opcode: 0x200B, parameters: [1, 0x12, 0, 0x12, 0, 0, 0])
    static let foreignStart = HCICommand(opcode: 0x200C, parameters: [1, 1])
    static let foreignStop = HCICommand(opcode: 0x200C, parameters: [0, 0])

    mutating func handle(_ event: HCILinkMachine.Event) -> [Directive] { machine.handle(event, at: now) }

    mutating func answer(_ opcode: UInt16, _ status: UInt8 = 0, _ parameters: [UInt8] = []) -> [Directive] {
        handle(.answer(HCIAnswer(opcode: opcode, status: status, parameters: parameters)))
    }

    /// Answers whether the adapter has the extended commands.
    mutating func probed(extended: Bool) -> [Directive] {
        var bits = [UInt8](repeating: 0, count: 64)
        if extended { bits[37] = 0x60 }
        return answer(0x1002, 0, bits)
    }

    /// Sends a command of another program, which the adapter performs.
    mutating func foreign(_ command: HCICommand, status: UInt8 = 0) -> [Directive] {
        handle(.command(command)) + answer(command.opcode, status)
    }

    /// Advances the clock, and sends a tick if the deadline has passed.
    mutating func pass(_ duration: Duration) -> [Directive] {
        now = now.advanced(by: duration)
        return handle(.tick)
    }

    /// Runs the machine until its own scan runs.
    mutating func scan(extended: Bool = false) {
        let commands: HCIScanCommands = extended ? .extended : .legacy
        _ = handle(.opened)
        _ = probed(extended: extended)
        _ = answer(commands.parametersOpcode)
        _ = answer(commands.enableOpcode)
    }

    /// Runs the machine until it uses another program's scan that was already running.
    mutating func share() {
        _ = handle(.opened)
        _ = probed(extended: false)
        _ = answer(0x200B, 0x0C)
    }
}
