import IndoorVocabulary

/// The beacons of a region that were heard since its previous ranging.
public struct RegionRanging: Hashable, Sendable {
    /// When the ranging was made.
    public var instant: Instant
    /// The name under which the region is tracked.
    public var regionID: String
    /// One range for each beacon that was heard, ordered by beacon.
    public var ranges: [RangeEstimate]

    /// Creates a ranging.
    public init(instant: Instant, regionID: String, ranges: [RangeEstimate]) {
        self.instant = instant
        self.regionID = regionID
        self.ranges = ranges
    }
}
