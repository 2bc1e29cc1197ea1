import BeaconScanning
import IndoorVocabulary
import TagTracking
import TextFormats

/// The advertisements in the rows of a log of Kismet.
///
/// Source: Kismet, github.com/kismetwireless/kismet, `datasource_linux_bluetooth.cc` and `phy_bluetooth.cc`.
struct KismetRowContent: Sendable {
    private var packets = PacketContent()
    private var devices = KismetContent()

    /// Decodes a row.
    mutating func decode(_ row: KismetRow, into output: inout ForeignOutput) throws(ForeignProblem) {
        switch row.content {
        case .other(let kind, let count): output.ignore("packets of \(kind.prefix(40))", count: count)
        case .packet(let linkType, let isDamaged, let bytes):
            guard !isDamaged else { return output.ignore("packets with a wrong checksum") }
            try Self.check(bytes, "packet")
            if linkType == PacketContent.LinkType.linkLayer.rawValue, row.signal == nil {
                return output.ignore("packets without a signal strength")
            }
            let record = PacketRecord(
                number: 0, linkType: linkType, nanoseconds: row.nanoseconds, isWhole: true, data: bytes.indices,
                rssi: row.signal)
            try packets.decode(record, of: bytes, into: &output)
        case .report(_, let json):
            try Self.check(json, "json")
            try report(json, row, into: &output)
        case .device(let json):
            try Self.check(json, "device")
            try devices.decode(json, into: &output)
        }
    }

    private static func check(_ bytes: [UInt8], _ column: String) throws(ForeignProblem) {
        guard bytes.count <= ObjectBuffer.maximumLength else {
            throw ForeignProblem(column, .tooLong(limit: ObjectBuffer.maximumLength))
        }
    }

    private func report(
        _ json: [UInt8], _ row: KismetRow, into output: inout ForeignOutput
    ) throws(ForeignProblem) {
        var reader = JSONReader(json, limits: .gateway)
        var (text, signal, data) = (String?.none, row.signal, [UInt8]())
        // The kind of address by the number of Linux' management interface: BR/EDR, public or random.
        var kind = 0.0
        var isClassic = false
        try reader.object(nil) { (reader, key) throws(ForeignProblem) in
            switch key {
            case "addr", "btaddr": text = try reader.text(key)
            case "type":
                kind = try reader.optionalNumber(key) ?? 0
                isClassic = kind == 0
            case "devicetype":
                isClassic = try reader.text(key)?.uppercased() == "BR/EDR"
            case "signal":
                let stated = try reader.optionalNumber(key)
                signal = signal ?? stated
            case "scan_data": data = try reader.byteList(key) ?? []
            default: return false
            }
            return true
        }
        guard !isClassic else { return output.ignore("devices of BR/EDR") }
        guard let text else { throw ForeignProblem("addr", .missing(expected: "the address of the device")) }
        guard var address = FieldText.address(text) else {
            throw .invalid("addr", text, expected: "six hexadecimal pairs with colons")
        }
        if kind == 1 || kind == 2 { address.kind = kind == 1 ? .public : .random }
        guard let nanoseconds = row.nanoseconds else {
            throw ForeignProblem("ts_sec", .missing(expected: "seconds since 1970"))
        }
        guard let signal, signal != 0 else { return output.ignore("reports without a signal strength") }
        guard data.count <= AdvertisingReassembler.maximumLength else {
            throw ForeignProblem("scan_data", .tooLong(limit: AdvertisingReassembler.maximumLength))
        }
        output.add(nil, address, rssi: signal, data: data, at: ForeignTime(nanoseconds: nanoseconds, isUnix: true))
    }
}
