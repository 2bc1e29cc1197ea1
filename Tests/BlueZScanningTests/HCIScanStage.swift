import BlueZScanning
import IndoorLocalization

/// A scan machine with a clock, and functions for its events.
struct HCIScanStage {
    typealias Directive = HCIScanMachine.Directive

    var machine: HCIScanMachine
    var now = Instant(seconds: 100)

    static let parameters = HCILinkStage.parameters
    static let address = DeviceAddress(rawValue: 0xC005_0403_0201, kind: .public)
    static let on = HCIDevice(id: 0, address: address, isPowered: true)
    static let off = HCIDevice(id: 0, address: address, isPowered: false)
    static let readCommands = Directive.send(HCILinkStage.readCommands)

    init(_ choice: AdapterChoice = .first) {
        machine = HCIScanMachine(choice: choice, parameters: Self.parameters)
    }

    mutating func handle(_ event: HCIScanMachine.Event) -> [Directive] { machine.handle(event, at: now) }

    mutating func pass(_ duration: Duration) -> [Directive] {
        now = now.advanced(by: duration)
        return handle(.tick)
    }

    mutating func answer(_ opcode: UInt16, _ status: UInt8 = 0) -> [Directive] {
        handle(.link(.answer(HCIAnswer(opcode: opcode, status: status))))
    }

    /// Answers the machine's commands until the scan runs.
    mutating func answerUntilScanning() {
        _ = answer(0x1002)
        _ = answer(0x200B)
        _ = answer(0x200C)
    }

    /// Runs the machine until it scans with an adapter that was on.
    mutating func scan(_ device: HCIDevice = HCIScanStage.on) {
        _ = handle(.begin)
        _ = handle(.devices([device]))
        _ = handle(.opened(nil))
        answerUntilScanning()
    }

    /// Runs the machine until it has scanned for a while with an adapter that was on.
    mutating func scanForAMinute() {
        scan()
        now = now.advanced(by: .seconds(60))
    }

    /// Runs the machine until it scans with an adapter that was off.
    mutating func scanPoweredUp() {
        _ = handle(.begin)
        _ = handle(.devices([Self.off]))
        _ = handle(.poweredUp(0, nil))
        _ = handle(.opened(nil))
        answerUntilScanning()
    }
}
