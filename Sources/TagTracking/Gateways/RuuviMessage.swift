import IndoorVocabulary
import TextFormats

/// A message of a Ruuvi Gateway about one tag, over MQTT.
///
/// Source: Ruuvi Gateway, github.com/ruuvi/ruuvi.gateway_esp.c, `main/mqtt_json.c` and `schemas`.
enum RuuviMessage {
    /// Returns the reading. A status message has none.
    static func readings(topic: GatewayTopic, payload: [UInt8]) throws(GatewayError) -> [GatewayReading] {
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
    static func readings(payload: [UInt8]) throws(GatewayError) -> [GatewayReading] {
        var fields = GatewayFields(payload, .ruuviHTTP)
        var batch = Batch()
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
        var receiver: String?
        var reports: [(TagReport, offset: Int)] = []

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
            reports.append((report, offset: tag.range.lowerBound))
        }
    }
}
