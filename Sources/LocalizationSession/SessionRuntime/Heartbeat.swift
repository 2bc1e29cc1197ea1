import BeaconScanning
import IndoorVocabulary

/// What was counted up to an instant.
public struct Heartbeat: Hashable, Sendable {
    /// Time since the counting began.
    public var uptime: Duration
    /// When it was told, on the wall clock; nil where nobody knows the time of day.
    public var unixTime: UnixTime?
    /// What a session or scanner has counted.
    public var activity: ActivityCounts

    /// Creates a heartbeat.
    public init(uptime: Duration, unixTime: UnixTime? = nil, activity: ActivityCounts) {
        self.uptime = uptime
        self.unixTime = unixTime
        self.activity = activity
    }
}

/// Decides when a heartbeat is due, and keeps the latest ones.
///
/// A value with time as an input: equal calls give equal results.
public struct HeartbeatHistory: Hashable, Sendable {
    /// How often, and how many are kept. With an interval of 0 s none is due.
    public var settings: HeartbeatSettings {
        didSet { trim() }
    }
    /// The heartbeats that are kept, the latest first.
    public private(set) var heartbeats: [Heartbeat] = []
    private var last = Duration.zero

    /// Creates an empty history; the first heartbeat is due an interval after the beginning.
    public init(_ settings: HeartbeatSettings = HeartbeatSettings()) { self.settings = settings }

    /// Whether a heartbeat is due that long after the beginning.
    public func isDue(at uptime: Duration) -> Bool {
        settings.interval > .zero && uptime - last >= settings.interval
    }

    /// Keeps a heartbeat in front of the others, and forgets what is beyond the limit.
    public mutating func append(_ heartbeat: Heartbeat) {
        last = heartbeat.uptime
        heartbeats.insert(heartbeat, at: 0)
        trim()
    }

    private mutating func trim() {
        heartbeats.removeLast(max(0, heartbeats.count - max(0, settings.history)))
    }
}
