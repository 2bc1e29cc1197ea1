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
