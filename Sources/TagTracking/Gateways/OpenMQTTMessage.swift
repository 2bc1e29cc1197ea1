import BeaconScanning
import IndoorVocabulary
import TextFormats

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
                let start = report.beginStructure(AdvertisingStructure.KnownType.manufacturerData)
                try fields.hex("manufacturerdata", to: &report.data)
                report.endStructure(start)
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
            return report
        }
    }
}
