import IndoorVocabulary

/// A beacon heard once, with what is known of the way to it by then.
public struct BeaconRecord: Hashable, Sendable {
    /// What was heard.
    public var sighting: Sighting
    /// What all sightings up to this one tell of the way to the beacon.
    public var range: RangeEstimate
    /// When it was heard, on the wall clock; nil if the source has none, see ``ScanSource/wallClock``.
    public var unixTime: UnixTime?

    /// Creates a record from its parts.
    public init(sighting: Sighting, range: RangeEstimate, unixTime: UnixTime? = nil) {
        self.sighting = sighting
        self.range = range
        self.unixTime = unixTime
    }

    /// When it was heard.
    public var instant: Instant { sighting.instant }
    /// Which beacon it was.
    public var beacon: BeaconIdentity { sighting.beacon }
    /// Received signal strength in dBm, as heard this time.
    public var rssi: Double { sighting.rssi }
    /// How far away the beacon is; nil if its measured power is unknown.
    public var distance: DistanceEstimate? { range.distance }
    /// The distance in words; nil if it is unknown.
    public var proximity: Proximity? { range.proximity }
}
