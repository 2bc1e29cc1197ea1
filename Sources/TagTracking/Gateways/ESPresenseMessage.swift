import IndoorVocabulary

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
        var hasID = false
        while let key = try fields.nextKey() {
            if fields.matches(key, "mac") {
                report.address = try fields.address("mac")
            } else if fields.matches(key, "id") {
                let id = try fields.string("id")
                try identify(id, fields, &report)
                hasID = true
            } else if fields.matches(key, "name") {
                let name = try fields.string("name")
                if report.name == nil, report.beacon == nil { report.name = fields.tagName(of: name) }
            } else if fields.matches(key, "rssi@1m") {
                power = try fields.signalStrength("rssi@1m")
            } else if fields.matches(key, "rssi") {
                report.rssi = try fields.signalStrength("rssi")
            } else {
                try fields.skip()
            }
        }
        try fields.finish()
        guard hasID || report.address != nil else { throw fields.error(0, "message", "the keys 'id' and 'mac'") }
        if report.name?.isEmpty == true { report.name = nil }
        // For other tags, the node sends its own assumption.
        if report.beacon != nil { report.power = power }
        if report.name?.hasPrefix("irk:") == true {
            // The node has resolved a private address, which changes: the key identifies the tag.
            report.address = nil
        }
        let reading = try report.reading(by: topic.text(-1), window: window, .espresense, at: nil)
        return reading.map { [$0] } ?? []
    }

    /// Reads an identifier: a beacon, an address, or any other, which becomes the name.
    private static func identify(
        _ id: JSONString, _ fields: GatewayFields, _ report: inout TagReport
    ) throws(GatewayError) {
        var address: DeviceAddress?
        let beacon: BeaconIdentity? = fields.withBytes(of: id) { text in
            address = HexText.address(text)
            if text.starts(with: "iBeacon:") { return BeaconText.identity(text.extracting(8..<text.count)) }
            if text.starts(with: "altBeacon:") { return BeaconText.identity(text.extracting(10..<text.count)) }
            if text.starts(with: "eddy:") { return eddystone(text.extracting(5..<text.count)) }
            return nil
        }
        if let beacon {
            report.beacon = beacon
            report.name = nil
        } else if address == nil {
            report.name = try fields.text(of: id, "id")
        } else if report.address == nil {
            report.address = address
        }
    }

    /// Returns the beacon of `NAMESPACE-INSTANCE`.
    ///
    /// The namespace has ten bytes. Nodes write eleven, as they repeat the fifth one.
    private static func eddystone(_ text: Span<UInt8>) -> BeaconIdentity? {
        var bytes: [UInt8] = []
        guard text.count == 33 || text.count == 35, text[text.count - 13] == UInt8(ascii: "-"),
            HexText.append(text.extracting(0..<(text.count - 13)), to: &bytes),
            HexText.append(text.extracting((text.count - 12)..<text.count), to: &bytes)
        else { return nil }
        if bytes.count == 17 {
            guard bytes[4] == bytes[5] else { return nil }
            bytes.remove(at: 5)
        }
        let halves = (bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }, bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
        return BeaconIdentity(uuid: BeaconUUID(high: halves.0, low: halves.1), major: 0, minor: 0)
    }
}
