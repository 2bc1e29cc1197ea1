import IndoorVocabulary
import TextFormats

/// A message of Tasmota on ESP32: the details of an advertisement, or an iBeacon.
///
/// The topics are `tele/TOPIC/BLE` and `tele/TOPIC/SENSOR`. The time is local, without a zone.
///
/// Source: Tasmota, github.com/arendst/Tasmota, `xdrv_79_esp32_ble.ino` and `xsns_52_esp32_ibeacon_ble_esp32.ino`.
enum TasmotaMessage {
    /// Returns the reading. A message of other sensors, and one about a tag that is gone, has none.
    static func readings(topic: GatewayTopic, payload: [UInt8]) throws(GatewayError) -> [GatewayReading] {
        if topic.matches(-1, "LWT") { return [] }
        var fields = GatewayFields(payload, .tasmota)
        var reports: [(TagReport, offset: Int)] = []
        var time: GatewayTime?
        try fields.enterObject("message")
        while let key = try fields.nextKey() {
            let offset = key.range.lowerBound
            if fields.matches(key, "Time") {
                time = try fields.isoTime("Time")
            } else if fields.matches(key, "DetailsBLE") {
                reports.append((try details(&fields), offset: offset))
            } else if fields.matches(key, "IBEACON") {
                reports.append((try iBeacon(&fields), offset: offset))
            } else if let name = fields.withBytes(of: key, olderName), try fields.kind() == .object {
                var report = try iBeacon(&fields)
                if report.address == nil { report.address = HexText.address(name.utf8.span) }
                if report.address == nil { report.name = name }
                reports.append((report, offset: offset))
            } else {
                try fields.skip()
            }
        }
        try fields.finish()
        var readings: [GatewayReading] = []
        for (report, offset) in reports {
            var report = report
            report.time = time
            if let reading = try report.reading(by: receiver(topic), .tasmota, at: offset) { readings.append(reading) }
        }
        return readings
    }

    /// Returns the device: the level before the last one, or the one before that in the order `TOPIC/tele/SENSOR`.
    private static func receiver(_ topic: GatewayTopic) -> String? { topic.text(topic.matches(-2, "tele") ? -3 : -2) }

    /// Returns the name of a tag in a key of older versions, such as `IBEACON_A4C1387FC1E1`.
    private static func olderName(_ key: Span<UInt8>) -> String? {
        guard key.starts(with: "IBEACON_"), let name = try? UTF8Span(validating: key.extracting(8..<key.count)) else {
            return nil
        }
        return String(copying: name)
    }

    private static func details(_ fields: inout GatewayFields) throws(GatewayError) -> TagReport {
        var report = TagReport()
        try fields.enterObject("DetailsBLE")
        while let key = try fields.nextKey() {
            if fields.matches(key, "mac") {
                // The type of the address may follow a slash: 0 and 2 are public, 1 and 3 are random.
                let (address, type) = try fields.parsed("mac", "an address of 12 digits, with or without '/TYPE'") {
                    text -> (DeviceAddress, UInt8?)? in
                    let isTyped = text.count > 2 && text[text.count - 2] == UInt8(ascii: "/")
                    let address = HexText.address(text.extracting(0..<(isTyped ? text.count - 2 : text.count)))
                    return address.map { ($0, isTyped ? text[text.count - 1] : nil) }
                }
                report.address = address
                report.addressKind = type.map { $0 & 1 == 1 ? .random : .public }
            } else if fields.matches(key, "a") {
                report.identifier = try fields.text("a")
            } else if fields.matches(key, "RSSI") {
                report.rssi = try fields.signalStrength("RSSI")
            } else if fields.matches(key, "p") {
                try fields.hex("p", to: &report.data)
            } else {
                try fields.skip()
            }
        }
        report.readAdvertisement()
        return report
    }

    private static func iBeacon(_ fields: inout GatewayFields) throws(GatewayError) -> TagReport {
        var report = TagReport()
        var uuid: BeaconUUID?
        var numbers: (major: UInt16?, minor: UInt16?)
        var isGone = false
        try fields.enterObject("IBEACON")
        while let key = try fields.nextKey() {
            if fields.matches(key, "MAC") {
                // With a name, the device writes the UUID under this key too.
                let text = try fields.string("MAC")
                if let named = fields.withBytes(of: text, { HexText.uuid($0) }) {
                    uuid = named
                } else if let address = fields.withBytes(of: text, { HexText.address($0) }) {
                    report.address = address
                } else {
                    throw fields.error(text.range.lowerBound, "MAC", "an address of 12 hexadecimal digits")
                }
            } else if fields.matches(key, "UID") {
                uuid = try fields.uuid("UID")
            } else if fields.matches(key, "MAJOR") {
                numbers.major = try number(&fields, "MAJOR")
            } else if fields.matches(key, "MINOR") {
                numbers.minor = try number(&fields, "MINOR")
            } else if fields.matches(key, "RSSI") {
                report.rssi = try fields.signalStrength("RSSI")
            } else if fields.matches(key, "STATE") {
                let state = try fields.string("STATE")
                isGone = fields.matches(state, "OFF")
            } else if fields.matches(key, "NAME") {
                report.name = try fields.tagName("NAME")
            } else {
                try fields.skip()
            }
        }
        if isGone { report.rssi = nil }
        // A UUID of zeros stands for a tag that isn't an iBeacon.
        if let uuid, uuid.high | uuid.low != 0, let major = numbers.major, let minor = numbers.minor {
            report.beacon = BeaconIdentity(uuid: uuid, major: major, minor: minor)
        }
        return report
    }

    /// Reads major or minor, four hexadecimal digits or a number.
    private static func number(_ fields: inout GatewayFields, _ field: StaticString) throws(GatewayError) -> UInt16 {
        guard try fields.kind() == .string else { return try fields.number16(field) }
        return try fields.parsed(field, "four hexadecimal digits") { text in
            text.count <= 4 ? HexDigits.number(text).map { UInt16(truncatingIfNeeded: $0) } : nil
        }
    }
}
