/// What a command of others does to the scan.
package enum HCIScanCommand: Hashable, Sendable {
    /// Sets how to scan; whether only devices on the accept list are to be reported.
    case parameters(HCIScanCommands, acceptListOnly: Bool)
    /// Begins the scan.
    case start(HCIScanCommands, filtersDuplicates: Bool)
    /// Ends the scan.
    case stop(HCIScanCommands)
    /// Sets the adapter back, and ends everything.
    case reset

    /// Reads a command; nil if it does not concern the scan.
    package init?(_ command: HCICommand) {
        let parameters = command.parameters
        switch command.opcode {
        case HCICommand.Opcode.reset: self = .reset
        case HCICommand.Opcode.setScanParameters where parameters.count >= 7:
            self = .parameters(.legacy, acceptListOnly: parameters[6] & 1 == 1)
        case HCICommand.Opcode.setExtendedScanParameters where parameters.count >= 2:
            self = .parameters(.extended, acceptListOnly: parameters[1] & 1 == 1)
        case HCICommand.Opcode.setScanEnable where parameters.count >= 2:
            self = parameters[0] == 1 ? .start(.legacy, filtersDuplicates: parameters[1] != 0) : .stop(.legacy)
        case HCICommand.Opcode.setExtendedScanEnable where parameters.count >= 2:
            self = parameters[0] == 1 ? .start(.extended, filtersDuplicates: parameters[1] != 0) : .stop(.extended)
        default: return nil
        }
    }
}
