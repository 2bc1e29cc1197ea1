import IndoorVocabulary

/// The entry into a tracked region, or the exit from it.
public struct RegionEvent: Hashable, Sendable {
    /// The kinds of events.
    public enum Kind: String, Hashable, Sendable {
        /// The radio received the first of the region's beacons.
        case enter
        /// The radio no longer receives any of the region's beacons.
        case exit
    }

    /// When it happened; for an exit, the end of the exit timeout.
    public var instant: Instant
    /// The name of the tracked region.
    public var regionID: String
    /// The kind of the event.
    public var kind: Kind

    /// Creates an event.
    package init(instant: Instant, regionID: String, kind: Kind) {
        self.instant = instant
        self.regionID = regionID
        self.kind = kind
    }
}

/// The ranges to the beacons of a region that the radio received since the previous ranging.
public struct RegionRanging: Hashable, Sendable {
    /// The time of the ranging.
    public var instant: Instant
    /// The name of the tracked region.
    public var regionID: String
    /// One range for each received beacon, ordered by beacon.
    public var ranges: [RangeEstimate]

    /// Creates a ranging.
    package init(instant: Instant, regionID: String, ranges: [RangeEstimate]) {
        self.instant = instant
        self.regionID = regionID
        self.ranges = ranges
    }
}

/// The state of region tracking in a scanner.
public struct TrackingState: Hashable, Sendable {
    /// Whether the scanner monitors regions: it is started, tracking is not paused, and there is a region.
    public var isMonitoring: Bool
    /// Whether the scanner ranges beacons: it monitors regions, and the device is in one.
    public var isRanging: Bool
    /// The names of the regions that the device is in, in the order in which they were tracked.
    public var insideRegions: [String]

    /// Whether tracking is paused: the scanner stores the regions, and emits no events for them until tracking is
    /// resumed.
    public var isPaused: Bool

    /// Creates a state.
    package init(isMonitoring: Bool, isRanging: Bool, insideRegions: [String], isPaused: Bool = false) {
        self.isMonitoring = isMonitoring
        self.isRanging = isRanging
        self.insideRegions = insideRegions
        self.isPaused = isPaused
    }
}
