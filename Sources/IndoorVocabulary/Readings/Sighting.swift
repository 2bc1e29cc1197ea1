/// A beacon heard once.
public struct Sighting: Hashable, Sendable {
    /// When it was heard.
    public var instant: Instant
    /// Which beacon it was.
    public var beacon: BeaconIdentity
    /// Received signal strength in dBm, below 0.
    public var rssi: Double
    /// The signal strength at 1 m that the beacon advertises, in dBm; nil if unknown.
    public var measuredPower: Double?
    /// The transmitter's device address; nil if the source does not tell.
    public var address: DeviceAddress?

    /// Creates a sighting. Whether `rssi` is a measurement at all is asked with `isMeasurement(rssi:)`.
    public init(
        instant: Instant, beacon: BeaconIdentity, rssi: Double, measuredPower: Double? = nil,
        address: DeviceAddress? = nil
    ) {
        self.instant = instant
        self.beacon = beacon
        self.rssi = rssi
        self.measuredPower = measuredPower
        self.address = address
    }

    /// Whether an RSSI is a measurement: finite, below 0 dBm and not below -127 dBm.
    ///
    /// 127 means "not available" (Bluetooth Core Specification 5.4, Vol 4 Part E, 7.7.65.2), and no receiver hears
    /// a beacon at 0 dBm or above.
    public static func isMeasurement(rssi: Double) -> Bool { rssi < 0 && rssi >= -127 }
}
