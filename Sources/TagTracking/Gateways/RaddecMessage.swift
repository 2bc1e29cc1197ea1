import IndoorVocabulary
import TextFormats

/// A raddec of reelyActive: one transmitter, and the RSSI of each receiver; or an array of them.
///
/// Source: reelyActive, github.com/reelyactive/raddec, `README.md`.
enum RaddecMessage {
    /// The time over which several decodings were averaged, 1 s: the usual delay of reelyActive's software.
    static let window = Duration.seconds(1)

    /// Returns the readings. A raddec of a transmitter that is gone has none.
    static func readings(payload: [UInt8]) throws(GatewayError) -> [GatewayReading] {
        try GatewayFields.readings(of: payload, .raddec) { fields, readings throws(GatewayError) in
            try read(&fields, &readings)
        }
    }

    private static func read(
        _ fields: inout GatewayFields, _ readings: inout [GatewayReading]
    ) throws(GatewayError) {
        var raddec = Raddec()
        try fields.enterObject("message")
        while let key = try fields.nextKey() { try raddec.read(key, &fields) }
        guard !raddec.isGone else { return }
        for decoding in raddec.decodings {
            var report = raddec.report
            report.rssi = decoding.rssi
            let reading = try report.reading(
                by: decoding.receiver, window: decoding.count > 1 ? window : .zero, .raddec, at: decoding.offset)
            if let reading { readings.append(reading) }
        }
    }

    private struct Raddec {
        var report = TagReport()
        var decodings: [(receiver: String?, rssi: Double?, count: Int64, offset: Int)] = []
        var isGone = false

        mutating func read(_ key: JSONString, _ fields: inout GatewayFields) throws(GatewayError) {
            if fields.matches(key, "transmitterId") {
                let id = try fields.string("transmitterId")
                report.address = fields.withBytes(of: id) { HexText.address($0) }
                if report.address == nil, !id.range.isEmpty {
                    // An EUI-64, or an identifier that isn't an address.
                    report.identifier = try fields.text(of: id, "transmitterId")
                }
            } else if fields.matches(key, "transmitterIdType") {
                if try fields.integer("transmitterIdType", in: 0...255) == 3 { report.addressKind = .random }
            } else if fields.matches(key, "rssiSignature") {
                try fields.enterArray("rssiSignature")
                while try fields.nextElement() { try readDecoding(&fields) }
            } else if fields.matches(key, "packets") {
                try fields.enterArray("packets")
                while try fields.nextElement() { try readPacket(&fields) }
            } else if fields.matches(key, "timestamp") {
                report.time =
                    try fields.kind() == .string ? fields.isoTime("timestamp") : fields.unixMilliseconds("timestamp")
            } else if fields.matches(key, "events") {
                try fields.enterArray("events")
                while try fields.nextElement() {
                    // Event 4 is the disappearance of the transmitter.
                    if try fields.integer("events", in: 0...255) == 4 { isGone = true }
                }
            } else {
                try fields.skip()
            }
        }

        private mutating func readDecoding(_ fields: inout GatewayFields) throws(GatewayError) {
            let offset = fields.offset
            var receiver: String?
            var rssi: Double?
            var count: Int64 = 1
            try fields.enterObject("rssiSignature")
            while let key = try fields.nextKey() {
                if fields.matches(key, "receiverId") {
                    receiver = try fields.text("receiverId")
                } else if fields.matches(key, "rssi") {
                    rssi = try fields.signalStrength("rssi")
                } else if fields.matches(key, "numberOfDecodings") {
                    count = try fields.integer("numberOfDecodings", in: 1...1_000_000)
                } else {
                    try fields.skip()
                }
            }
            decodings.append((receiver, rssi, count, offset))
        }

        /// Reads a packet: two bytes of header, six of the address, and the AD structures.
        private mutating func readPacket(_ fields: inout GatewayFields) throws(GatewayError) {
            report.data.removeAll(keepingCapacity: true)
            try fields.hex("packets", to: &report.data)
            // Advertisements whose header is followed by the address and the data: Bluetooth Core Specification 5.4,
            // Vol 6 Part B, 2.3.1.
            guard report.data.count > 8, [0x0, 0x2, 0x4, 0x6].contains(report.data[0] & 0x0F), report.beacon == nil
            else {
                return
            }
            report.data.removeFirst(8)
            report.readAdvertisement()
        }
    }
}
