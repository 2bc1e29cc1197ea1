import IndoorVocabulary

/// What is known of the way to one beacon.
public struct RangeEstimate: Hashable, Sendable {
    /// Which beacon.
    public var beacon: BeaconIdentity
    /// When it was heard last.
    public var instant: Instant
    /// Filtered signal strength in dBm.
    public var rssi: Double
    /// Standard deviation of `rssi` in dB; it grows while the beacon is silent.
    public var rssiDeviation: Double
    /// How far away it is; nil if its measured power is unknown.
    public var distance: DistanceEstimate?

    /// Creates an estimate from its parts, unchecked.
    public init(
        beacon: BeaconIdentity, instant: Instant, rssi: Double, rssiDeviation: Double, distance: DistanceEstimate?
    ) {
        self.beacon = beacon
        self.instant = instant
        self.rssi = rssi
        self.rssiDeviation = rssiDeviation
        self.distance = distance
    }

    /// The distance in words; nil if it is unknown.
    public var proximity: Proximity? { distance?.proximity }
}
