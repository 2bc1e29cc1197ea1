/// Advertising data as the radio received them.
public struct Advertisement: Hashable, Sendable {
    /// When the radio received it.
    public var instant: Instant
    /// The address of the advertiser.
    public var address: DeviceAddress
    /// Received signal strength in dBm.
    public var rssi: Double
    /// The AD structures: each a length, a type and that many bytes less one.
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
