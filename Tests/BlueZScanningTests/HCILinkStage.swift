import BlueZScanning
import IndoorLocalization
import XCTest

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
