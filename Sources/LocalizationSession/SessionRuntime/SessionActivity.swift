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

/// The durations of a session's work since the measurement began, as two histograms.
package struct CycleTimes: Hashable, Sendable {
    /// The numbers of durations between given bounds.
    package struct Histogram: Hashable, Sendable {
        /// The upper bounds of the buckets in seconds. A duration belongs to the first bucket whose bound it doesn't
        /// exceed; the last bucket has no bound.
        package static let bounds = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1]
        /// The number of durations in each bucket, one more than there are bounds.
        package private(set) var counts = Array(repeating: 0, count: bounds.count + 1)
        /// The sum of all durations in seconds.
        package private(set) var sum = 0.0
        /// The number of all durations.
        package var count: Int { counts.reduce(0, +) }

        /// Creates a histogram without durations.
        package init() {}

        /// Adds a duration.
        package mutating func add(_ duration: Duration) {
            let seconds = duration.seconds
            counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
            sum += seconds
        }
    }

    /// The time that the session takes to handle a reading.
    package var readings = Histogram()
    /// The time of a scheduled step: the update of the belief, the position and its events.
    package var updates = Histogram()

    /// Creates histograms without durations.
    package init() {}
}

/// The measurement of a session's work with a clock from the caller.
struct CycleMeter: Sendable {
    /// Returns the time of a clock that advances while the session works.
    let clock: @Sendable () -> Duration
    private(set) var times = CycleTimes()

    init(clock: @escaping @Sendable () -> Duration) { self.clock = clock }

    mutating func endReading(begun: Duration) { times.readings.add(clock() - begun) }

    mutating func endUpdate(begun: Duration) { times.updates.add(clock() - begun) }
}

/// The counts of the elements in streams that are derived from other streams of a session, such as its visits.
///
/// A class, because the tasks of all such streams share the counts.
final class DerivedElements: Sendable {
    private struct Counts {
        var sent = 0
        var dropped = 0
    }

    private let counts = Guarded(Counts())

    /// The number of elements sent, to all subscribers together.
    var sent: Int { counts.withLock { $0.sent } }

    /// The number of elements that slow subscribers have lost.
    var dropped: Int { counts.withLock { $0.dropped } }

    /// Sends an element to a subscriber.
    func send<Element: Sendable>(_ element: Element, to continuation: AsyncStream<Element>.Continuation) {
        let result = continuation.yield(element)
        counts.withLock { counts in
            counts.sent += 1
            if case .dropped = result { counts.dropped += 1 }
        }
    }
}
