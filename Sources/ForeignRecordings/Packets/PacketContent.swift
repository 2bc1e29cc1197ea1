import BeaconScanning
import IndoorVocabulary

/// The advertisements in the packets of sniffers and of HCI.
struct PacketContent: Sendable {
    /// The layouts of packets that are read. Source: tcpdump.org, *Link-Layer Header Types*.
    enum LinkType: UInt32, CaseIterable, Sendable {
        /// HCI packets as UART transports them.
        case uart = 187
        /// Packets after a Per-Packet Information header, as `ubertooth-btle -c` writes them.
        case perPacketInformation = 192
        /// The same, after four bytes with the direction.
        case uartWithDirection = 201
        /// Packets of the link layer.
        case linkLayer = 251
        /// The packets of the monitor of the Linux kernel.
        case linuxMonitor = 254
        /// Packets of the link layer after a header with the signal strength.
        case linkLayerWithHeader = 256
        /// Packets of the nRF Sniffer.
        case nordic = 272
    }

    /// The maximum number of adapters whose fragments are kept.
    private static let maximumAdapters = 64

    private var reassemblers: [UInt16: AdvertisingReassembler] = [:]

    /// Decodes a packet.
    mutating func decode(
        _ record: PacketRecord, of bytes: [UInt8], into output: inout ForeignOutput
    ) throws(ForeignProblem) {
        guard let linkType = LinkType(rawValue: record.linkType) else {
            throw ForeignProblem(
                "link type",
                .unsupported(
                    "is \(record.linkType), which holds no advertisements of Bluetooth LE",
                    remedy: "This package reads the link types "
                        + LinkType.allCases.filter { $0 != .linkLayer }.map { "\($0.rawValue)" }.joined(separator: ", ")
                ),
                endsFile: true)
        }
        let (start, count) = (record.data.lowerBound, record.data.count)
        switch linkType {
        case .uart: try uart(bytes, record.data, 0, record, &output)
        case .uartWithDirection:
            guard count >= 4 else { throw ForeignProblem(nil, .cutOff(expected: 4, found: count)) }
            try uart(bytes, record.data.dropFirst(4), 0, record, &output)
        case .linuxMonitor:
            guard count >= 4 else { throw ForeignProblem(nil, .cutOff(expected: 4, found: count)) }
            // The adapter and the kind of packet; 3 is an event.
            guard bytes[start + 2] == 0, bytes[start + 3] == 3 else { return output.ignore("packets of other kinds") }
            let adapter = UInt16(bytes[start]) << 8 | UInt16(bytes[start + 1])
            try event(bytes, record.data.dropFirst(4), adapter, record, &output)
        case .linkLayer:
            guard record.rssi != nil else {
                throw ForeignProblem(
                    "signal strength",
                    .unsupported(
                        "is missing: packets of link type 251 don't contain it",
                        remedy: "Capture with a sniffer that writes link type 256 or 272"),
                    endsFile: true)
            }
            let header = SnifferHeader(packet: record.data, isChecked: false)
            try sniffed(.header(header), bytes, record, &output)
        case .linkLayerWithHeader: try sniffed(SnifferHeader.pseudoHeader(bytes, record.data), bytes, record, &output)
        case .perPacketInformation:
            try sniffed(SnifferHeader.perPacketInformation(bytes, record.data), bytes, record, &output)
        case .nordic: try sniffed(SnifferHeader.nordic(bytes, record.data), bytes, record, &output)
        }
    }

    private func time(_ record: PacketRecord) throws(ForeignProblem) -> ForeignTime {
        guard let nanoseconds = record.nanoseconds else {
            throw ForeignProblem("time", .missing(expected: "a packet with a valid time"))
        }
        return ForeignTime(nanoseconds: nanoseconds, isUnix: true)
    }

    // MARK: - Sniffers

    private func sniffed(
        _ result: SnifferHeader.Result, _ bytes: [UInt8], _ record: PacketRecord, _ output: inout ForeignOutput
    ) throws(ForeignProblem) {
        let header: SnifferHeader
        switch result {
        case .other(let reason): return output.ignore(reason)
        case .header(let found): header = found
        }
        let content: LinkLayerPacket.Content
        do throws(ForeignProblem) {
            content = try LinkLayerPacket.content(bytes, header.packet, isChecked: header.isChecked)
        } catch {
            // Noise on air damages packets. Only bytes that the file doesn't have are an error of the file.
            guard record.isWhole else { throw error }
            return output.ignore("damaged packets")
        }
        switch content {
        case .other(let kind): output.ignore(kind)
        case .advertisement(let packet):
            guard let rssi = header.rssi ?? record.rssi else {
                throw ForeignProblem("signal strength", .missing(expected: "a packet whose flags say that it is valid"))
            }
            let time = try time(record)
            let data = Array(bytes[packet.data])
            output.add(advertising: data, packet.address, rssi: rssi, at: time)
        }
    }

    // MARK: - HCI

    private mutating func uart(
        _ bytes: [UInt8], _ data: Range<Int>, _ adapter: UInt16, _ record: PacketRecord, _ output: inout ForeignOutput
    ) throws(ForeignProblem) {
        // 4 is an event.
        guard let first = data.first, bytes[first] == 4 else { return output.ignore("packets of other kinds") }
        try event(bytes, data.dropFirst(), adapter, record, &output)
    }

    /// Decodes an event of HCI, which begins with its code.
    mutating func event(
        _ bytes: [UInt8], _ data: Range<Int>, _ adapter: UInt16, _ record: PacketRecord, _ output: inout ForeignOutput
    ) throws(ForeignProblem) {
        let event = bytes.span.extracting(data)
        if reassemblers[adapter] == nil, reassemblers.count >= Self.maximumAdapters { reassemblers.removeAll() }
        var reports = AdvertisingReportIterator()
        do throws(AdvertisingReportError) {
            while let report = try reports.next(in: event) {
                guard let whole = reassemblers[adapter, default: AdvertisingReassembler()].add(report, of: event) else {
                    continue
                }
                guard report.hasMeasurement else {
                    output.ignore("advertisements without a signal strength")
                    continue
                }
                guard let reading = whole.reading(at: .zero) else {
                    output.ignore("advertisements without an address and a beacon")
                    continue
                }
                guard let nanoseconds = record.nanoseconds else { break }
                output.add(reading, at: ForeignTime(nanoseconds: nanoseconds, isUnix: true))
            }
        } catch {
            throw ForeignProblem(nil, .malformed("\(error.description.dropLast())"))
        }
        if record.nanoseconds == nil { _ = try time(record) }
    }
}

/// The advertisement in a packet of the link layer of Bluetooth LE.
///
/// Source: Bluetooth Core Specification 5.4, Vol 6 Part B, 2.1 (packet), 2.3 (advertising PDU) and 2.3.4 (common
/// extended advertising payload).
struct LinkLayerPacket: Hashable, Sendable {
    /// The content of a packet.
    enum Content: Hashable, Sendable {
        case advertisement(LinkLayerPacket)
        /// Other content; the text is its description.
        case other(String)
    }

    /// The address of the advertiser; nil if it is anonymous.
    var address: DeviceAddress?
    /// The offsets of the AD structures.
    var data: Range<Int>

    /// The access address of advertising channels, its first byte on air first.
    private static let accessAddress: [UInt8] = [0xD6, 0xBE, 0x89, 0x8E]

    /// Reads a packet that begins with its access address. The checksum after the payload may be missing.
    ///
    /// - Parameter isChecked: whether the sniffer has checked the packet.
    static func content(
        _ bytes: [UInt8], _ packet: Range<Int>, isChecked: Bool
    ) throws(ForeignProblem) -> Content {
        guard packet.count >= 6 else { throw ForeignProblem(nil, .cutOff(expected: 6, found: packet.count)) }
        let start = packet.lowerBound
        guard bytes[start..<(start + 4)].elementsEqual(accessAddress) else { return .other("packets of connections") }
        let header = bytes[start + 4]
        let payload = (start + 6)..<(start + 6 + Int(bytes[start + 5]))
        guard payload.upperBound <= packet.upperBound else {
            throw ForeignProblem(nil, .cutOff(expected: 6 + payload.count, found: packet.count))
        }
        if !isChecked, packet.upperBound - payload.upperBound >= 3 {
            let stated = bytes[payload.upperBound..<(payload.upperBound + 3)]
            guard stated.elementsEqual(checksum(bytes[(start + 4)..<payload.upperBound])) else {
                return .other("packets with a wrong checksum")
            }
        }
        let isRandom = header & 0x40 != 0
        switch header & 0x0F {
        // ADV_IND, ADV_NONCONN_IND, SCAN_RSP, ADV_SCAN_IND
        case 0, 2, 4, 6:
            guard payload.count >= 6 else { throw ForeignProblem(nil, .cutOff(expected: 12, found: 6 + payload.count)) }
            let address = address(bytes, payload.lowerBound, isRandom: isRandom)
            return .advertisement(LinkLayerPacket(address: address, data: payload.dropFirst(6)))
        case 7: return try extended(bytes, payload, isRandom: isRandom)
        case 1: return .other("directed advertisements")
        case 3, 5: return .other("requests")
        default: return .other("packets of reserved types")
        }
    }

    /// Reads the payload of ADV_EXT_IND and of the PDUs with the same layout on other channels.
    private static func extended(
        _ bytes: [UInt8], _ payload: Range<Int>, isRandom: Bool
    ) throws(ForeignProblem) -> Content {
        guard let length = payload.first.map({ Int(bytes[$0] & 0x3F) }), length < payload.count else {
            throw ForeignProblem(nil, .malformed("an extended header is longer than its packet"))
        }
        let data = payload.dropFirst(1 + length)
        guard length > 0, !data.isEmpty else { return .other("extended advertisements without data") }
        let flags = bytes[payload.lowerBound + 1]
        guard flags & 1 != 0 else { return .advertisement(LinkLayerPacket(address: nil, data: data)) }
        guard length >= 7 else {
            throw ForeignProblem(nil, .malformed("an extended header has no room for its address"))
        }
        let address = address(bytes, payload.lowerBound + 2, isRandom: isRandom)
        return .advertisement(LinkLayerPacket(address: address, data: data))
    }

    /// Returns the checksum of a PDU on an advertising channel, its first byte on air first.
    ///
    /// Source: Bluetooth Core Specification 5.4, Vol 6 Part B, 3.1.1.
    static func checksum(_ pdu: ArraySlice<UInt8>) -> [UInt8] {
        // The register is written with its first bit on air as the lowest.
        var register: UInt32 = 0xAA_AAAA
        for byte in pdu {
            for bit in 0..<8 {
                let feedback = (register ^ UInt32(byte >> bit)) & 1
                register >>= 1
                if feedback != 0 { register ^= 0xDA_6000 }
            }
        }
        return [0, 8, 16].map { UInt8(truncatingIfNeeded: register >> $0) }
    }

    /// Returns an address, whose last byte comes first.
    private static func address(_ bytes: [UInt8], _ start: Int, isRandom: Bool) -> DeviceAddress {
        let value = bytes[start..<(start + 6)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return DeviceAddress(rawValue: value, kind: isRandom ? .random : .public)
    }
}

/// The data that a sniffer writes before a packet of the link layer.
struct SnifferHeader: Hashable, Sendable {
    /// The signal strength in dBm; nil if the sniffer did not measure it.
    var rssi: Double?
    /// The offsets of the packet, which begins with its access address.
    var packet: Range<Int>
    /// Whether the sniffer has checked the packet, and passes on only valid ones.
    var isChecked = true

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
        return .header(SnifferHeader(rssi: rssi, packet: data.dropFirst(10), isChecked: flags & 0x0400 != 0))
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
        // Programs that imitate the sniffer write 0.
        let isImitation = type == 0 && data.count >= 21 && bytes[start + 7] == 10
        guard type == 0x06 || type == 0x02 || isImitation else { return .other("messages of the sniffer") }
        guard data.count >= 17 else { throw ForeignProblem(nil, .cutOff(expected: 17, found: data.count)) }
        let length = Int(bytes[start + 7])
        guard length >= 10, data.count >= 7 + length else {
            throw ForeignProblem(
                "header length", .invalid(found: "\(length)", expected: "10 or more, within the packet"))
        }
        guard bytes[start + 8] & 1 != 0 else { return .other("packets with a wrong checksum") }
        guard bytes[start + 10] != 0 else { return .other("packets without a signal strength: their RSSI is 0") }
        let rssi = -Double(bytes[start + 10])
        return .header(SnifferHeader(rssi: rssi, packet: data.dropFirst(7 + length)))
    }

    /// Reads the header of LINKTYPE_PPI with the field of Ubertooth, after which the packet follows.
    ///
    /// The header has the version, flags, its length and the link type of the packet. A field has a type, a length and
    /// its content. Field 30006 has the version, the frequency (2), the clock (1 and 4), and the highest, the lowest and
    /// the mean value of the receiver, which count from an offset and not from 1 mW.
    ///
    /// Sources: CACE Technologies, *Per-Packet Information Header Specification*, 1.0.7; libbtbb,
    /// github.com/greatscottgadgets/libbtbb, `lib/src/pcap.c`.
    static func perPacketInformation(_ bytes: [UInt8], _ data: Range<Int>) throws(ForeignProblem) -> Result {
        guard data.count >= 8 else { throw ForeignProblem(nil, .cutOff(expected: 8, found: data.count)) }
        let order = ByteOrder(isBigEndian: false)
        let length = Int(order.number(bytes, at: data.lowerBound + 2, 2))
        guard length >= 8, length <= data.count else {
            throw ForeignProblem(
                "header length", .invalid(found: "\(length)", expected: "8 or more, within the packet"))
        }
        let packet = data.dropFirst(length)
        var field = data.lowerBound + 8
        while field + 4 <= packet.lowerBound {
            let (type, size) = (order.number(bytes, at: field, 2), Int(order.number(bytes, at: field + 2, 2)))
            field += 4
            guard field + size <= packet.lowerBound else { break }
            if type == 30006, size >= 11 {
                let strength = Self.strength(ofCC2400: Int8(bitPattern: bytes[field + 8]))
                return .header(SnifferHeader(rssi: strength, packet: packet))
            }
            field += size
        }
        return .other("packets without Ubertooth's field of Per-Packet Information")
    }

    /// Returns the signal strength in dBm of a value of the receiver of Ubertooth; nil beyond its range.
    ///
    /// Source: Chipcon, *SmartRF CC2400*, data sheet, figure 22, as straight lines.
    private static func strength(ofCC2400 value: Int8) -> Double? {
        switch Double(value) {
        case ..<(-48): nil
        case let value where value <= -45: 6 * (value + 28)
        case let value where value <= 30: (99 * (value - 62) / 110).rounded(.towardZero)
        case let value where value <= 35: (60 * (value - 35) / 11).rounded(.towardZero)
        default: nil
        }
    }
}
