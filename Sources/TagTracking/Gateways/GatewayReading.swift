import IndoorVocabulary

/// A reading of a tag as a gateway reports it. ``TagIntake`` determines the key of the tag and the instant of the
/// reading.
public struct GatewayReading: Hashable, Sendable {
    /// The receiver's name in the message or its topic.
    public var receiver: String
    /// The address of the tag; nil if the message doesn't contain it.
    public var address: DeviceAddress?
    /// The beacon that the tag advertises; nil if it advertises none, or if the message doesn't contain it.
    public var beacon: BeaconIdentity?
    /// The name by which the gateway identifies the tag, because the gateway has resolved its address or the gateway's
    /// user has named it; nil without one.
    public var identifier: String?
    /// The name that the tag advertises, or another one that several tags may have; nil without one.
    public var name: String?
    /// The RSSI in dBm; see ``Sighting/isMeasurement(rssi:)``.
    public var rssi: Double
    /// The time over which the gateway has filtered the RSSI; zero for the RSSI of one advertisement.
    public var window: Duration
    /// The time by the gateway's clock; nil without one.
    public var time: GatewayTime?
    /// The advertising channel, from 37 to 39; nil if unknown.
    public var channel: UInt8?
    /// The signal strength at 1 m that the tag advertises, in dBm; nil if unknown.
    public var measuredPower: Double?

    /// Creates a reading from its parts without checking them.
    package init(
        receiver: String, address: DeviceAddress? = nil, beacon: BeaconIdentity? = nil,
        identifier: String? = nil, name: String? = nil, rssi: Double, window: Duration = .zero,
        time: GatewayTime? = nil, channel: UInt8? = nil, measuredPower: Double? = nil
    ) {
        self.receiver = receiver
        self.address = address
        self.beacon = beacon
        self.identifier = identifier
        self.name = name
        self.rssi = rssi
        self.window = window
        self.time = time
        self.channel = channel
        self.measuredPower = measuredPower
    }
}

/// A time by the clock of a gateway, which may be wrong by any amount.
public struct GatewayTime: Hashable, Sendable {
    /// Nanoseconds since the zero point of the gateway's clock, usually the Unix epoch.
    public var nanoseconds: Int64
    /// The resolution of the clock, such as one second.
    public var resolution: Duration

    /// Creates a time.
    package init(nanoseconds: Int64, resolution: Duration) {
        self.nanoseconds = nanoseconds
        self.resolution = resolution
    }
}
