import IndoorLocalization
import IndoorLocalizationTesting
import TagTracking
import TextFormats

/// The message of a simulated reading, as a Ruuvi Gateway publishes it over MQTT.
///
/// The format has the raw RSSI of each advertisement. The tag advertises as iBeacon; major and minor are its number.
struct LoadMessage {
    /// The UUID of all simulated tags.
    static let uuid = BeaconUUID(high: 0x1D00_FEED_0000_4000, low: 0x8000_0000_0000_0002)
    /// The tag's signal strength at 1 m that it advertises, in dBm.
    private static let power: Int8 = -62

    let topic: String
    let payload: [UInt8]

    /// Creates the message of a reading.
    ///
    /// - Parameter tag: the number of the tag in the whole fleet.
    init(_ reading: SimulatedFleet.Reading, tag: UInt32, receiver: String) {
        let address = DeviceAddress(rawValue: 0xD000_0000_0000 | UInt64(tag)).description
        topic = "ruuvi/\(receiver)/\(address)"
        var data = "0201061AFF4C000215" + Self.hex(Self.uuid.high, 16) + Self.hex(Self.uuid.low, 16)
        data += Self.hex(UInt64(tag), 8) + Self.hex(UInt64(UInt8(bitPattern: Self.power)), 2)
        let time = reading.instant.nanoseconds / 1_000_000_000
        let rssi = Int(reading.rssi.rounded())
        payload = Array(
            """
            {"gw_mac":"\(receiver)","rssi":\(rssi),"aoa":[],"gwts":\(time),"ts":\(time),"data":"\(data)","coords":""}
            """.utf8)
    }

    private static func hex(_ value: UInt64, _ digits: Int) -> String {
        HexDigits.text(value, digits, uppercase: true)
    }

    /// Returns the number of a simulated tag; nil for any other.
    static func tag(of key: TagKey) -> UInt32? {
        guard case .beacon(let identity) = key, identity.uuid == uuid else { return nil }
        return UInt32(identity.major) << 16 | UInt32(identity.minor)
    }
}
