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
            } else {
                try fields.skip()
            }
        }
        if report.identifier?.isEmpty == true { report.identifier = nil }
        if let reading = try report.reading(by: receiver, .kontakt, at: offset) { readings.append(reading) }
    }
}
