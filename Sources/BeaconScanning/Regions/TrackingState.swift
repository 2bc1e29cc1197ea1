/// The state of region tracking in a scanner.
public struct TrackingState: Hashable, Sendable {
    /// Whether the scanner monitors regions: it is started, tracking is not paused, and there is a region.
    public var isMonitoring: Bool
    /// Whether the scanner ranges beacons: it monitors regions, and the device is in one.
    public var isRanging: Bool
    /// The names of the regions that the device is in, in the order in which they were tracked.
    public var insideRegions: [String]

    /// Whether tracking is paused: the scanner stores the regions, and emits no events of them until tracking is resumed.
    public var isPaused: Bool

    /// Creates a state.
    public init(isMonitoring: Bool, isRanging: Bool, insideRegions: [String], isPaused: Bool = false) {
        self.isMonitoring = isMonitoring
        self.isRanging = isRanging
        self.insideRegions = insideRegions
        self.isPaused = isPaused
    }
}
