import BeaconScanning
import IndoorVocabulary

/// The activity counters at an instant.
public struct Heartbeat: Hashable, Sendable {
    /// The time since the counters started.
    public var uptime: Duration
    /// The wall-clock time of the heartbeat; nil if it is unknown.
    public var unixTime: UnixTime?
    /// The activity counters of a session or scanner.
    public var activity: ActivityCounts

    /// Creates a heartbeat.
    public init(uptime: Duration, unixTime: UnixTime? = nil, activity: ActivityCounts) {
        self.uptime = uptime
        self.unixTime = unixTime
        self.activity = activity
    }
}

/// The schedule of heartbeats, and the latest ones.
///
/// This type is a value with time as an input: the same calls give the same results.
public struct HeartbeatHistory: Hashable, Sendable {
    /// The interval of the heartbeats and the number to keep. With an interval of 0 s, no heartbeat is due.
    public var settings: HeartbeatSettings {
        didSet { trim() }
    }
    /// The latest heartbeats, newest first.
    public private(set) var heartbeats: [Heartbeat] = []
    private var last = Duration.zero

    /// Creates an empty history. The first heartbeat is due one interval after the start.
    public init(_ settings: HeartbeatSettings = HeartbeatSettings()) { self.settings = settings }

    /// Returns whether a heartbeat is due at a time since the start.
    public func isDue(at uptime: Duration) -> Bool {
        settings.interval > .zero && uptime - last >= settings.interval
    }

    /// Inserts a heartbeat at the front, and discards those beyond the limit.
    public mutating func append(_ heartbeat: Heartbeat) {
        last = heartbeat.uptime
        heartbeats.insert(heartbeat, at: 0)
        trim()
    }

    private mutating func trim() {
        heartbeats.removeLast(max(0, heartbeats.count - max(0, settings.history)))
    }
}
