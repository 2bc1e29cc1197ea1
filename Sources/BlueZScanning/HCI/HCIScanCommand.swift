/// The effect of another program's command on the scan.
package enum HCIScanCommand: Hashable, Sendable {
    /// Sets the scan parameters, and whether the adapter reports only devices on the accept list.
    case parameters(HCIScanCommands, acceptListOnly: Bool)
    /// Starts the scan.
    case start(HCIScanCommands, filtersDuplicates: Bool)
    /// Stops the scan.
    case stop(HCIScanCommands)
    /// Resets the adapter, which stops everything.
    case reset

    /// Decodes a command; returns nil if it doesn't affect the scan.
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
