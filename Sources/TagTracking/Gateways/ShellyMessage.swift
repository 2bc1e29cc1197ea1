import IndoorVocabulary
import TextFormats

/// Scan events of a Shelly device, in a notification, as an event or as the event's data alone.
///
/// Version 1 of the data contains one advertisement, `[1, address, rssi, data, scan response]`, and version 2 several,
/// `[2, [[address, rssi, data, scan response], …]]`, with the AD structures in Base64.
///
/// Sources: aioshelly, github.com/home-assistant-libs/aioshelly, `aioshelly/ble/const.py` and `parser.py`; Shelly,
/// shelly-api-docs.shelly.cloud/gen2/General/Notifications.
enum ShellyMessage {
    /// Returns the readings. A notification of anything else has none.
    static func readings(topic: GatewayTopic, payload: [UInt8]) throws(GatewayError) -> [GatewayReading] {
        var message = Message(fields: GatewayFields(payload, .shelly))
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
        var source: String?
        var time: GatewayTime?
        var reports: [(TagReport, offset: Int)] = []

        init(fields: GatewayFields) { self.fields = fields }

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
