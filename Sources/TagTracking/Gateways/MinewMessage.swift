import IndoorVocabulary
import TextFormats

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
