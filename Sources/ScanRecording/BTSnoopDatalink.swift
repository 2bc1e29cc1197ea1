/// The packet layout of a Bluetooth capture.
package enum BTSnoopDatalink: UInt32, Hashable, Sendable, CaseIterable {
    /// HCI packets without a type byte; the record's flags contain the type (H1).
    case hci = 1001
    /// HCI packets as UART transports them, after a byte with their type (H4): Android, Wireshark, many vendors.
    case uart = 1002
    /// The packets of all adapters, as the monitor of the Linux kernel delivers them: `btmon -w`.
    case monitor = 2001

    /// The name of the layout in error messages.
    var name: String {
        switch self {
        case .hci: "H1"
        case .uart: "H4"
        case .monitor: "Linux monitor"
        }
    }

    /// Returns the adapter and the byte range of the HCI event in a record; nil if the record holds no event.
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

    /// Returns the flags of a record that contains an event.
    func eventFlags(adapter: UInt16) -> UInt32 {
        self == .monitor ? UInt32(adapter) << 16 | Layout.monitorEvent : Layout.receivedEvent
    }

    /// The bytes that precede an event.
    var eventPrefix: [UInt8] { self == .uart ? [Layout.uartEvent] : [] }

    /// The numbers that the formats define.
    enum Layout {
        /// Bit 0: from the controller. Bit 1: a command or an event.
        static let receivedEvent: UInt32 = 3
        static let uartEvent: UInt8 = 4
        static let monitorNewIndex: UInt32 = 0
        static let monitorEvent: UInt32 = 3
    }
}
