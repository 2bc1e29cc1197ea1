/// The two sets of commands that scan; an adapter that was sent one of a set refuses those of the other.
///
/// Source: Bluetooth Core Specification 5.4, Vol 4, Part E, 3.1.1.
package enum HCIScanCommands: Hashable, Sendable, CaseIterable {
    /// Those of Bluetooth 4.
    case legacy
    /// Those of Bluetooth 5, which also hear extended advertising.
    case extended

    package var other: HCIScanCommands { self == .legacy ? .extended : .legacy }

    package var parametersOpcode: UInt16 {
        self == .legacy ? HCICommand.Opcode.setScanParameters : HCICommand.Opcode.setExtendedScanParameters
    }

    package var enableOpcode: UInt16 {
        self == .legacy ? HCICommand.Opcode.setScanEnable : HCICommand.Opcode.setExtendedScanEnable
    }

    /// Sets how to scan. LE 1M only, as beacons advertise on it; what they then send on another PHY is heard as well.
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

    /// Begins to scan, or ends the scan. Of a scan that runs, only the duplicate filter changes.
    package func enable(_ isOn: Bool, filtersDuplicates: Bool = false) -> HCICommand {
        let start: [UInt8] = [isOn ? 1 : 0, filtersDuplicates ? 1 : 0]
        // Without an end and without a period.
        return HCICommand(opcode: enableOpcode, parameters: self == .legacy ? start : start + [0, 0, 0, 0])
    }
}
