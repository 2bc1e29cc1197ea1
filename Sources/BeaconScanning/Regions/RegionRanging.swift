import IndoorVocabulary

/// The ranges to the beacons of a region that the radio received since the previous ranging.
public struct RegionRanging: Hashable, Sendable {
    /// The time of the ranging.
    public var instant: Instant
    /// The name of the tracked region.
    public var regionID: String
    /// One range for each received beacon, ordered by beacon.
    public var ranges: [RangeEstimate]

    /// Creates a ranging.
    public init(instant: Instant, regionID: String, ranges: [RangeEstimate]) {
        self.instant = instant
        self.regionID = regionID
        self.ranges = ranges
    }
}
