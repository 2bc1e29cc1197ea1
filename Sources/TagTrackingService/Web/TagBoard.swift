import IndoorVocabulary
import TagTracking
import VenueModel

/// The state of all tags and receivers in memory, from which the HTTP interface answers.
package actor TagBoard: FleetOutputSink {
    /// The maximum number of entries, exits and removals that are kept for streams.
    private static let mostNotices = 10_000

    /// A notice that a stream reports in addition to the states of tags.
    enum Notice: Sendable {
        case event(FleetOutput)
        case removed(TagKey)
        case receiver(ReceiverStatus)
        case alert(AlertEvent)
    }

    /// The changes for a reader.
    struct Changes: Sendable {
        var tags: [BoardTag] = []
        var notices: [Notice] = []
        /// The number up to which the changes are complete.
        var last: UInt64 = 0
        /// Whether all changes up to the requested number are included.
        var isComplete = true
        /// The number of the last notice that was discarded; 0 for none.
        var discarded: UInt64 = 0
        /// The number of the last change of all, which may be later than the requested ones.
        var newest: UInt64 = 0
    }

    /// The identifier of this run, which differs after each restart. The numbers of changes count within it.
    package nonisolated let run: String
    private var latest: LatestOutputs
    private var trails: TagTrails
    private var changes = ChangeLog()
    private var notices = FirstInFirstOut<(number: UInt64, notice: Notice)>()
    /// The number of the last notice that was discarded; 0 for none.
    private var discardedNotice: UInt64 = 0
    private var receiversByID: [String: ReceiverStatus] = [:]
    private(set) var alerts = AlertBoard()
    /// The batteries of tags that have a state or are in the register.
    private var batteries: [TagKey: TagBattery] = [:]
    /// The known tags; without any, no tag is told apart as one of the register.
    private(set) var register = TagRegister()
    /// The gateways without a receiver; nil if the server doesn't know the activity of gateways.
    package private(set) var unknownGateways: [GatewayActivity.UnknownGateway]?
    /// The tags in order of their keys; nil after a change of the set.
    private var sortedTags: [TagKey]?
    /// The time of the newest output.
    private var newest = Instant.zero

    /// Creates a board without tags.
    ///
    /// - Parameters:
    ///   - receivers: the receivers of the venue.
    ///   - capacity: the maximum number of tags.
    ///   - trailPoints: the maximum number of points of all trails together.
    package init(
        receivers: [VenueReceiver] = [], capacity: Int = 200_000, trailPoints: Int = 2_000_000,
        run: String = String(UInt32.random(in: .min ... .max), radix: 16)
    ) {
        self.run = run
        latest = LatestOutputs(capacity: capacity)
        trails = TagTrails(capacity: trailPoints)
        for receiver in receivers { receiversByID[receiver.id] = ReceiverStatus(receiver) }
    }

    // MARK: Input

    package func write(_ outputs: [FleetOutput]) {
        let discarded = latest.discardedCount
        for output in outputs {
            let isNew = latest.tags[output.tag] == nil
            guard latest.add(output) else { continue }
            if isNew { sortedTags = nil }
            newest = max(newest, output.instant)
            let number = changes.add(output.tag)
            switch output.content {
            case .position(let position): trails.add(position, of: output.tag, at: output.instant)
            case .event: notify(.event(output), number)
            case .present, .room, .away: break
            }
        }
        if latest.discardedCount != discarded { forgetDiscarded() }
    }

    /// Removes tags, such as those that left the register.
    package func remove(_ tags: [TagKey]) {
        for tag in tags where latest.remove(tag) != nil {
            changes.remove(tag)
            notify(.removed(tag), changes.addOther())
        }
        forgetDiscarded()
    }

    // Asynchronous, as a call would otherwise prefer the default of the protocol, which does nothing.
    package func use(register: TagRegister, removing tags: [TagKey]) async {
        let keys = Set(register.entries.keys)
        // Readers get the tags that entered or left the register, or all when the first one is given.
        let isFirst = self.register.entries.isEmpty != register.entries.isEmpty
        let moved = isFirst ? Set(latest.tags.keys) : latest.registered.symmetricDifference(keys)
        self.register = register
        latest.registered = keys
        for tag in moved.sorted() where latest.tags[tag] != nil { changes.add(tag) }
        remove(tags)
    }

    package func forget(_ isForgotten: @Sendable (TagKey) -> Bool) async {
        remove(latest.tags.keys.filter(isForgotten).sorted())
    }

    /// Returns whether a tag is in the register; nil without a register.
    func isRegistered(_ tag: TagKey) -> Bool? {
        register.entries.isEmpty ? nil : latest.registered.contains(tag)
    }

    /// Applies changes of the receivers' health. Receivers that aren't in the venue are ignored.
    package func write(_ events: [ReceiverEvent]) async {
        for event in events {
            guard var status = receiversByID[event.receiver] else { continue }
            (status.health, status.text, status.instant) = (event.health, event.text, event.instant)
            receiversByID[event.receiver] = status
            notify(.receiver(status), changes.addOther())
        }
    }

    /// Applies the activity of gateways. Streams report the first message of a receiver.
    package func write(_ activity: GatewayActivity) async {
        unknownGateways = activity.unknownGateways
        for (id, latest) in activity.latest {
            guard var status = receiversByID[id], status.lastMessage != latest else { continue }
            let isFirst = status.lastMessage == nil
            status.lastMessage = latest
            receiversByID[id] = status
            if isFirst { notify(.receiver(status), changes.addOther()) }
        }
    }

    /// Stores the batteries of tags. Readers get a tag whose battery has changed.
    package func write(_ batteries: [TagKey: TagBattery]) async {
        for (tag, battery) in batteries {
            // Without a limit of its own, a tag that is never located would need memory.
            guard self.batteries[tag] != nil || self.batteries.count < latest.capacity else { continue }
            self.batteries[tag] = battery
            if latest.tags[tag] != nil { changes.add(tag) }
        }
    }

    /// Applies what happens to alerts.
    package func write(_ alerts: [AlertEvent]) async {
        for event in alerts {
            self.alerts.add(event)
            notify(.alert(event), changes.addOther())
        }
    }

    /// Applies the alerts at the start, and other rules.
    package func use(_ alerts: AlertStatus) async { self.alerts.use(alerts) }

    private func notify(_ notice: Notice, _ number: UInt64) {
        notices.append((number, notice))
        if notices.count > Self.mostNotices, let oldest = notices.popFirst() { discardedNotice = oldest.number }
    }

    private func forgetDiscarded() {
        sortedTags = nil
        let tags = latest.tags
        batteries = batteries.filter { tags[$0.key] != nil || register.entries[$0.key] != nil }
        trails.keep { tags[$0] != nil }
        changes.keep { tags[$0] != nil }
    }

    // MARK: Queries

    /// The number of tags.
    package var tagCount: Int { latest.tags.count }
    /// The number of the last change.
    var lastChange: UInt64 { changes.last }
    /// The receivers in order of their names.
    package var receivers: [ReceiverStatus] { receiversByID.values.sorted { $0.id < $1.id } }

    /// The sorted keys, and the states.
    func states() -> (sorted: [TagKey], tags: [TagKey: LatestOutput], lastChange: UInt64) {
        let sorted = sortedTags ?? latest.tags.keys.map { ($0.description, $0) }.sorted { $0.0 < $1.0 }.map(\.1)
        sortedTags = sorted
        return (sorted, latest.tags, changes.last)
    }

    /// Returns states with their places in the register.
    func entries(_ states: [LatestOutput]) -> [BoardTag] {
        states.map { BoardTag(state: $0, isRegistered: isRegistered($0.tag), battery: batteries[$0.tag]) }
    }

    /// Returns the tags of the register in order of their keys.
    ///
    /// - Parameter isLocated: whether to return those with or those without a state; nil for all.
    func registered(isLocated: Bool?) -> [(entry: TagRegister.Entry, state: LatestOutput?)] {
        register.entries.values.sorted { $0.key < $1.key }.compactMap { entry in
            let state = latest.tags[entry.key]
            return isLocated.map { $0 == (state != nil) } ?? true ? (entry, state) : nil
        }
    }

    /// Returns the names of tags that have one.
    func names(of tags: [TagKey]) -> [TagKey: String] {
        var names: [TagKey: String] = [:]
        for tag in tags { names[tag] = latest.tags[tag]?.name ?? register.entries[tag]?.name }
        return names
    }

    /// Returns the state of a tag; nil if it is unknown.
    package func state(of tag: TagKey) -> LatestOutput? { latest.tags[tag] }

    /// Returns the points of a tag in the minutes before the newest output, the oldest first; nil if it is unknown.
    package func trail(of tag: TagKey, minutes: Double) -> [TagTrails.Point]? {
        guard latest.tags[tag] != nil else { return nil }
        return trails.points(of: tag, since: newest.advanced(by: .seconds(-60 * minutes)))
    }

    /// Returns the changes after one number and up to another, at most `limit` tags.
    ///
    /// - Parameter selected: the tags to report; nil for all.
    func changes(after start: UInt64, upTo end: UInt64, limit: Int, of selected: Set<TagKey>?) -> Changes {
        let (tags, last) = changes.tags(after: start, upTo: end, limit: limit) { selected?.contains($0) ?? true }
        var result = Changes(
            tags: entries(tags.compactMap { latest.tags[$0] }), last: last, isComplete: last == end,
            discarded: discardedNotice, newest: changes.last)
        result.notices = notices.elements { $0.number > start && $0.number <= last }.map(\.notice).filter { notice in
            switch notice {
            case .event(let output): selected?.contains(output.tag) ?? true
            case .removed(let tag): selected?.contains(tag) ?? true
            case .receiver: selected == nil
            case .alert(let event): selected?.contains(event.tag) ?? true
            }
        }
        return result
    }
}

/// The state of a tag, and whether the register has it.
struct BoardTag: Sendable {
    var state: LatestOutput
    /// Whether the register has the tag; nil without a register.
    var isRegistered: Bool?
    /// The battery; nil if unknown.
    var battery: TagBattery?
}

/// A receiver with its health, for the page and the interface.
package struct ReceiverStatus: Hashable, Sendable {
    /// The receiver's name in the venue.
    package var id: String
    package var mapID: MapID
    package var point: MapPoint
    /// The health; nil before the first report.
    package var health: ReceiverEvent.Health?
    /// The reason for the health in words; nil before the first report.
    package var text: String?
    /// The time of the last change of the health, counted from the Unix epoch.
    package var instant: Instant?

    /// The time of the latest message; nil before any, or if the server doesn't know.
    package var lastMessage: Instant?

    /// Creates the status of a receiver without a report.
    package init(_ receiver: VenueReceiver) {
        (id, mapID, point) = (receiver.id, receiver.mapID, receiver.point)
    }
}

/// The order of the last changes of all tags, from which a reader gets the changes since its last request.
///
/// Each change has a number. The log holds the last change of each tag. It has at most slightly more than twice as many
/// entries as there are tags.
struct ChangeLog: Sendable {
    private struct Entry {
        let number: UInt64
        let tag: TagKey
    }

    /// The number of the last change; 0 for none.
    private(set) var last: UInt64 = 0
    private var entries: [Entry] = []
    private var latest: [TagKey: UInt64] = [:]

    /// Adds a change of a tag. Returns its number.
    @discardableResult mutating func add(_ tag: TagKey) -> UInt64 {
        last += 1
        latest[tag] = last
        entries.append(Entry(number: last, tag: tag))
        if entries.count > 2 * latest.count + 1024 {
            entries.removeAll { latest[$0.tag] != $0.number }
        }
        return last
    }

    /// Adds a change that concerns no state of a tag. Returns its number.
    mutating func addOther() -> UInt64 {
        last += 1
        return last
    }

    /// The number of tags with a change.
    var tagCount: Int { latest.count }

    mutating func remove(_ tag: TagKey) { latest[tag] = nil }

    /// Removes all tags but those that the closure keeps.
    mutating func keep(_ isKept: (TagKey) -> Bool) {
        latest = latest.filter { isKept($0.key) }
        entries.removeAll { latest[$0.tag] != $0.number }
    }

    /// Returns the tags that have changed after one number and up to another, in order of their last change.
    ///
    /// - Returns: the tags; and the number up to which the list is complete, which is less than `end` if more than
    ///   `limit` tags have changed.
    func tags(
        after start: UInt64, upTo end: UInt64, limit: Int, where isSelected: (TagKey) -> Bool
    ) -> (tags: [TagKey], last: UInt64) {
        let low = entries.indices.bisection { entries[$0].number > start }
        var tags: [TagKey] = []
        var last = end
        for entry in entries[low...] where entry.number <= end && latest[entry.tag] == entry.number {
            guard isSelected(entry.tag) else { continue }
            if tags.count == limit { break }
            tags.append(entry.tag)
            last = entry.number
        }
        return (tags, tags.count == limit ? last : end)
    }
}

/// The recent positions of all tags, in one ring of bounded size.
///
/// A tag has a point per second at most, and fewer if the ring is too small for all tags: the interval grows with the
/// number of tags, so that each trail reaches back over the whole span. A point takes 40 bytes: the default of 2,000,000
/// points is 80 MB, which holds ten minutes of 3,333 tags at a point per second, or of 100,000 tags at one per 30 s.
package struct TagTrails: Sendable {
    /// A point of a trail.
    package struct Point: Hashable, Sendable {
        /// The time, counted from the Unix epoch.
        package var instant: Instant
        package var mapID: MapID
        package var x: Float
        package var y: Float
        /// The 68 % error radius in metres.
        package var radius: Float
    }

    private struct Entry {
        var point: Point
        /// The number of the tag's point before this one; -1 for none.
        var previous: Int
    }

    private struct Head {
        var last: Int
        var instant: Instant
    }

    /// The maximum age of a point.
    package static let span = Duration.seconds(600)
    /// The shortest time between two points of a tag.
    static let shortestInterval = Duration.seconds(1)

    /// The maximum number of points.
    package let capacity: Int
    private var entries: [Entry] = []
    /// The number of points so far; the point with number n is at n modulo the capacity.
    private var count = 0
    private var heads: [TagKey: Head] = [:]

    /// Creates trails without points.
    package init(capacity: Int = 2_000_000) { self.capacity = max(1, capacity) }

    /// The time between two points of a tag.
    package var interval: Duration {
        max(Self.shortestInterval, Self.span * (Double(heads.count) / Double(capacity)))
    }

    /// Adds a position, unless the tag has a point within the interval before it.
    package mutating func add(_ position: Position, of tag: TagKey, at instant: Instant) {
        let head = heads[tag]
        // A millisecond less, because the time between two outputs varies.
        if let head, head.instant.duration(to: instant) < interval - .milliseconds(1) { return }
        let entry = Entry(
            point: Point(
                instant: instant, mapID: position.mapID, x: Float(position.x), y: Float(position.y),
                radius: Float(position.radius)), previous: head?.last ?? -1)
        if entries.count < capacity { entries.append(entry) } else { entries[count % capacity] = entry }
        heads[tag] = Head(last: count, instant: instant)
        count += 1
    }

    /// Returns the points of a tag since an instant, the oldest first.
    package func points(of tag: TagKey, since start: Instant) -> [Point] {
        var points: [Point] = []
        var number = heads[tag]?.last ?? -1
        // Older points have been overwritten.
        while number >= 0, number >= count - capacity {
            let entry = entries[number % capacity]
            guard entry.point.instant >= start else { break }
            points.append(entry.point)
            number = entry.previous
        }
        return points.reversed()
    }

    /// Removes the trails of all tags but those that the closure keeps.
    package mutating func keep(_ isKept: (TagKey) -> Bool) { heads = heads.filter { isKept($0.key) } }
}
