/// Advertising data as it came over the air.
public struct Advertisement: Hashable, Sendable {
    /// When it was heard.
    public var instant: Instant
    /// Who sent it.
    public var address: DeviceAddress
    /// Received signal strength in dBm.
    public var rssi: Double
    /// The AD structures: each a length, a type and that many bytes less one.
    public var data: [UInt8]

    /// Creates an advertisement from its parts, unchecked.
    public init(instant: Instant, address: DeviceAddress, rssi: Double, data: [UInt8]) {
        self.instant = instant
        self.address = address
        self.rssi = rssi
        self.data = data
    }
}
