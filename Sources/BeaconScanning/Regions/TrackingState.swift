/// What a scanner is doing for its regions.
public struct TrackingState: Hashable, Sendable {
    /// Whether entries and exits are watched for: the scanner is started, tracking is not paused, and there is a region.
    public var isMonitoring: Bool
    /// Whether beacons are ranged: a region is monitored, and the device is in it.
    public var isRanging: Bool
    /// The names of the regions that the device is in, in the order in which they were tracked.
    public var insideRegions: [String]

    /// Whether tracking is paused: the regions are kept, and nothing is told of them until it is resumed.
    public var isPaused: Bool

    /// Creates a state.
    public init(isMonitoring: Bool, isRanging: Bool, insideRegions: [String], isPaused: Bool = false) {
        self.isMonitoring = isMonitoring
        self.isRanging = isRanging
        self.insideRegions = insideRegions
        self.isPaused = isPaused
    }
}
