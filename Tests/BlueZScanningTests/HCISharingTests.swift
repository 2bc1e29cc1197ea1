import IndoorLocalization
import IndoorLocalizationTesting
import XCTest
@testable import BlueZScanning

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

/// Scans of several programs with one adapter, in random order: no discovery fails, and no scan stays behind.
final class HCISharedAdapterTests: XCTestCase {
    func testTheAdapterScansAgainAfterAnyCommandsOfOtherPrograms() {
        for seed in UInt64(1)...300 {
            var adapter = SharedAdapter(seed: seed)
            adapter.live(steps: 200)
            adapter.otherEnds()
            adapter.rest()
            XCTAssertTrue(adapter.isScanning, "seed \(seed)")
            XCTAssertFalse(adapter.filtersDuplicates, "seed \(seed)")
            XCTAssertTrue(adapter.scanners.contains { $0.ownsScan }, "seed \(seed)")
            XCTAssertTrue(adapter.scanners.allSatisfy { $0.phase == .scanning || $0.phase == .sharing }, "seed \(seed)")
        }
    }

    func testAnotherProgramsScanKeepsItsSettingsAfterAllScannersHaveEnded() {
        for seed in UInt64(1)...300 {
            var adapter = SharedAdapter(seed: seed)
            adapter.live(steps: 200)
            adapter.otherEnds()
            adapter.rest()
            adapter.otherBegins()
            adapter.rest()
            for index in adapter.scanners.indices { adapter.end(index) }
            XCTAssertTrue(adapter.isScanning, "seed \(seed)")
            XCTAssertTrue(adapter.filtersDuplicates, "seed \(seed)")
        }
    }

    func testNoScanRunsAfterTheLastScannerEnded() {
        for seed in UInt64(1)...300 {
            var adapter = SharedAdapter(seed: seed)
            adapter.live(steps: 200)
            adapter.otherEnds()
            adapter.rest()
            for index in adapter.scanners.indices {
                adapter.end(index)
                adapter.rest()
            }
            XCTAssertFalse(adapter.isScanning, "seed \(seed)")
        }
    }

    /// A discovery that starts in the same milliseconds as a scanner may be refused. No scanner can prevent that.
    func testNoDiscoveryThatReplacesARunningScanIsRefused() {
        for seed in UInt64(1)...300 {
            var adapter = SharedAdapter(seed: seed)
            adapter.live(steps: 200)
            XCTAssertEqual(adapter.refusedToOther, 0, "seed \(seed)")
            XCTAssertGreaterThan(adapter.discoveries, 0, "seed \(seed): no discovery ran")
        }
    }
}

/// An adapter with the kernel's command queue, two scanners, and another program that discovers devices as the kernel
/// does.
private struct SharedAdapter {
    private enum Sender: Equatable { case scanner(Int), other }

    private(set) var scanners = [HCILinkMachine](
        repeating: HCILinkMachine(parameters: HCILinkStage.parameters), count: 2)
    private(set) var isScanning = false
    private(set) var filtersDuplicates = false
    private(set) var refusedToOther = 0
    private(set) var discoveries = 0

    private var now = Instant(seconds: 1)
    private var queue: [(sender: Sender, command: HCICommand)] = []
    private var generator: SeededGenerator
    private var otherScans = false

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        for index in scanners.indices { notify(index, .opened) }
    }

    /// Advances by random durations while the other program starts and ends discoveries.
    mutating func live(steps: Int) {
        for _ in 0..<steps {
            switch generator.uniform() {
            case ..<0.1: otherScans ? otherEnds() : otherBegins()
            case ..<0.5: answerNext()
            default: pass(.milliseconds(Int.random(in: 1...400, using: &generator)))
            }
        }
    }

    /// Runs until nothing is pending.
    mutating func rest() {
        for _ in 0..<200 {
            while !queue.isEmpty { answerNext() }
            pass(.milliseconds(100))
        }
        while !queue.isEmpty { answerNext() }
    }

    /// Discovers as the kernel does: it stops a running scan, sets parameters and starts, each after the last answer.
    mutating func otherBegins() {
        guard !otherScans else { return }
        while !queue.isEmpty { answerNext() }
        let takesOver = isScanning
        otherScans = true
        if takesOver { sendFromOther(HCILinkStage.foreignStop) }
        let refused = refusedToOther
        sendFromOther(HCILinkStage.foreignParameters)
        if takesOver { discoveries += 1 } else { refusedToOther = refused }
        sendFromOther(HCILinkStage.foreignStart)
    }

    mutating func otherEnds() {
        guard otherScans else { return }
        otherScans = false
        sendFromOther(HCILinkStage.foreignStop)
    }

    /// Ends a scanner, and performs its last commands.
    mutating func end(_ index: Int) {
        for command in scanners[index].close() { queue.append((.scanner(index), command)) }
        while !queue.isEmpty { answerNext() }
    }

    /// Sends a command of the other program once the kernel's queue is empty, and waits for the answer.
    private mutating func sendFromOther(_ command: HCICommand) {
        while !queue.isEmpty { answerNext() }
        queue.append((.other, command))
        answerNext()
        pass(.milliseconds(Int.random(in: 1...20, using: &generator)))
    }

    private mutating func pass(_ duration: Duration) {
        now = now.advanced(by: duration)
        // Answers take a few milliseconds, so that no command times out.
        while !queue.isEmpty { answerNext() }
        for index in scanners.indices where scanners[index].deadline.map({ $0 <= now }) ?? false {
            notify(index, .tick)
        }
    }

    private mutating func notify(_ index: Int, _ event: HCILinkMachine.Event) {
        for directive in scanners[index].handle(event, at: now) {
            if case .send(let command) = directive { queue.append((.scanner(index), command)) }
        }
    }

    /// Sends the first command in the queue to the adapter. All except its sender see the command, and all see the
    /// answer.
    private mutating func answerNext() {
        guard !queue.isEmpty else { return }
        let (sender, command) = queue.removeFirst()
        for index in scanners.indices where sender != .scanner(index) { notify(index, .command(command)) }
        let status = carryOut(command)
        if sender == .other, status != 0 { refusedToOther += 1 }
        let answer = HCIAnswer(opcode: command.opcode, status: status)
        for index in scanners.indices { notify(index, .answer(answer)) }
    }

    private mutating func carryOut(_ command: HCICommand) -> UInt8 {
        switch command.opcode {
        case 0x200B: return isScanning ? 0x0C : 0
        case 0x200C:
            isScanning = command.parameters[0] == 1
            filtersDuplicates = command.parameters[1] == 1
            return 0
        default: return 0
        }
    }
}

final class RunningScansTests: XCTestCase {
    func testWaitingReturnsImmediatelyWithoutAScan() async throws {
        try await Bounded.wait(for: "the return without a scan") { await RunningScans().allEnded() }
    }

    func testAllCallersWaitForTheLastScan() async throws {
        let scans = RunningScans()
        let told = WatchedState<[String]>([])
        let wait = { @Sendable in
            await scans.allEnded()
            told.update { $0.append("returned") }
        }
        scans.began()
        scans.began()
        let waiting = (0..<3).map { _ in Task { await wait() } }
        await giveWay()
        scans.ended()
        let stillRunning = Task { await wait() }
        await giveWay()
        told.update { $0.append("the last scan ends") }
        scans.ended()
        try await Bounded.wait(for: "all callers") { for task in waiting + [stillRunning] { await task.value } }
        XCTAssertEqual(
            told.value, ["the last scan ends", "returned", "returned", "returned", "returned"])
    }

    /// Lets other tasks run, so that those which should wait would return by mistake.
    private func giveWay() async { for _ in 0..<100 { await Task.yield() } }

    func testAScanThatCannotStartReleasesTheRadio() async throws {
        // Either the adapter or Bluetooth itself is missing.
        let source = HCIScanSource(adapter: .named("hci4711"))
        let stream = source.readings()
        let reading = Task { for try await _ in stream {} }
        reading.cancel()
        try await Bounded.wait(for: "the end of the stream") { _ = await reading.result }
        try await Bounded.wait(for: "the release of the radio") { await source.released() }
    }

    func testACopyWithAnotherTimingSharesTheScans() {
        let source = HCIScanSource()
        XCTAssertTrue(source.running === source.with(.half).running)
    }
}
