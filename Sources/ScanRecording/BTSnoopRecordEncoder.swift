import IndoorVocabulary

/// An encoder for the header and the records of a capture.
struct BTSnoopRecordEncoder {
    /// The packet layout.
    let datalink: BTSnoopDatalink
    /// The number of the adapter.
    let adapter: UInt16
    /// The time of instant zero, in microseconds since 1970-01-01 UTC.
    let startMicroseconds: Int64

    /// Returns the file's header and a record at instant zero, the reference for all later instants.
    func beginning() throws(BTSnoopError.Problem) -> [UInt8] {
        let header =
            BTSnoopRecord.identification + Self.bigEndian(UInt64(BTSnoopRecord.version), count: 4)
            + Self.bigEndian(UInt64(datalink.rawValue), count: 4)
        if datalink == .monitor {
            // A new adapter, as the Linux monitor reports it: primary, on a virtual bus, without an address.
            let packet: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0] + Self.padded("hci\(adapter)", to: 8)
            let flags = UInt32(adapter) << 16 | BTSnoopDatalink.Layout.monitorNewIndex
            return try header + record(packet, flags: flags, at: .zero)
        }
        // Command Complete without a command: a controller sends it to report that it is ready.
        return try header + record(of: [0x0E, 0x03, 0x01, 0x00, 0x00], at: .zero)
    }

    /// Returns a record that contains an event.
    ///
    /// - Parameter instant: the time of the record; not before zero.
    func record(of event: [UInt8], at instant: Instant) throws(BTSnoopError.Problem) -> [UInt8] {
        try record(datalink.eventPrefix + event, flags: datalink.eventFlags(adapter: adapter), at: instant)
    }

    private func record(
        _ packet: [UInt8], flags: UInt32, at instant: Instant
    ) throws(BTSnoopError.Problem) -> [UInt8] {
        let (start, isBeyond) = startMicroseconds.addingReportingOverflow(BTSnoopRecord.unixEpoch)
        let (microseconds, isFar) = start.addingReportingOverflow(instant.nanoseconds / 1000)
        guard !isBeyond, !isFar, microseconds >= 0 else { throw .timeOutOfRange }
        // The record contains the whole packet, and no packet was lost.
        let length = Self.bigEndian(UInt64(packet.count), count: 4)
        let drops = Self.bigEndian(0, count: 4)
        return length + length + Self.bigEndian(UInt64(flags), count: 4) + drops
            + Self.bigEndian(UInt64(microseconds), count: 8) + packet
    }

    private static func bigEndian(_ value: UInt64, count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
    }

    private static func padded(_ text: String, to count: Int) -> [UInt8] {
        Array((Array(text.utf8) + Array(repeating: 0, count: count)).prefix(count))
    }
}
