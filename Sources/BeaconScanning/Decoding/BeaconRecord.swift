import IndoorVocabulary

/// A sighting of a beacon with the range to it.
public struct BeaconRecord: Hashable, Sendable {
    /// The sighting.
    public var sighting: Sighting
    /// The range to the beacon, estimated from all sightings up to this one.
    public var range: RangeEstimate
    /// When the radio received it, on the wall clock; nil if the source has none, see ``ScanSource/wallClock``.
    public var unixTime: UnixTime?

    /// Creates a record from its parts.
    public init(sighting: Sighting, range: RangeEstimate, unixTime: UnixTime? = nil) {
        self.sighting = sighting
        self.range = range
        self.unixTime = unixTime
    }

    /// When the radio received it.
    public var instant: Instant { sighting.instant }
    /// The beacon.
    public var beacon: BeaconIdentity { sighting.beacon }
    /// Received signal strength of this sighting in dBm.
    public var rssi: Double { sighting.rssi }
    /// The distance to the beacon; nil if its measured power is unknown.
    public var distance: DistanceEstimate? { range.distance }
    /// The proximity class of the distance; nil if the distance is unknown.
    public var proximity: Proximity? { range.proximity }
}
