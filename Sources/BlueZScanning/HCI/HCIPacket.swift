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
