import IndoorVocabulary

/// The state machine of tracked regions: it detects entries and exits, and ranges beacons.
///
/// The methods that track regions return no directives. Only receptions and elapsed time cause directives.
package struct RegionMachine: Hashable, Sendable {
    package enum Event: Hashable, Sendable {
        /// The radio begins or stops receiving.
        case hearing(Bool)
        /// The radio received a beacon.
        case heard(RangeEstimate)
        case tick
    }

    package enum Directive: Hashable, Sendable {
        case emit(RegionEvent)
        /// A ranging, which may contain no ranges.
        case range(RegionRanging)
    }

    private struct Tracked: Hashable {
        var region: BeaconRegion
        var id: String
        /// The time of the latest reception of a beacon, on the timeline of listening; nil while the device is outside.
        var lastHeard: Instant?
        /// The beacons received since the last ranging.
        var heard: [BeaconIdentity: RangeEstimate] = [:]

        mutating func forget() {
            lastHeard = nil
            heard = [:]
        }
    }

    private let settings: RegionSettings
    /// The tracked regions, in the order in which they were added.
    private var tracked: [Tracked] = []
    /// Whether tracking is paused.
    package private(set) var isPaused = false
    /// The timeline of listening, on which silence is measured.
    private var listened = ListenedTime(deafSince: .zero)
    /// When the next ranging is due, while the radio receives.
    private var nextRanging = Instant.zero

    /// Creates a machine that tracks no region. The settings must have no `problems`.
    package init(settings: RegionSettings) { self.settings = settings }

    /// Whether any region is tracked.
    package var isEmpty: Bool { tracked.isEmpty }
    /// The names of the regions that the device is in, in the order in which they were tracked.
    package var insideRegions: [String] { tracked.filter { $0.lastHeard != nil }.map(\.id) }

    /// The name of a tracked region; nil if it is not tracked.
    package func id(of region: BeaconRegion) -> String? { tracked.first { $0.region == region }?.id }

    // MARK: - Tracking

    /// Tracks a region; returns false, without a change, if the region or the name is tracked already.
    package mutating func track(_ region: BeaconRegion, id: String) -> Bool {
        guard !tracked.contains(where: { $0.id == id || $0.region == region }) else { return false }
        tracked.append(Tracked(region: region, id: id))
        return true
    }

    /// Stops tracking a region, without an exit; returns whether it was tracked.
    package mutating func stopTracking(where isMeant: (_ region: BeaconRegion, _ id: String) -> Bool) -> Bool {
        let count = tracked.count
        tracked.removeAll { isMeant($0.region, $0.id) }
        return tracked.count < count
    }

    /// Stops tracking all regions, without exits.
    package mutating func clear() { tracked = [] }

    /// Stores the regions, but emits no events for them until `resume()`.
    package mutating func pause() {
        isPaused = true
        forget()
    }

    /// Ends a pause: the next reception of a beacon enters its regions again.
    package mutating func resume() { isPaused = false }

    /// Treats the device as outside all regions, or outside the region with a name, without an exit: the next reception
    /// of a beacon enters its regions again.
    package mutating func forget(_ id: String? = nil) {
        for index in tracked.indices where id == nil || tracked[index].id == id { tracked[index].forget() }
    }

    // MARK: - Time and sightings

    /// When the machine needs a tick; nil if never.
    package var nextWake: Instant? {
        guard let silentFrom = tracked.compactMap(\.lastHeard).min() else { return nil }
        return listened.wake(at: silentFrom.advanced(by: settings.exitTimeout)).map { min($0, nextRanging) }
    }

    /// Shifts the due times onto another timeline.
    package mutating func shift(by duration: Duration) {
        listened.shift(by: duration)
        nextRanging = nextRanging.advanced(by: duration)
    }

    /// Handles an event; events must be ordered by instant.
    package mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        switch event {
        case .hearing(let isHearing): isHearing ? listen(at: now) : fallSilent(at: now)
        case .heard(let range): hear(range, at: now)
        case .tick: tick(at: now)
        }
    }

    private mutating func listen(at now: Instant) -> [Directive] {
        guard !listened.isListening else { return [] }
        listened.resume(at: now)
        nextRanging = now.advanced(by: settings.rangingInterval)
        return []
    }

    /// Emits a last ranging before the radio stops receiving.
    private mutating func fallSilent(at now: Instant) -> [Directive] {
        guard listened.isListening else { return [] }
        listened.pause(at: now)
        return drainRangings(at: now).filter { directive in
            if case .range(let ranging) = directive { !ranging.ranges.isEmpty } else { true }
        }
    }

    private mutating func hear(_ range: RangeEstimate, at now: Instant) -> [Directive] {
        guard !isPaused, listened.isListening else { return [] }
        // While the device is in no region, there are no rangings, but their times continue at the same interval.
        if insideCount == 0 { skipRangings(until: now) }
        let time = listened.instant(at: now)
        var directives: [Directive] = []
        for index in tracked.indices where tracked[index].region.contains(range.beacon) {
            if tracked[index].lastHeard == nil {
                guard range.rssi >= settings.enterRSSI else { continue }
                tracked[index].lastHeard = time
                directives.append(.emit(RegionEvent(instant: now, regionID: tracked[index].id, kind: .enter)))
            } else if range.rssi >= settings.exitRSSI {
                tracked[index].lastHeard = time
            }
            tracked[index].heard[range.beacon] = range
        }
        return directives
    }

    private var insideCount: Int { tracked.count { $0.lastHeard != nil } }

    /// Postpones the next ranging until after `now`.
    private mutating func skipRangings(until now: Instant) {
        guard nextRanging <= now else { return }
        let interval = settings.rangingInterval.nanoseconds
        let missed = nextRanging.duration(to: now).nanoseconds / interval
        nextRanging = nextRanging.advanced(by: .nanoseconds((missed + 1) * interval))
    }

    private mutating func tick(at now: Instant) -> [Directive] {
        guard listened.isListening else { return [] }
        var directives: [Directive] = []
        if nextRanging <= now, insideCount > 0 {
            directives += drainRangings(at: now)
            skipRangings(until: now)
        }
        let time = listened.instant(at: now)
        for index in tracked.indices {
            guard let lastHeard = tracked[index].lastHeard, lastHeard.duration(to: time) >= settings.exitTimeout else {
                continue
            }
            tracked[index].forget()
            directives.append(.emit(RegionEvent(instant: now, regionID: tracked[index].id, kind: .exit)))
        }
        return directives
    }

    private mutating func drainRangings(at now: Instant) -> [Directive] {
        var directives: [Directive] = []
        for index in tracked.indices where tracked[index].lastHeard != nil {
            let ranges = tracked[index].heard.values.sorted { $0.beacon < $1.beacon }
            tracked[index].heard = [:]
            directives.append(.range(RegionRanging(instant: now, regionID: tracked[index].id, ranges: ranges)))
        }
        return directives
    }
}

/// The conditions for entering and leaving a region, and the rate of ranging its beacons.
public struct RegionSettings: Hashable, Sendable {
    /// The time of listening without any of a region's beacons after which the device leaves the region; above 0 s, at
    /// most a day.
    ///
    /// The time between two passes is not included. If a beacon advertises once per second and half of its
    /// advertisements are received, a silence of 10 s occurs about forty times a day, but a silence of 30 s, the
    /// timeout of phones, once in seventy years.
    public var exitTimeout = Duration.seconds(30)
    /// The minimum smoothed RSSI in dBm at which the device enters a region; in [-127, 0].
    public var enterRSSI = -127.0
    /// The minimum smoothed RSSI in dBm of a beacon while the device stays in a region; in [-127, `enterRSSI`].
    ///
    /// With a value about 6 dB below `enterRSSI`, a device at the border doesn't enter and leave repeatedly.
    public var exitRSSI = -127.0
    /// The time between two rangings of the beacons of a region, from 100 ms to a day.
    public var rangingInterval = Duration.seconds(1)

    /// Creates the settings with their defaults.
    public init() {}

    /// The values that are out of range; empty if all are valid.
    public var problems: [String] { Self.list.problems(in: self, prefix: "regions.") }
}

extension RegionSettings {
    /// The list of the settings of regions.
    package static let list: [Setting<RegionSettings>] = [
        .duration(
            "exitTimeout", \.exitTimeout, above: .zero,
            "The device leaves a region after this time of listening without any of its beacons."),
        .number(
            "enterRSSI", \.enterRSSI, in: -127...0, unit: "dBm",
            "The device enters a region at this smoothed RSSI or above."),
        .number(
            "exitRSSI", \.exitRSSI, in: -127...0, unit: "dBm",
            "The device stays in a region while a beacon has this smoothed RSSI or above; at most `enterRSSI`.",
            beside: { -127...max(-127, $0.enterRSSI) }),
        .duration(
            "rangingInterval", \.rangingInterval, from: .milliseconds(100), better: .smaller,
            "The time between two rangings of the beacons of a region."),
    ]
}

/// The reason why a region cannot be tracked.
public enum RegionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is not a UUID.
    case malformedUUID(String)

    public var description: String {
        switch self {
        case .malformedUUID(let text):
            "\"\(text)\" is not a UUID: give 32 hexadecimal digits, with dashes after digits 8, 12, 16 and 20 or with none."
        }
    }
}

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
