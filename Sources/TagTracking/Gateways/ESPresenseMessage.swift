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
            } else {
                try fields.skip()
            }
        }
        try fields.finish()
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
            if text.starts(with: "eddy:") { return eddystone(text.extracting(5..<text.count)) }
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

    /// Returns the beacon of `NAMESPACE-INSTANCE`.
    ///
    /// The namespace has ten bytes. Nodes write eleven, because they repeat the fifth one.
    private static func eddystone(_ text: Span<UInt8>) -> BeaconIdentity? {
        var bytes: [UInt8] = []
        guard text.count == 33 || text.count == 35, text[text.count - 13] == UInt8(ascii: "-"),
            HexDigits.append(text.extracting(0..<(text.count - 13)), to: &bytes),
            HexDigits.append(text.extracting((text.count - 12)..<text.count), to: &bytes)
        else { return nil }
        if bytes.count == 17 {
            guard bytes[4] == bytes[5] else { return nil }
            bytes.remove(at: 5)
        }
        let halves = (bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }, bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
        return BeaconIdentity(uuid: BeaconUUID(high: halves.0, low: halves.1), major: 0, minor: 0)
    }
}
