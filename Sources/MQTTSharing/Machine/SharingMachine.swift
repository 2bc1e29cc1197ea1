import IndoorVocabulary
import LocalizationSession
import VenueModel

/// The state machine of sharing over a broker: presence, rooms, capacities, and the timing of messages.
///
/// A device is on the server if it has a presence: a retained message with its rooms, which its last will removes. The
/// broker sends all presences to all devices in the same order, including each device's own. When a device receives its
/// own presence, all devices with earlier presences were there first. It counts them, and leaves a room or server that
/// exceeds its capacity. The order doesn't depend on clocks.
package struct SharingMachine: Sendable {
    /// The time of an event on two clocks.
    package struct Moment: Hashable, Sendable {
        /// The monotonic time, for deadlines and rates.
        package var instant: Instant
        /// The seconds since 1970 (UTC), for messages.
        package var date: Double

        package init(instant: Instant, date: Double) {
            self.instant = instant
            self.date = date
        }
    }

    /// The ID of a request that waits for its answer.
    package typealias Reply = UInt64

    package enum Event: Hashable, Sendable {
        case connect(Reply)
        case disconnect
        case join(String, Reply)
        case leave(String)
        case track(String)
        case untrack(String)
        case share(Position, level: Int?)
        /// Send a text. The caller has checked the connection, the room and the limits.
        case send(String, tag: String, room: String)
        case withdrawFromHomeAssistant
        case link(MQTTLinkEvent)
        /// The instant `nextWake` has passed.
        case tick
    }

    package enum Directive: Hashable, Sendable {
        case open(session: String)
        case publish(MQTTMessage)
        case subscribe(String, MQTTMessage.Quality)
        case unsubscribe(String)
        /// Disconnect after all published messages.
        case close
        /// End the link without disconnecting, so that the broker publishes the will.
        case abandon
        case emit(SharingEvent)
        case answer(Reply, MQTTSharingError?)
    }

    enum Phase: Hashable, Sendable {
        case idle
        /// Waiting for the broker to accept the connection.
        case opening(since: Instant)
        /// Waiting for the broker to grant the subscriptions to these filters.
        case subscribing(since: Instant, Set<String>)
        /// Waiting for this device's own presence from the broker.
        case entering(since: Instant)
        case up
        /// Waiting to reconnect.
        case pausing(until: Instant)
    }

    enum Membership: Hashable, Sendable {
        /// Waiting for the subscription to the room.
        case asked(since: Instant, [Reply])
        /// Waiting for this device's own presence with the room from the broker.
        case granted(since: Instant, [Reply])
        case joined
        /// Waiting to ask again for a room that this device was in before the connection broke.
        case refused(until: Instant)

        /// The requests that wait for the room.
        var replies: [Reply] {
            switch self {
            case .asked(_, let replies), .granted(_, let replies): replies
            case .joined, .refused: []
            }
        }
    }

    /// The time after which a device publishes its presence again. This restores presences that were lost or replaced.
    static let refreshInterval = Duration.seconds(300)
    /// The time after which the device asks again for its own presence, if the broker hasn't sent it. A broker drops
    /// messages if a flood of other presences fills the queue of this device.
    static let echoPause = Duration.seconds(2)
    /// The pause before the device asks again for a room that it was in before the connection broke.
    static let roomPause = Duration.seconds(30)
    /// The time after which the confirmation of a position is requested again, so that the broker can refuse it.
    static let checkInterval = Duration.seconds(60)

    let broker: MQTTBroker
    let settings: MQTTSharingSettings
    let topics: SharingTopics
    let device: DeviceID
    let name: String?
    let homeAssistant: HomeAssistantDiscovery?

    var phase = Phase.idle
    var session = ""
    /// Whether the device has been connected since the last `connect`, so that the machine reconnects.
    var hasBeenUp = false
    var connecting: [Reply] = []
    var generator: SeededGenerator
    var backoff: Backoff
    var lastFailure: MQTTSharingError?

    var memberships: [String: Membership] = [:]
    var trackedRooms: Set<String> = []
    var presences = PresenceTracker()
    var limits = SharingPayload.Limits()
    /// The instant at which to publish the replaced or removed presence of this device again.
    var presenceDue: Instant?
    /// The instant at which to publish the unchanged presence of this device again.
    var refreshDue: Instant?
    /// The instant at which to ask the broker for this device's presence.
    var echoDue: Instant?
    var echoRequests = 0
    /// The rooms in the presences that the broker hasn't sent back yet, and in the latest one that it has.
    var publishedRooms: [[String]] = []
    var contest: PresenceContest
    /// The rooms whose refusal was reported after the connection broke.
    var reportedRefusals: Set<String> = []
    var check: SignatureCheck?
    /// The number of the latest signed message.
    var sequence = 0

    var dirtyRooms: Set<String> = []
    var reportedOccupancy: [String: Int] = [:]
    var lastOccupancy: Instant?
    var lastRefresh: Instant?

    var latest: (position: Position, level: Int?, date: Double)?
    var hasUnsharedPosition = false
    var nextShare = Instant.zero

    /// The number of malformed messages received.
    package internal(set) var malformedCount = 0
    var malformedReportedAt: Instant?
    /// The number of messages that the broker refused, and those of this connection that were reported.
    package internal(set) var refusedCount = 0
    var refusals = ReportedRefusals()
    /// The time of the latest position in each room for which the broker's confirmation was requested.
    var checkedRooms: [String: Instant] = [:]

    var directives: [Directive] = []

    /// - Parameters:
    ///   - broker: The broker, for error messages.
    ///   - name: The device's display name.
    ///   - seed: The seed for session names and for the pauses between attempts.
    package init(
        _ broker: MQTTBroker, device: DeviceID, name: String?, settings: MQTTSharingSettings, seed: UInt64
    ) {
        self.broker = broker
        self.device = device
        self.name = name
        self.settings = settings
        let topics = SharingTopics(prefix: settings.prefix)
        self.topics = topics
        homeAssistant = settings.homeAssistantPrefix.map { prefix in
            HomeAssistantDiscovery(
                prefix: prefix, device: device, name: name, locationTopic: topics.name(.location(device)),
                presenceTopic: topics.name(.presence(device)))
        }
        generator = SeededGenerator(seed: seed)
        backoff = Backoff(first: settings.firstPause, seed: generator.next())
        contest = PresenceContest(seed: generator.next())
        check = settings.trust.map(SignatureCheck.init)
    }

    /// The message that the broker publishes if the connection breaks.
    package var will: MQTTMessage { MQTTMessage(topic: topics.name(.presence(device)), payload: [], isRetained: true) }

    /// The number of messages without the required signature.
    package var untrustedCount: Int { check?.rejectedCount ?? 0 }

    /// Whether the device is connected.
    package var isUp: Bool { phase == .up }

    /// Whether the device is connected or tries to connect.
    package var isKept: Bool { phase != .idle }

    /// Returns whether this device is in a room.
    package func isIn(_ room: String) -> Bool { memberships[room] == .joined }

    /// Handles an event and returns the directives to perform, in order.
    package mutating func handle(_ event: Event, at now: Moment) -> [Directive] {
        switch event {
        case .connect(let reply): connect(reply, now)
        case .disconnect: disconnect()
        case .join(let room, let reply): join(room, reply, now)
        case .leave(let room): leave(room, now)
        case .track(let room):
            trackedRooms.insert(room)
            reportedOccupancy[room] = nil
            markDirty([room])
        case .untrack(let room): trackedRooms.remove(room)
        case .share(let position, let level):
            latest = (position, level, now.date)
            hasUnsharedPosition = true
        case .send(let text, let tag, let room): send(text, tag, room, now)
        case .withdrawFromHomeAssistant: withdrawFromHomeAssistant()
        case .link(let event): handleLink(event, now)
        case .tick: tick(now)
        }
        shareIfDue(now)
        reportOccupancyIfDue(now)
        defer { directives = [] }
        return directives
    }

    /// The instant at which the machine needs a `tick`; nil if it only waits for events.
    package var nextWake: Instant? {
        var times: [Instant] = []
        switch phase {
        case .opening(let since), .subscribing(let since, _), .entering(let since):
            times.append(since.advanced(by: settings.patience))
            if case .entering = phase { times += [presenceDue, echoDue].compactMap(\.self) }
        case .pausing(let until): times.append(until)
        case .idle: return nil
        case .up:
            times += [presenceDue, refreshDue, echoDue].compactMap(\.self)
            if hasUnsharedPosition, canShare { times.append(nextShare) }
            if !dirtyRooms.isEmpty, let lastOccupancy {
                times.append(lastOccupancy.advanced(by: MQTTSharingSettings.refreshInterval))
            }
            times += memberships.values.compactMap { membership in
                switch membership {
                case .asked(let since, _), .granted(let since, _): since.advanced(by: settings.patience)
                case .refused(let until): until
                case .joined: nil
                }
            }
        }
        return times.min()
    }

    mutating func emit(_ event: SharingEvent) { directives.append(.emit(event)) }

    mutating func answer(_ reply: Reply, _ error: MQTTSharingError? = nil) {
        directives.append(.answer(reply, error))
    }
}
