/// Advertising data as received by the radio.
public struct Advertisement: Hashable, Sendable {
    /// When the radio received it.
    public var instant: Instant
    /// The address of the advertiser.
    public var address: DeviceAddress
    /// Received signal strength in dBm.
    public var rssi: Double
    /// The AD structures. Each consists of a length byte, a type byte, and length − 1 bytes of data.
    public var data: [UInt8]

    /// Creates an advertisement from its parts, without checking them.
    public init(instant: Instant, address: DeviceAddress, rssi: Double, data: [UInt8]) {
        self.instant = instant
        self.address = address
        self.rssi = rssi
        self.data = data
    }

    /// Whether the RSSI is a measurement, see ``Sighting/isMeasurement(rssi:)``.
    package var hasMeasurement: Bool { Sighting.isMeasurement(rssi: rssi) }
}
