import IndoorVocabulary
import TextFormats

/// A message of room-assistant about one tag: an entity with the RSSI of all instances, or the message of one room.
///
/// Sources: room-assistant, github.com/mKeRix/room-assistant, `docs/integrations/mqtt.md` and
/// `src/integrations/bluetooth-low-energy/bluetooth-low-energy.service.ts`.
enum RoomAssistantMessage {
    /// The time over which room-assistant filters, 9 s.
    ///
    /// Its Kalman filter has a process variance of 0.8 dB² and a measurement variance of 15 dB² for each advertisement.
    /// In the steady state, its gain is 0.206, and its estimate has the same variance as the mean of (2 − 0.206) /
    /// 0.206 = 8.7 readings. Tags usually advertise once a second; for a tag that advertises more often, the filter
    /// covers less time.
    static let window = Duration.seconds(9)

    /// Returns the readings: one for each instance that has received the tag since ``window`` before the latest one.
    ///
    /// An entity repeats the last RSSI of each instance, even of instances that don't receive the tag any more. An
    /// entity of another kind, and a message with a distance alone, has no readings.
    static func readings(topic: GatewayTopic, payload: [UInt8]) throws(GatewayError) -> [GatewayReading] {
        var fields = GatewayFields(payload, .roomAssistant)
        var message = Message()
        try fields.enterObject("message")
        while let key = try fields.nextKey() { try message.read(key, &fields) }
        try fields.finish()
        let reports = message.isEntity ? message.entityReports() : [message.roomReport(topic.text(-1))]
        var readings: [GatewayReading] = []
        for (receiver, report, offset) in reports {
            let reading = try report.reading(by: receiver, window: window, .roomAssistant, at: offset)
            if let reading { readings.append(reading) }
        }
        return readings
    }

    private typealias Report = (receiver: String?, report: TagReport, offset: Int?)

    private struct Message {
        /// The tag, by the message's identifier and its fields.
        var tag = TagReport()
        var uuid: BeaconUUID?
        var major: UInt16?
        var minor: UInt16?
        var isEntity = false
        /// The measured values by instance.
        var measurements: [(instance: String, rssi: Double?, power: Double?, offset: Int)] = []
        /// The times of the measured values.
        var updates: [(instance: String, time: GatewayTime?, isOutOfRange: Bool)] = []

        mutating func read(_ key: JSONString, _ fields: inout GatewayFields) throws(GatewayError) {
            if fields.matches(key, "entity") {
                isEntity = true
                try fields.enterObject("entity")
                while let key = try fields.nextKey() { try readEntity(key, &fields) }
            } else if fields.matches(key, "id") {
                try identify(&fields)
            } else if fields.matches(key, "name") {
                tag.name = try fields.tagName("name")
            } else if fields.matches(key, "rssi") {
                tag.rssi = try fields.signalStrength("rssi")
            } else if fields.matches(key, "uuid") {
                uuid = try fields.uuid("uuid")
            } else if fields.matches(key, "major") {
                major = try fields.number16("major")
            } else if fields.matches(key, "minor") {
                minor = try fields.number16("minor")
            } else {
                try fields.skip()
            }
        }

        private mutating func readEntity(_ key: JSONString, _ fields: inout GatewayFields) throws(GatewayError) {
            if fields.matches(key, "id") {
                try identify(&fields)
            } else if fields.matches(key, "measuredValues") {
                try fields.enterObject("measuredValues")
                while let instance = try fields.nextKey() { try readMeasurement(of: instance, &fields) }
            } else if fields.matches(key, "distances") {
                try fields.enterObject("distances")
                while let instance = try fields.nextKey() { try readUpdate(of: instance, &fields) }
            } else {
                try fields.skip()
            }
        }

        private mutating func readMeasurement(
            of instance: JSONString, _ fields: inout GatewayFields
        ) throws(GatewayError) {
            var values: (rssi: Double?, power: Double?)
            try fields.enterObject("measuredValues")
            while let key = try fields.nextKey() {
                if fields.matches(key, "rssi") {
                    values.rssi = try fields.signalStrength("rssi")
                } else if fields.matches(key, "measuredPower") {
                    values.power = try fields.signalStrength("measuredPower")
                } else {
                    try fields.skip()
                }
            }
            let name = try fields.text(of: instance, "measuredValues")
            measurements.append((name, values.rssi, values.power, instance.range.lowerBound))
        }

        private mutating func readUpdate(
            of instance: JSONString, _ fields: inout GatewayFields
        ) throws(GatewayError) {
            var time: GatewayTime?
            var isOutOfRange = false
            try fields.enterObject("distances")
            while let key = try fields.nextKey() {
                if fields.matches(key, "lastUpdatedAt") {
                    time = try fields.isoTime("lastUpdatedAt")
                } else if fields.matches(key, "outOfRange"), try fields.kind() == .bool {
                    isOutOfRange = try fields.bool("outOfRange")
                } else {
                    try fields.skip()
                }
            }
            updates.append((try fields.text(of: instance, "distances"), time, isOutOfRange))
        }

        /// Reads an identifier: `ble-` or nothing, and an address or `UUID-MAJOR-MINOR`; any other text is the
        /// gateway's identifier.
        private mutating func identify(_ fields: inout GatewayFields) throws(GatewayError) {
            let id = try fields.string("id")
            let parsed: (address: DeviceAddress?, beacon: BeaconIdentity?) = fields.withBytes(of: id) { text in
                let text = text.starts(with: "ble-") ? text.extracting(4..<text.count) : text
                return (HexText.address(text), BeaconText.identity(text))
            }
            tag.address = parsed.address
            tag.beacon = parsed.beacon
            guard parsed.address == nil, parsed.beacon == nil else { return }
            let text = try fields.text(of: id, "id")
            tag.identifier = text.isEmpty ? nil : text.hasPrefix("ble-") ? String(text.dropFirst(4)) : text
        }

        /// Returns the report of a room's message.
        func roomReport(_ room: String?) -> Report {
            var report = tag
            if let uuid, let major, let minor {
                report.beacon = BeaconIdentity(uuid: uuid, major: major, minor: minor)
            }
            return (room, report, nil)
        }

        func entityReports() -> [Report] {
            let latest = updates.compactMap { $0.time?.nanoseconds }.max() ?? 0
            var reports: [Report] = []
            for measurement in measurements {
                var report = tag
                report.rssi = measurement.rssi
                // For other tags, room-assistant sends a power that it assumes.
                if report.beacon != nil { report.power = measurement.power }
                if let update = updates.first(where: { $0.instance == measurement.instance }) {
                    report.time = update.time
                    let age = latest - (update.time?.nanoseconds ?? latest)
                    guard !update.isOutOfRange, age <= window.nanoseconds else { continue }
                }
                reports.append((measurement.instance, report, measurement.offset))
            }
            return reports
        }
    }
}
