import BlueZScanning
import IndoorLocalization
import XCTest

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
