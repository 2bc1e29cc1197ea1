import IndoorVocabulary

/// The estimated range to one beacon.
public struct RangeEstimate: Hashable, Sendable {
    /// The beacon.
    public var beacon: BeaconIdentity
    /// The time of its latest reception.
    public var instant: Instant
    /// The filtered RSSI in dBm.
    public var rssi: Double
    /// The standard deviation of `rssi` in dB; it grows while the beacon is silent.
    package var rssiDeviation: Double
    /// The distance; nil if the measured power of the beacon is unknown.
    public var distance: DistanceEstimate?

    /// Creates an estimate from its parts, without checks.
    public init(
        beacon: BeaconIdentity, instant: Instant, rssi: Double, rssiDeviation: Double, distance: DistanceEstimate?
    ) {
        self.beacon = beacon
        self.instant = instant
        self.rssi = rssi
        self.rssiDeviation = rssiDeviation
        self.distance = distance
    }

    /// The proximity for the distance; nil if it is unknown.
    public var proximity: Proximity? { distance?.proximity }
}
