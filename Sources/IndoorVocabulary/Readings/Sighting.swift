/// One reception of a beacon: a decoded beacon advertisement with its RSSI.
public struct Sighting: Hashable, Sendable {
    /// When the radio received it.
    public var instant: Instant
    /// The beacon.
    public var beacon: BeaconIdentity
    /// Received signal strength in dBm, below 0.
    public var rssi: Double
    /// The signal strength at 1 m that the beacon advertises, in dBm; nil if unknown.
    public var measuredPower: Double?
    /// The transmitter's device address; nil if the source does not report it.
    public var address: DeviceAddress?

    /// Creates a sighting without checking it; see ``isMeasurement(rssi:)`` for the RSSI.
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

    /// Returns whether an RSSI is a measurement: at least -127 dBm and below 0 dBm.
    ///
    /// 127 means "not available" (Bluetooth Core Specification 5.4, Vol 4 Part E, 7.7.65.2). No receiver measures 0 dBm or
    /// more from a beacon.
    public static func isMeasurement(rssi: Double) -> Bool { rssi < 0 && rssi >= -127 }

    /// Whether the RSSI is a measurement, see ``isMeasurement(rssi:)``.
    package var hasMeasurement: Bool { Self.isMeasurement(rssi: rssi) }
}
