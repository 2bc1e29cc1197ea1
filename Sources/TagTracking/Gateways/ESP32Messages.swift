import BeaconScanning
import IndoorVocabulary
import TextFormats

/// A message of an ESPresense node about one tag.
///
/// Source: ESPresense, github.com/ESPresense/ESPresense, `src/BleFingerprint.cpp`.
enum ESPresenseMessage {
    /// The time over which a node filters: it sends the median, without outliers, of the readings of 15 s.
    static let window = Duration.seconds(15)

    /// Returns the reading. A message about the node itself has none.
    static func readings(topic: GatewayTopic, payload: [UInt8]) throws(GatewayError) -> [GatewayReading] {
        guard topic.matches(-3, "devices") else {
            if topic.matches(0, "espresense"), !topic.matches(1, "devices") { return [] }
            throw GatewayError(
                format: .espresense, offset: nil, message: "topic: expected espresense/devices/ID/ROOM")
        }
        var fields = GatewayFields(payload, .espresense)
        var report = TagReport()
        try fields.enterObject("message")
        var power: Double?
        var level: (percent: Double?, millivolts: Double?)
        var id: JSONString?
        while let key = try fields.nextKey() {
            if fields.matches(key, "mac") {
                report.address = try fields.address("mac")
            } else if fields.matches(key, "id") {
                id = try fields.string("id")
            } else if fields.matches(key, "name") {
                let name = try fields.string("name")
                report.name = fields.tagName(of: name) ?? report.name
            } else if fields.matches(key, "rssi@1m") {
                power = try fields.signalStrength("rssi@1m")
            } else if fields.matches(key, "rssi") {
                report.rssi = try fields.signalStrength("rssi")
            } else if fields.matches(key, "batt") {
                level.percent = try fields.numberIfAny("batt")
            } else if fields.matches(key, "mV") {
                level.millivolts = try fields.numberIfAny("mV")
            } else {
                try fields.skip()
            }
        }
        try fields.finish()
        report.battery = TagBattery(percent: level.percent, millivolts: level.millivolts)
        guard id != nil || report.address != nil else { throw fields.error(0, "message", "the keys 'id' and 'mac'") }
        if let id { try readName(id, fields, &report) }
        // For other tags, the node sends a power that it assumes.
        if report.beacon != nil { report.power = power }
        let reading = try report.reading(by: topic.text(-1), window: window, .espresense, at: nil)
        return reading.map { [$0] } ?? []
    }

    /// The first words of names that many devices can share: names of a kind of device, and names that devices
    /// advertise.
    ///
    /// All other names are chosen by the node's user, or are keys with which the node has resolved an address.
    private static let sharedNames: Set<Substring> = [
        "ad", "apple", "exp", "md", "msft", "name", "sd", "smarttag",
    ]

    /// Reads the name that a node gives a tag: a beacon, an address or any other name.
    private static func readName(
        _ id: JSONString, _ fields: GatewayFields, _ report: inout TagReport
    ) throws(GatewayError) {
        var address: DeviceAddress?
        let beacon: BeaconIdentity? = fields.withBytes(of: id) { text in
            address = HexText.address(text)
            if text.starts(with: "iBeacon:") { return BeaconText.identity(text.extracting(8..<text.count)) }
            if text.starts(with: "altBeacon:") { return BeaconText.identity(text.extracting(10..<text.count)) }
            if text.starts(with: "eddy:") { return BeaconText.eddystone(text.extracting(5..<text.count)) }
            return nil
        }
        if let beacon {
            report.beacon = beacon
            report.name = nil
        } else if let address {
            report.address = report.address ?? address
        } else {
            let text = try fields.text(of: id, "id")
            guard !text.isEmpty else { return }
            if isShared(text, by: report.address) { report.name = text } else { report.identifier = text }
        }
    }

    /// Returns whether a name is that of a kind of device, is advertised by the device itself, or ends with the tag's
    /// address.
    private static func isShared(_ name: String, by address: DeviceAddress?) -> Bool {
        let words = name.split(separator: ":", omittingEmptySubsequences: false)
        if words.count > 1, sharedNames.contains(words[0]) { return true }
        guard let address, let last = words.last else { return false }
        return HexText.address(last.utf8.span) == address
    }
}

/// A message of Tasmota on ESP32: the details of an advertisement, an iBeacon, or the list of devices (`BLEDevices`).
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
            } else if fields.matches(key, "BLEDevices") {
                try devices(&fields, &reports)
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

    /// Reads the devices that were heard lately: an object of each address, with the RSSI `r`, the name `n` and the
    /// user's name `a`.
    private static func devices(
        _ fields: inout GatewayFields, _ reports: inout [(TagReport, offset: Int)]
    ) throws(GatewayError) {
        try fields.enterObject("BLEDevices")
        while let key = try fields.nextKey() {
            guard let address = fields.withBytes(of: key, { HexText.address($0) }), try fields.kind() == .object else {
                try fields.skip()
                continue
            }
            var report = TagReport()
            report.address = address
            try fields.enterObject("device")
            while let field = try fields.nextKey() {
                if fields.matches(field, "r") {
                    report.rssi = try fields.signalStrength("r")
                } else if fields.matches(field, "n") {
                    report.name = try fields.tagName("n")
                } else if fields.matches(field, "a") {
                    report.identifier = try fields.text("a")
                } else {
                    try fields.skip()
                }
            }
            reports.append((report, offset: key.range.lowerBound))
        }
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

/// A message of OpenMQTTGateway or Theengs Gateway about one tag, decoded by the gateway or not.
///
/// Sources: OpenMQTTGateway, github.com/1technophile/OpenMQTTGateway, `main/ZgatewayBT.cpp` and `docs/use/ble.md`; Theengs
/// Gateway, github.com/theengs/gateway, `TheengsGateway/ble_gateway.py`.
enum OpenMQTTMessage {
    /// Returns the reading. A message about the gateway itself has none.
    static func readings(
        topic: GatewayTopic, payload: [UInt8], format: GatewayFormat
    ) throws(GatewayError) -> [GatewayReading] {
        if topic.matches(-1, "LWT") || topic.matches(-1, "SYStoMQTT") { return [] }
        var fields = GatewayFields(payload, format)
        var parts = Parts()
        try fields.enterObject("message")
        while let key = try fields.nextKey() { try parts.read(key, &fields) }
        try fields.finish()
        let reading = try parts.report(fields).reading(by: receiver(topic), format, at: nil)
        return reading.map { [$0] } ?? []
    }

    /// Returns the gateway of a topic: the level before `BTtoMQTT` or `presence`, or else the last one.
    private static func receiver(_ topic: GatewayTopic) -> String? {
        if let index = topic.firstIndex(of: "BTtoMQTT") { return index > 0 ? topic.text(index - 1) : nil }
        return topic.text(topic.matches(-1, "presence") ? -2 : -1)
    }

    /// The parts of a message.
    private struct Parts {
        var report = TagReport()
        /// The place of `id`: an address, or a UUID.
        var id: JSONString?
        var uuid: BeaconUUID?
        var major: UInt16?
        var minor: UInt16?
        var serviceData: [UInt8] = []
        var serviceUUID: UInt64?
        var level: (percent: Double?, volts: Double?)

        mutating func read(_ key: JSONString, _ fields: inout GatewayFields) throws(GatewayError) {
            if fields.matches(key, "id") {
                id = try fields.string("id")
            } else if fields.matches(key, "mac") {
                report.address = try fields.address("mac")
            } else if fields.matches(key, "rssi") {
                report.rssi = try fields.signalStrength("rssi")
            } else if fields.matches(key, "name") {
                report.name = try fields.tagName("name")
            } else if fields.matches(key, "txpower") {
                report.power = try fields.signalStrength("txpower")
            } else if fields.matches(key, "mac_type") {
                // 0 and 2 are public, 1 and 3 random.
                report.addressKind = try fields.integer("mac_type", in: 0...255) & 1 == 1 ? .random : .public
            } else if fields.matches(key, "manufacturerdata") {
                let text = try fields.string("manufacturerdata")
                let start = report.beginStructure(AdvertisingStructure.KnownType.manufacturerData)
                if fields.withBytes(of: text, { HexDigits.append($0, to: &report.data) }) {
                    report.endStructure(start)
                } else if fields.withBytes(
                    of: text,
                    { text in
                        text.indices.allSatisfy { HexDigits.value(of: text[$0]) != nil }
                    })
                {
                    throw fields.error(text.range.lowerBound, "manufacturerdata", "pairs of hexadecimal digits")
                } else {
                    // Versions of 2018 write the bytes as text, which loses them.
                    report.data.removeSubrange(start...)
                }
            } else if fields.matches(key, "servicedata") {
                try fields.hex("servicedata", to: &serviceData)
            } else if fields.matches(key, "servicedatauuid") {
                // A UUID of 128 bits gives nil.
                let uuid = try fields.string("servicedatauuid")
                serviceUUID = fields.withBytes(of: uuid) { text in
                    HexDigits.number(text.starts(with: "0x") ? text.extracting(2..<text.count) : text)
                }
            } else if fields.matches(key, "uuid") {
                // Models other than iBeacon use the field for UUIDs of 16 bits.
                let text = try fields.string("uuid")
                uuid = fields.withBytes(of: text) { HexText.uuid($0) }
            } else if fields.matches(key, "major") {
                major = try fields.number16("major")
            } else if fields.matches(key, "minor") {
                minor = try fields.number16("minor")
            } else if fields.matches(key, "batt") {
                level.percent = try fields.numberIfAny("batt")
            } else if fields.matches(key, "volt") {
                level.volts = try fields.numberIfAny("volt")
            } else {
                try fields.skip()
            }
        }

        /// Returns the report with the beacon of the raw data, or else of the gateway's fields.
        func report(_ fields: GatewayFields) throws(GatewayError) -> TagReport {
            guard let id else { throw fields.error(0, "message", "the key 'id'") }
            var report = report
            var uuid = uuid
            if let address = fields.withBytes(of: id, { HexText.address($0) }) {
                report.address = address
            } else if let named = fields.withBytes(of: id, { HexText.uuid($0) }), report.address != nil {
                // The option `presuseuuid` writes the UUID of an iBeacon here.
                uuid = uuid ?? named
            } else {
                let text = try fields.text(of: id, "id")
                report.identifier = text.isEmpty ? nil : text
            }
            if let uuid, let major, let minor {
                report.beacon = BeaconIdentity(uuid: uuid, major: major, minor: minor)
            } else {
                report.power = nil
            }
            if !serviceData.isEmpty, let serviceUUID, serviceUUID <= 0xFFFF {
                let start = report.beginStructure(AdvertisingStructure.KnownType.serviceData)
                report.data.append(UInt8(truncatingIfNeeded: serviceUUID))
                report.data.append(UInt8(truncatingIfNeeded: serviceUUID >> 8))
                report.data.append(contentsOf: serviceData)
                report.endStructure(start)
            }
            report.readAdvertisement()
            // The gateway's decoder knows more tags than this package.
            let level = TagBattery(percent: level.percent, millivolts: level.volts.map { $0 * 1000 })
            report.battery = level ?? report.battery
            return report
        }
    }
}

/// Scan events of a Shelly device, in a notification, as an event or as the event's data alone.
///
/// Version 1 of the data contains one advertisement, `[1, address, rssi, data, scan response]`, and version 2 several,
/// `[2, [[address, rssi, data, scan response], …]]`, with the AD structures in Base64. The only time is the event's.
///
/// Sources: aioshelly, github.com/home-assistant-libs/aioshelly, `aioshelly/ble/const.py` and `parser.py`; Shelly,
/// shelly-api-docs.shelly.cloud/gen2/General/Notifications.
enum ShellyMessage {
    /// Returns the readings. A notification of anything else has none.
    static func readings(
        topic: GatewayTopic, payload: [UInt8], keepsData: Bool
    ) throws(GatewayError) -> [GatewayReading] {
        var message = Message(fields: GatewayFields(payload, .shelly), keepsData: keepsData)
        if try message.fields.kind() == .array {
            try message.readData()
        } else {
            try message.readObject()
        }
        try message.fields.finish()
        let receiver = message.source ?? receiver(topic)
        var readings: [GatewayReading] = []
        for (report, offset) in message.reports {
            if let reading = try report.reading(by: receiver, .shelly, at: offset) { readings.append(reading) }
        }
        return readings
    }

    /// Returns the device of the topic `DEVICE/events/rpc`, or else the last level.
    private static func receiver(_ topic: GatewayTopic) -> String? {
        topic.text(topic.matches(-1, "rpc") && topic.matches(-2, "events") ? -3 : -1)
    }

    private struct Message {
        var fields: GatewayFields
        let keepsData: Bool
        var source: String?
        var time: GatewayTime?
        var reports: [(TagReport, offset: Int)] = []

        init(fields: GatewayFields, keepsData: Bool) {
            self.fields = fields
            self.keepsData = keepsData
        }

        /// Reads a notification or an event.
        mutating func readObject() throws(GatewayError) {
            // The data may come before the name of the event.
            var data: GatewayFields?
            var isScan = false
            try fields.enterObject("message")
            while let key = try fields.nextKey() {
                if fields.matches(key, "src") {
                    source = try fields.text("src")
                } else if fields.matches(key, "params") {
                    try readParameters()
                } else if fields.matches(key, "event") {
                    let event = try fields.string("event")
                    isScan = fields.matches(event, "ble.scan_result")
                } else if fields.matches(key, "data") {
                    data = fields
                    try fields.skip()
                } else if fields.matches(key, "ts") {
                    time = try fields.unixSeconds("ts", decimalResolution: 10)
                    time?.isShared = true
                } else {
                    try fields.skip()
                }
            }
            guard isScan, let data else { return }
            let end = fields
            fields = data
            try readData()
            fields = end
        }

        private mutating func readParameters() throws(GatewayError) {
            try fields.enterObject("params")
            while let key = try fields.nextKey() {
                if fields.matches(key, "events") {
                    try fields.enterArray("events")
                    while try fields.nextElement() { try readObject() }
                } else {
                    try fields.skip()
                }
            }
        }

        mutating func readData() throws(GatewayError) {
            try fields.enterArray("data")
            guard try fields.nextElement() else { throw fields.error(fields.offset, "version", "1 or 2") }
            let version = try fields.integer("version", in: 1...2)
            if version == 1 {
                try readAdvertisement()
                return
            }
            guard try fields.nextElement() else {
                throw fields.error(fields.offset, "data", "an array of advertisements")
            }
            try fields.enterArray("advertisements")
            while try fields.nextElement() {
                try fields.enterArray("advertisement")
                try readAdvertisement()
            }
            while try fields.nextElement() { try fields.skip() }
        }

        /// Reads address, RSSI, data and scan response, up to the end of their array.
        private mutating func readAdvertisement() throws(GatewayError) {
            let offset = fields.offset
            var report = TagReport()
            report.time = time
            try next("address")
            report.address = try fields.address("address")
            try next("rssi")
            report.rssi = try fields.signalStrength("rssi")
            while try fields.nextElement() {
                if try fields.kind() == .null {
                    try fields.skip()
                } else {
                    let text = try fields.string("data")
                    guard fields.withBytes(of: text, { Base64Text.append($0, to: &report.data) }) else {
                        throw fields.error(text.range.lowerBound, "data", "Base64")
                    }
                    report.readAdvertisement()
                    if keepsData { report.keptData += report.data }
                    report.data.removeAll(keepingCapacity: true)
                }
            }
            reports.append((report, offset: offset))
        }

        private mutating func next(_ field: StaticString) throws(GatewayError) {
            guard try fields.nextElement() else { throw fields.error(fields.offset, field, "a value") }
        }
    }
}
