import BeaconScanning
import IndoorVocabulary

/// The advertisements in the packets of sniffers and of HCI.
struct PacketContent: Sendable {
    /// The layouts of packets that are read. Source: tcpdump.org, *Link-Layer Header Types*.
    enum LinkType: UInt32, CaseIterable, Sendable {
        /// HCI packets as UART transports them.
        case uart = 187
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
            throw ForeignProblem(
                "signal strength",
                .unsupported(
                    "is missing: packets of link type 251 don't contain it",
                    remedy: "Capture with a sniffer that writes link type 256 or 272"),
                endsFile: true)
        case .linkLayerWithHeader: try sniffed(SnifferHeader.pseudoHeader(bytes, record.data), bytes, record, &output)
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
        switch try LinkLayerPacket.content(bytes, header.packet) {
        case .other(let kind): output.ignore(kind)
        case .advertisement(let packet):
            guard let rssi = header.rssi else {
                throw ForeignProblem("signal strength", .missing(expected: "a packet whose flags say that it is valid"))
            }
            let time = try time(record)
            let data = Array(bytes[packet.data])
            if let address = packet.address {
                output.add(nil, address, rssi: rssi, data: data, at: time)
            } else if case .beacon(let frame)? = try? BeaconFrame.decode(data.span) {
                output.add(frame.beacon, nil, rssi: rssi, power: frame.measuredPower.map(Double.init), at: time)
            } else {
                output.ignore("advertisements without an address and a beacon")
            }
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

    private mutating func event(
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
