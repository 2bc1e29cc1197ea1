/// How the packets of a Bluetooth capture are laid out.
public enum BTSnoopDatalink: UInt32, Hashable, Sendable, CaseIterable {
    /// HCI packets without their type, which the record's flags tell (H1).
    case hci = 1001
    /// HCI packets as UART carries them, behind a byte with their type (H4): Android, Wireshark, many vendors.
    case uart = 1002
    /// What the monitor of the Linux kernel gives, of all adapters at once: `btmon -w`.
    case monitor = 2001

    /// What the number is called.
    var name: String {
        switch self {
        case .hci: "H1"
        case .uart: "H4"
        case .monitor: "Linux monitor"
        }
    }

    /// The HCI event in a record: which adapter it came from, and where it lies; nil of anything else.
    func event(in record: BTSnoopRecord, of bytes: Span<UInt8>) -> (adapter: UInt16, range: Range<Int>)? {
        switch self {
        case .hci:
            return record.flags & 3 == Layout.receivedEvent ? (0, record.data) : nil
        case .uart:
            guard !record.data.isEmpty, bytes[record.data.lowerBound] == Layout.uartEvent else { return nil }
            return (0, record.data.dropFirst())
        case .monitor:
            guard record.flags & 0xFFFF == Layout.monitorEvent else { return nil }
            return (UInt16(record.flags >> 16), record.data)
        }
    }

    /// The flags of a record that holds an event.
    func eventFlags(adapter: UInt16) -> UInt32 {
        self == .monitor ? UInt32(adapter) << 16 | Layout.monitorEvent : Layout.receivedEvent
    }

    /// What stands before an event.
    var eventPrefix: [UInt8] { self == .uart ? [Layout.uartEvent] : [] }

    /// Numbers of the formats.
    enum Layout {
        /// Bit 0: from the controller. Bit 1: a command or an event.
        static let receivedEvent: UInt32 = 3
        static let uartEvent: UInt8 = 4
        static let monitorNewIndex: UInt32 = 0
        static let monitorEvent: UInt32 = 3
    }
}
