/// The two sets of scan commands. An adapter that has received a command of one set refuses those of the other.
///
/// Source: Bluetooth Core Specification 5.4, Vol 4, Part E, 3.1.1.
package enum HCIScanCommands: Hashable, Sendable, CaseIterable {
    /// The commands of Bluetooth 4.
    case legacy
    /// The commands of Bluetooth 5, which also receive extended advertising.
    case extended

    package var other: HCIScanCommands { self == .legacy ? .extended : .legacy }

    package var parametersOpcode: UInt16 {
        self == .legacy ? HCICommand.Opcode.setScanParameters : HCICommand.Opcode.setExtendedScanParameters
    }

    package var enableOpcode: UInt16 {
        self == .legacy ? HCICommand.Opcode.setScanEnable : HCICommand.Opcode.setExtendedScanEnable
    }

    /// Returns the command that sets the scan parameters.
    ///
    /// The scan uses the LE 1M PHY only, because beacons advertise on it. The adapter also follows them to a secondary
    /// PHY.
    package func parameters(_ scan: HCIScanParameters) -> HCICommand {
        let type: [UInt8] = [scan.isActive ? 1 : 0]
        let times = HCICommand.bytes(scan.interval) + HCICommand.bytes(scan.window)
        let ownAddress: [UInt8] = [scan.usesRandomAddress ? 1 : 0]
        let everybody: [UInt8] = [0]
        switch self {
        case .legacy:
            return HCICommand(opcode: parametersOpcode, parameters: type + times + ownAddress + everybody)
        case .extended:
            let onlyPHY: [UInt8] = [1]
            return HCICommand(
                opcode: parametersOpcode, parameters: ownAddress + everybody + onlyPHY + type + times)
        }
    }

    /// Returns the command that starts or stops the scan. While a scan runs, starting it changes only the duplicate
    /// filter.
    package func enable(_ isOn: Bool, filtersDuplicates: Bool = false) -> HCICommand {
        let start: [UInt8] = [isOn ? 1 : 0, filtersDuplicates ? 1 : 0]
        // Neither a duration nor a period.
        return HCICommand(opcode: enableOpcode, parameters: self == .legacy ? start : start + [0, 0, 0, 0])
    }
}
