/// A command to the adapter.
package struct HCICommand: Hashable, Sendable {
    package var opcode: UInt16
    package var parameters: [UInt8]

    /// Creates a command from its parts.
    package init(opcode: UInt16, parameters: [UInt8]) {
        self.opcode = opcode
        self.parameters = parameters
    }

    /// The packet, with its kind in the first byte.
    package var packet: [UInt8] {
        [HCIPacket.Kind.command] + Self.bytes(opcode) + [UInt8(truncatingIfNeeded: parameters.count)] + parameters
    }

    /// Command opcodes. Source: Bluetooth Core Specification 5.4, Vol 4, Part E, 7.3, 7.4, and 7.8.
    package enum Opcode {
        package static let reset: UInt16 = 0x0C03
        package static let readSupportedCommands: UInt16 = 0x1002
        package static let setScanParameters: UInt16 = 0x200B
        package static let setScanEnable: UInt16 = 0x200C
        package static let setExtendedScanParameters: UInt16 = 0x2041
        package static let setExtendedScanEnable: UInt16 = 0x2042
    }

    static func bytes(_ value: UInt16) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }
}
