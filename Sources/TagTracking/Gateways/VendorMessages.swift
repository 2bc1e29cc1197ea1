import IndoorVocabulary
import TextFormats

/// A message of a stream of Kontakt.io: one reading, or an array of readings.
///
/// The time is that at which the cloud received the reading.
///
/// Source: Kontakt.io, developer.kontakt.io/backend/locationservices/streamsconfig.
enum KontaktMessage {
    /// Returns the readings.
    static func readings(payload: [UInt8]) throws(GatewayError) -> [GatewayReading] {
        try GatewayFields.readings(of: payload, .kontakt) { fields, readings throws(GatewayError) in
            try read(&fields, &readings)
        }
    }

    private static func read(
        _ fields: inout GatewayFields, _ readings: inout [GatewayReading]
    ) throws(GatewayError) {
        let offset = fields.offset
        var report = TagReport()
        var receiver: String?
        try fields.enterObject("message")
        while let key = try fields.nextKey() {
            if fields.matches(key, "trackingId") {
                let id = try fields.string("trackingId")
                report.address = fields.withBytes(of: id) { HexText.address($0) }
                if report.address == nil { report.identifier = try fields.text(of: id, "trackingId") }
            } else if fields.matches(key, "sourceId") {
                receiver = try fields.text("sourceId")
            } else if fields.matches(key, "rssi") {
                report.rssi = try fields.signalStrength("rssi")
            } else if fields.matches(key, "timestamp") {
                report.time =
                    try fields.kind() == .number ? fields.unixSeconds("timestamp") : fields.isoTime("timestamp")
            } else if fields.matches(key, "batteryLevel") {
                report.battery = TagBattery(percent: try fields.numberIfAny("batteryLevel"))
            } else {
                try fields.skip()
            }
        }
        if report.identifier?.isEmpty == true { report.identifier = nil }
        if let reading = try report.reading(by: receiver, .kontakt, at: offset) { readings.append(reading) }
    }
}

/// A batch of a Minew gateway in the format JSON-LONG.
///
/// The gateway comes first; each other element is an advertisement, raw or decoded by the gateway.
///
/// Source: barnowl-minew, github.com/reelyactive/barnowl-minew, `lib/jsonlongpacketdecoder.js`.
enum MinewLongMessage {
    /// Returns the readings.
    static func readings(payload: [UInt8]) throws(GatewayError) -> [GatewayReading] {
        var fields = GatewayFields(payload, .minewLong)
        var receiver: String?
        var readings: [GatewayReading] = []
        try fields.enterArray("message")
        while try fields.nextElement() {
            let offset = fields.offset
            var entry = Entry()
            try fields.enterObject("element")
            while let key = try fields.nextKey() { try entry.read(key, &fields) }
            if entry.isGateway {
                receiver = entry.mac
                continue
            }
            guard receiver != nil else {
                throw fields.error(offset, "message", "the gateway with its 'type' and 'mac' as the first element")
            }
            let report = try entry.report(fields, at: offset)
            if let reading = try report.reading(by: receiver, .minewLong, at: offset) { readings.append(reading) }
        }
        try fields.finish()
        guard receiver != nil else { throw fields.error(0, "message", "the gateway with its 'type' and 'mac'") }
        return readings
    }

    private struct Entry {
        var isGateway = false
        var isBeacon = false
        var mac: String?
        var report = TagReport()
        var uuid: BeaconUUID?
        var major: UInt16?
        var minor: UInt16?

        mutating func read(_ key: JSONString, _ fields: inout GatewayFields) throws(GatewayError) {
            if fields.matches(key, "mac") {
                mac = try fields.text("mac")
            } else if fields.matches(key, "rssi") {
                report.rssi = try fields.signalStrength("rssi")
            } else if fields.matches(key, "rawData") {
                try fields.hex("rawData", to: &report.data)
            } else if fields.matches(key, "timestamp") {
                report.time = try fields.isoTime("timestamp")
            } else if fields.matches(key, "type") {
                let type = try fields.string("type")
                isGateway = fields.matches(type, "Gateway")
                isBeacon = fields.matches(type, "iBeacon")
            } else if fields.matches(key, "bleName") {
                report.name = try fields.tagName("bleName")
            } else if fields.matches(key, "ibeaconUuid") {
                uuid = try fields.uuid("ibeaconUuid")
            } else if fields.matches(key, "ibeaconMajor") {
                major = try fields.number16("ibeaconMajor")
            } else if fields.matches(key, "ibeaconMinor") {
                minor = try fields.number16("ibeaconMinor")
            } else if fields.matches(key, "ibeaconTxPower") {
                report.power = try fields.signalStrength("ibeaconTxPower")
            } else if fields.matches(key, "battery") {
                report.battery = TagBattery(percent: try fields.numberIfAny("battery"))
            } else {
                try fields.skip()
            }
        }

        func report(_ fields: GatewayFields, at offset: Int) throws(GatewayError) -> TagReport {
            var report = report
            guard let address = mac.flatMap({ HexText.address($0.utf8.span) }) else {
                throw fields.error(offset, "mac", "an address of 12 hexadecimal digits, with or without colons")
            }
            report.address = address
            // An iBeacon contains no battery level; the gateway then writes 0.
            if isBeacon || uuid != nil, report.battery?.percent == 0 { report.battery = nil }
            if let uuid, let major, let minor {
                report.beacon = BeaconIdentity(uuid: uuid, major: major, minor: minor)
            } else {
                report.power = nil
            }
            report.readAdvertisement()
            return report
        }
    }
}

/// A batch of a Minew gateway in the format JSON-RAW, without the advertising data.
///
/// Source: barnowl-minew, github.com/reelyactive/barnowl-minew, `lib/jsonrawpacketdecoder.js`.
enum MinewRawMessage {
    /// Returns the readings.
    static func readings(payload: [UInt8]) throws(GatewayError) -> [GatewayReading] {
        var fields = GatewayFields(payload, .minewRaw)
        var receiver: String?
        var readings: [GatewayReading] = []
        try fields.enterArray("message")
        while try fields.nextElement() {
            let offset = fields.offset
            var report = TagReport()
            try fields.enterObject("element")
            while let key = try fields.nextKey() {
                if fields.matches(key, "gateway") {
                    receiver = try fields.text("gateway")
                } else if fields.matches(key, "mac") {
                    report.address = try fields.address("mac")
                } else if fields.matches(key, "no") {
                    report.channel = try fields.channel("no")
                } else if fields.matches(key, "rssi") {
                    report.rssi = try fields.signalStrength("rssi")
                } else if fields.matches(key, "timestamp") {
                    report.time = try fields.isoTime("timestamp")
                } else {
                    try fields.skip()
                }
            }
            if let reading = try report.reading(by: receiver, .minewRaw, at: offset) { readings.append(reading) }
        }
        try fields.finish()
        guard receiver != nil else { throw fields.error(0, "message", "the key 'gateway' in the first element") }
        return readings
    }
}

/// A batch of a Minew gateway in the format BINARY-LONG.
///
/// Bytes: 0xBB01, the length of the message (4), the gateway's address (6), the number of tags (2), the tags, 0xDD. A tag
/// has its address (6) and the number of its packets (2). A packet has the length of its data (1), its data, a byte whose
/// bits 0x06 mark a random address, and the RSSI (1). Numbers are big-endian.
///
/// Source: barnowl-minew, github.com/reelyactive/barnowl-minew, `lib/binarypacketdecoder.js`.
enum MinewBinaryMessage {
    /// Returns the readings.
    static func readings(payload: [UInt8]) throws(GatewayError) -> [GatewayReading] {
        var bytes = Bytes(payload: payload)
        guard try bytes.number(2, "header") == 0xBB01 else { throw bytes.error(0, "header", "0xBB01") }
        guard try bytes.number(4, "length") == UInt64(payload.count) else {
            throw bytes.error(2, "length", "\(payload.count), the length of the message in bytes")
        }
        let gateway = DeviceAddress(rawValue: try bytes.number(6, "gateway")).description
        let tags = try bytes.number(2, "number of tags")
        var readings: [GatewayReading] = []
        for _ in 0..<tags {
            let address = DeviceAddress(rawValue: try bytes.number(6, "tag"))
            for _ in 0..<(try bytes.number(2, "number of packets")) {
                let offset = bytes.offset
                var report = TagReport()
                report.address = address
                report.data = try bytes.data(count: Int(try bytes.number(1, "length of data")), "data")
                if try bytes.number(1, "response") & 0x06 != 0 { report.addressKind = .random }
                let rssi = Int8(truncatingIfNeeded: try bytes.number(1, "rssi"))
                report.rssi = Sighting.isMeasurement(rssi: Double(rssi)) ? Double(rssi) : nil
                report.readAdvertisement()
                if let reading = try report.reading(by: gateway, .minewBinary, at: offset) { readings.append(reading) }
            }
        }
        guard try bytes.number(1, "tail") == 0xDD, bytes.offset == payload.count else {
            throw bytes.error(bytes.offset - 1, "tail", "0xDD as the last byte")
        }
        return readings
    }

    private struct Bytes {
        let payload: [UInt8]
        var offset = 0

        /// Reads a big-endian number of up to eight bytes.
        mutating func number(_ size: Int, _ field: StaticString) throws(GatewayError) -> UInt64 {
            try check(size, field)
            var number: UInt64 = 0
            for byte in payload[offset..<offset + size] { number = number << 8 | UInt64(byte) }
            offset += size
            return number
        }

        mutating func data(count: Int, _ field: StaticString) throws(GatewayError) -> [UInt8] {
            try check(count, field)
            offset += count
            return Array(payload[offset - count..<offset])
        }

        private func check(_ size: Int, _ field: StaticString) throws(GatewayError) {
            guard payload.count - offset >= size else {
                throw error(offset, field, "\(size) more bytes, found \(payload.count - offset)")
            }
        }

        func error(_ offset: Int, _ field: StaticString, _ expected: String) -> GatewayError {
            GatewayError(format: .minewBinary, offset: offset, message: "\(field): expected \(expected)")
        }
    }
}

/// A raddec of reelyActive: one transmitter, and the RSSI of each receiver; or an array of them.
///
/// Source: reelyActive, github.com/reelyactive/raddec, `README.md`.
enum RaddecMessage {
    /// The time over which several decodings were averaged, 1 s: the usual delay of reelyActive's software.
    static let window = Duration.seconds(1)

    /// Returns the readings. A raddec of a transmitter that is gone has none.
    static func readings(payload: [UInt8], keepsData: Bool) throws(GatewayError) -> [GatewayReading] {
        try GatewayFields.readings(of: payload, .raddec) { fields, readings throws(GatewayError) in
            try read(&fields, &readings, keepsData)
        }
    }

    private static func read(
        _ fields: inout GatewayFields, _ readings: inout [GatewayReading], _ keepsData: Bool
    ) throws(GatewayError) {
        var raddec = Raddec(keepsData: keepsData)
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
        let keepsData: Bool
        var report = TagReport()
        var decodings: [(receiver: String?, rssi: Double?, count: Int64, offset: Int)] = []
        var isGone = false

        init(keepsData: Bool) { self.keepsData = keepsData }

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
            if keepsData, report.keptData.isEmpty || report.beacon != nil { report.keptData = report.data }
        }
    }
}

/// A message of a Ruuvi Gateway about one tag, over MQTT.
///
/// Source: Ruuvi Gateway, github.com/ruuvi/ruuvi.gateway_esp.c, `main/mqtt_json.c` and `schemas`.
enum RuuviMessage {
    /// Returns the reading. A status message has none.
    static func readings(
        topic: GatewayTopic, payload: [UInt8], keepsData: Bool
    ) throws(GatewayError) -> [GatewayReading] {
        if topic.matches(-1, "gw_status") { return [] }
        var fields = GatewayFields(payload, .ruuvi)
        var report = TagReport()
        var receiver: String?
        report.address = topic.withBytes(of: -1) { HexText.address($0) }
        try fields.enterObject("message")
        while let key = try fields.nextKey() {
            if fields.matches(key, "gw_mac") {
                receiver = try fields.text("gw_mac")
            } else if fields.matches(key, "ts") {
                report.time = try fields.unixSeconds("ts")
            } else {
                try RuuviMessage.read(key, &fields, &report)
            }
        }
        try fields.finish()
        guard let receiver else { throw fields.error(0, "message", "the key 'gw_mac'") }
        guard report.address != nil else {
            throw GatewayError(format: .ruuvi, offset: nil, message: "topic: expected the tag's address at the end")
        }
        report.readAdvertisement()
        if keepsData { report.keptData = report.data }
        let reading = try report.reading(by: receiver, .ruuvi, at: nil)
        return reading.map { [$0] } ?? []
    }

    /// Reads a field of a tag that both transports have.
    static func read(
        _ key: JSONString, _ fields: inout GatewayFields, _ report: inout TagReport
    ) throws(GatewayError) {
        if fields.matches(key, "rssi") {
            report.rssi = try fields.signalStrength("rssi")
        } else if fields.matches(key, "data") {
            try fields.hex("data", to: &report.data)
        } else if fields.matches(key, "ble_chan") {
            report.channel = try fields.channel("ble_chan")
        } else {
            try fields.skip()
        }
    }
}

/// A batch of a Ruuvi Gateway over HTTP, with the latest advertisement of each tag.
///
/// Source: Ruuvi Gateway, github.com/ruuvi/ruuvi.gateway_esp.c, `main/http_json.c` and `schemas`.
enum RuuviBatch {
    /// Returns the readings.
    static func readings(payload: [UInt8], keepsData: Bool) throws(GatewayError) -> [GatewayReading] {
        var fields = GatewayFields(payload, .ruuviHTTP)
        var batch = Batch(keepsData: keepsData)
        try fields.enterObject("message")
        while let key = try fields.nextKey() {
            if fields.matches(key, "data") { try batch.read(&fields) } else { try fields.skip() }
        }
        try fields.finish()
        guard let receiver = batch.receiver else { throw fields.error(0, "message", "the key 'data.gw_mac'") }
        var readings: [GatewayReading] = []
        readings.reserveCapacity(batch.reports.count)
        for (report, offset) in batch.reports {
            if let reading = try report.reading(by: receiver, .ruuviHTTP, at: offset) { readings.append(reading) }
        }
        return readings
    }

    private struct Batch {
        let keepsData: Bool
        var receiver: String?
        var reports: [(TagReport, offset: Int)] = []

        init(keepsData: Bool) { self.keepsData = keepsData }

        mutating func read(_ fields: inout GatewayFields) throws(GatewayError) {
            try fields.enterObject("data")
            while let key = try fields.nextKey() {
                if fields.matches(key, "gw_mac") {
                    receiver = try fields.text("gw_mac")
                } else if fields.matches(key, "tags") {
                    try fields.enterObject("tags")
                    while let tag = try fields.nextKey() { try readTag(tag, &fields) }
                } else {
                    try fields.skip()
                }
            }
        }

        private mutating func readTag(_ tag: JSONString, _ fields: inout GatewayFields) throws(GatewayError) {
            guard let address = fields.withBytes(of: tag, { HexText.address($0) }) else {
                throw fields.error(tag.range.lowerBound, "tags", "the address of a tag as the key")
            }
            var report = TagReport()
            report.address = address
            try fields.enterObject("tag")
            while let key = try fields.nextKey() {
                if fields.matches(key, "timestamp") {
                    report.time = try fields.unixSeconds("timestamp")
                } else {
                    try RuuviMessage.read(key, &fields, &report)
                }
            }
            report.readAdvertisement()
            if keepsData { report.keptData = report.data }
            reports.append((report, offset: tag.range.lowerBound))
        }
    }
}
