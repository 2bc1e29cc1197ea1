import IndoorLocalization

/// The controller's answers to reading commands. Source: Bluetooth Core Specification 5.4, Vol 4, Part E, 6.27, 7.3,
/// 7.4, 7.8.
extension ControllerModel {
    /// Returns the return parameters of a reading command; nil if the controller doesn't support it.
    func information(for command: HostCommand) -> [UInt8]? {
        switch command.opcode {
        // Bluetooth 4.2 or 5.2, with the company number for tests.
        case HostOpcode.readVersion: [version, 0, 0, version, 0xFF, 0xFF, 0, 0]
        case HostOpcode.readCommands: supportedCommands
        // LE, and no classic Bluetooth.
        case HostOpcode.readFeatures: [0, 0, 0, 0, 0x60, 0, 0, 0]
        case HostOpcode.readExtendedFeatures: [command.byte(at: 0), 0, 0, 0, 0, 0, 0, 0, 0, 0]
        case HostOpcode.readBufferSize: [251, 0, 0, 8, 0, 0, 0]
        case HostOpcode.readAddress: (0..<6).map { UInt8(truncatingIfNeeded: address.rawValue >> UInt64(8 * $0)) }
        case HostOpcode.readStoredLinkKey: [0, 0, 0, 0]
        case HostOpcode.readLocalName: [UInt8](repeating: 0, count: 248)
        case HostOpcode.readClass: [0, 0, 0]
        case HostOpcode.readLEBufferSize: [251, 0, 8]
        // Extended advertising is bit 12.
        case HostOpcode.readLEFeatures: [0, generation == .bluetooth5 ? 0x10 : 0, 0, 0, 0, 0, 0, 0]
        case HostOpcode.readAdvertisingPower: [0]
        case HostOpcode.readAcceptListSize, HostOpcode.readResolvingListSize: [8]
        case HostOpcode.random: [1, 2, 3, 4, 5, 6, 7, UInt8(truncatingIfNeeded: commands.count)]
        case HostOpcode.readStates: [UInt8](repeating: 0xFF, count: 5) + [0x03, 0, 0]
        case HostOpcode.setExtendedAdvertisingParameters: [0]
        case HostOpcode.readAdvertisingDataLength: [0x72, 0x06]
        case HostOpcode.readAdvertisingSets: [4]
        default: nil
        }
    }

    private var version: UInt8 { generation == .bluetooth4 ? 0x08 : 0x0B }

    /// The bits of the commands that `answer(_:)` supports, by octet.
    private var supportedCommands: [UInt8] {
        var octets = [UInt8](repeating: 0, count: 64)
        octets[5] = 0xC0  // event mask, reset
        octets[14] = 0x28  // version, features
        octets[15] = 0x02  // address
        octets[25] = 0xF7  // LE: event mask, buffer size, features, random address, advertising
        octets[26] = 0xCF  // scan response data, advertising on, scan parameters, scan on, accept list
        octets[27] = 0x83  // accept list, random number
        octets[28] = 0x08  // states
        guard generation == .bluetooth5 else { return octets }
        octets[36] = 0xFE  // advertising sets, extended advertising
        octets[37] = 0x63  // advertising sets removed, extended scan
        return octets
    }
}
