/// A packet from the kernel, decoded as far as a scan needs it.
///
/// Sources: Bluetooth Core Specification 5.4, Vol 4, Part E, 5.4 and 7.7.14, 7.7.15; Linux, hci_sock.c, for the
/// kernel's own events.
package enum HCIPacket: Hashable, Sendable {
    /// An event that may contain advertising reports. The scan decodes it in place.
    case meta
    /// Another program sends a command to the adapter.
    case command(HCICommand)
    /// The adapter answered a command.
    case answer(HCIAnswer)
    /// An adapter changed.
    case device(HCIDeviceChange, id: UInt16)
    /// Any other packet, or a truncated one.
    case other

    /// The first byte of a packet.
    package enum Kind {
        package static let command: UInt8 = 1
        package static let event: UInt8 = 4
    }

    /// Event codes.
    package enum Code {
        package static let commandComplete: UInt8 = 0x0E
        package static let commandStatus: UInt8 = 0x0F
        package static let metaEvent: UInt8 = 0x3E
        package static let stackInternal: UInt8 = 0xFD
    }

    /// Decodes a packet with its kind in the first byte.
    package init(_ packet: Span<UInt8>) {
        self = .other
        guard packet.count >= 3 else { return }
        switch (packet[0], packet[1]) {
        case (Kind.event, Code.metaEvent): self = .meta
        case (Kind.event, Code.commandComplete):
            guard packet.count >= 7 else { return }
            self = .answer(
                HCIAnswer(opcode: Self.word(packet, 4), status: packet[6], parameters: Self.bytes(packet, from: 7)))
        case (Kind.event, Code.commandStatus):
            guard packet.count >= 7 else { return }
            self = .answer(HCIAnswer(opcode: Self.word(packet, 5), status: packet[3], parameters: []))
        case (Kind.event, Code.stackInternal):
            guard packet.count >= 9, Self.word(packet, 3) == Self.deviceEvent,
                let change = HCIDeviceChange(rawValue: Self.word(packet, 5))
            else { return }
            self = .device(change, id: Self.word(packet, 7))
        case (Kind.command, _):
            guard packet.count >= 4 else { return }
            self = .command(HCICommand(opcode: Self.word(packet, 1), parameters: Self.bytes(packet, from: 4)))
        default: return
        }
    }

    /// The kernel's event type for changes of adapters.
    private static let deviceEvent: UInt16 = 1

    private static func word(_ packet: Span<UInt8>, _ offset: Int) -> UInt16 {
        UInt16(packet[offset]) | UInt16(packet[offset + 1]) << 8
    }

    private static func bytes(_ packet: Span<UInt8>, from offset: Int) -> [UInt8] {
        (offset..<packet.count).map { packet[$0] }
    }
}

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

/// The adapter's answer to a command.
package struct HCIAnswer: Hashable, Sendable {
    /// The command that the adapter answered.
    package var opcode: UInt16
    /// 0 for success, else an error code of the specification (Vol 1, Part F).
    package var status: UInt8
    /// The bytes after the status.
    package var parameters: [UInt8]

    /// Creates an answer from its parts.
    package init(opcode: UInt16, status: UInt8, parameters: [UInt8] = []) {
        self.opcode = opcode
        self.status = status
        self.parameters = parameters
    }

    /// Error codes that a scan must distinguish.
    package enum Status {
        package static let success: UInt8 = 0x00
        package static let unknownCommand: UInt8 = 0x01
        package static let disallowed: UInt8 = 0x0C
    }
}
