/// The data that a sniffer writes before a packet of the link layer.
struct SnifferHeader: Hashable, Sendable {
    /// The signal strength in dBm; nil if the sniffer did not measure it.
    var rssi: Double?
    /// The offsets of the packet, which begins with its access address.
    var packet: Range<Int>

    /// The result of reading a header.
    enum Result: Hashable, Sendable {
        case header(SnifferHeader)
        /// The packet is not read; the text is the reason.
        case other(String)
    }

    /// Reads the header of LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR.
    ///
    /// Source: tcpdump.org, *LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR*: channel, signal, noise, offences, four bytes of the
    /// expected access address, and flags.
    static func pseudoHeader(_ bytes: [UInt8], _ data: Range<Int>) throws(ForeignProblem) -> Result {
        guard data.count >= 10 else { throw ForeignProblem(nil, .cutOff(expected: 10, found: data.count)) }
        let start = data.lowerBound
        let flags = Int(bytes[start + 8]) | Int(bytes[start + 9]) << 8
        guard flags & 0x0001 != 0 else { return .other("whitened packets") }
        // The checksum was checked, and is wrong.
        if flags & 0x0C00 == 0x0400 { return .other("packets with a wrong checksum") }
        let rssi = flags & 0x0002 == 0 ? nil : Double(Int8(bitPattern: bytes[start + 1]))
        return .header(SnifferHeader(rssi: rssi, packet: data.dropFirst(10)))
    }

    /// Reads the header of LINKTYPE_NORDIC_BLE, of protocol versions 1 to 3.
    ///
    /// Source: tcpdump.org, *LINKTYPE_NORDIC_BLE*; Nordic Semiconductor, *nRF Sniffer for Bluetooth LE packet format*:
    /// board, two bytes of lengths, version, counter, and type; then length, flags, channel, RSSI without its sign,
    /// event counter and time.
    static func nordic(_ bytes: [UInt8], _ data: Range<Int>) throws(ForeignProblem) -> Result {
        guard data.count >= 7 else { throw ForeignProblem(nil, .cutOff(expected: 7, found: data.count)) }
        let start = data.lowerBound
        let (version, type) = (bytes[start + 3], bytes[start + 6])
        guard (1...3).contains(version) else {
            throw ForeignProblem(
                "protocol version",
                .unsupported(
                    "is \(version)",
                    remedy: "Capture with nRF Sniffer 2 or newer, or read leniently to skip such packets"))
        }
        // A packet on an advertising channel, or in newer versions also of a connection.
        guard type == 0x06 || type == 0x02 else { return .other("messages of the sniffer") }
        guard data.count >= 17 else { throw ForeignProblem(nil, .cutOff(expected: 17, found: data.count)) }
        let length = Int(bytes[start + 7])
        guard length >= 10, data.count >= 7 + length else {
            throw ForeignProblem(
                "header length", .invalid(found: "\(length)", expected: "10 or more, within the packet"))
        }
        guard bytes[start + 8] & 1 != 0 else { return .other("packets with a wrong checksum") }
        let rssi = -Double(bytes[start + 10])
        return .header(SnifferHeader(rssi: rssi, packet: data.dropFirst(7 + length)))
    }
}
