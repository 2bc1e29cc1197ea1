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
    }

    /// The changes for a reader.
    struct Changes: Sendable {
        var tags: [LatestOutput] = []
        var notices: [Notice] = []
        /// The number up to which the changes are complete.
        var last: UInt64 = 0
        /// Whether all changes up to the requested number are included.
        var isComplete = true
    }

    /// The identifier of this run, which differs after each restart. The numbers of changes count within it.
    package nonisolated let run: String
    private var latest: LatestOutputs
    private var trails: TagTrails
    private var changes = ChangeLog()
    private var notices = FirstInFirstOut<(number: UInt64, notice: Notice)>()
    private var receiversByID: [String: ReceiverStatus] = [:]
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
            case .present, .away: break
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

    package func use(register: Set<TagKey>, removing tags: [TagKey]) {
        latest.registered = register
        remove(tags)
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

    private func notify(_ notice: Notice, _ number: UInt64) {
        notices.append((number, notice))
        if notices.count > Self.mostNotices { notices.removeFirst() }
    }

    private func forgetDiscarded() {
        sortedTags = nil
        let tags = latest.tags
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
        var result = Changes(tags: tags.compactMap { latest.tags[$0] }, last: last, isComplete: last == end)
        result.notices = notices.elements { $0.number > start && $0.number <= last }.map(\.notice).filter { notice in
            switch notice {
            case .event(let output): selected?.contains(output.tag) ?? true
            case .removed(let tag): selected?.contains(tag) ?? true
            case .receiver: selected == nil
            }
        }
        return result
    }
}
