import IndoorVocabulary
import LocalizationSession
import VenueModel

/// Decides what sharing over a broker does: who is where, who may come in, what is told and when.
///
/// A device is on the server by its presence, one retained message with its rooms, which its last will removes. The broker
/// hands all presences to all devices in one order, this device's own among them. When the own one comes back, all
/// that came before it were there first: the newcomer counts them and leaves where it is one too many. Clocks don't matter.
package struct SharingMachine: Sendable {
    /// When something happens, by two clocks.
    package struct Moment: Hashable, Sendable {
        /// Monotonic; deadlines and rates count by it.
        package var instant: Instant
        /// Seconds since 1970 (UTC); others get it.
        package var date: Double

        package init(instant: Instant, date: Double) {
            self.instant = instant
            self.date = date
        }
    }

    /// Names a request that waits for its answer.
    package typealias Reply = UInt64

    package enum Event: Hashable, Sendable {
        case connect(Reply)
        case disconnect
        case join(String, Reply)
        case leave(String)
        case track(String)
        case untrack(String)
        case share(Position, level: Int?)
        /// A text of which the machine knows that it can be sent.
        case send(String, tag: String, room: String)
        case withdrawFromHomeAssistant
        case link(MQTTLinkEvent)
        /// The time that `nextWake` named has come.
        case tick
    }

    package enum Directive: Hashable, Sendable {
        case open(session: String)
        case publish(MQTTMessage)
        case subscribe(String, MQTTMessage.Quality)
        case unsubscribe(String)
        /// Ends the link with a goodbye, after all that was published.
        case close
        /// Ends the link without one, so that the broker executes the will.
        case abandon
        case tell(SharingEvent)
        case answer(Reply, MQTTSharingError?)
    }

    enum Phase: Hashable, Sendable {
        case idle
        /// Waits for the broker to let this device in.
        case opening(since: Instant)
        /// Waits for it to grant the subscriptions of these filters.
        case subscribing(since: Instant, Set<String>)
        /// Waits for the own presence to come back.
        case entering(since: Instant)
        case up
        /// Waits to connect again.
        case pausing(until: Instant)
    }

    enum Membership: Hashable, Sendable {
        /// Waits for the subscription to what is told to the room.
        case asked(since: Instant, [Reply])
        /// Waits for the own presence with the room to come back.
        case granted(since: Instant, [Reply])
        case joined

        /// Who waits for it.
        var replies: [Reply] {
            switch self {
            case .asked(_, let replies), .granted(_, let replies): replies
            case .joined: []
            }
        }
    }

    let broker: MQTTBroker
    let settings: MQTTSharingSettings
    let topics: SharingTopics
    let device: DeviceID
    let name: String?
    let homeAssistant: HomeAssistantDiscovery?

    var phase = Phase.idle
    var session = ""
    /// Whether the broker was reached since the last `connect`: then it is tried again and again.
    var hasBeenUp = false
    var connecting: [Reply] = []
    var generator: SeededGenerator
    var backoff: Backoff
    var lastFailure: MQTTSharingError?

    var memberships: [String: Membership] = [:]
    var trackedRooms: Set<String> = []
    var book = PresenceTracker()
    var limits = SharingPayload.Limits()
    /// When the own presence, which somebody removed, is to be published again.
    var presenceDue: Instant?

    var dirtyRooms: Set<String> = []
    var toldOccupancy: [String: Int] = [:]
    var lastOccupancy: Instant?
    var lastRefresh: Instant?

    var latest: (position: Position, level: Int?, date: Double)?
    var hasNews = false
    var nextShare = Instant.zero

    /// How many messages came that nobody could make sense of.
    package internal(set) var malformedCount = 0
    var lastMalformedTold: Instant?

    var directives: [Directive] = []

    /// - Parameters:
    ///   - broker: which errors name.
    ///   - name: the device's name for people.
    ///   - seed: of the names of connections and of the pauses between attempts.
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
    }

    /// What the broker publishes when the connection breaks.
    package var will: MQTTMessage { MQTTMessage(topic: topics.name(.presence(device)), payload: [], isRetained: true) }

    /// Whether something can be sent now.
    package var isUp: Bool { phase == .up }

    /// Whether a connection is there, or tried for.
    package var isKept: Bool { phase != .idle }

    /// Whether this device is in a room.
    package func isIn(_ room: String) -> Bool { memberships[room] == .joined }

    /// Takes in what happened; returns what is to be done, in this order.
    package mutating func handle(_ event: Event, at now: Moment) -> [Directive] {
        switch event {
        case .connect(let reply): connect(reply, now)
        case .disconnect: disconnect()
        case .join(let room, let reply): join(room, reply, now)
        case .leave(let room): leave(room, now)
        case .track(let room):
            trackedRooms.insert(room)
            toldOccupancy[room] = nil
            markDirty([room])
        case .untrack(let room): trackedRooms.remove(room)
        case .share(let position, let level):
            latest = (position, level, now.date)
            hasNews = true
        case .send(let text, let tag, let room): send(text, tag, room, now)
        case .withdrawFromHomeAssistant: withdrawFromHomeAssistant()
        case .link(let event): take(event, now)
        case .tick: tick(now)
        }
        shareIfDue(now)
        tellOccupancyIfDue(now)
        defer { directives = [] }
        return directives
    }

    /// When the machine wants a `tick`; nil if only others can move it.
    package var nextWake: Instant? {
        var times: [Instant] = []
        switch phase {
        case .opening(let since), .subscribing(let since, _), .entering(let since):
            times.append(since.advanced(by: settings.patience))
        case .pausing(let until): times.append(until)
        case .idle: return nil
        case .up:
            if let presenceDue { times.append(presenceDue) }
            if hasNews, canShare { times.append(nextShare) }
            if !dirtyRooms.isEmpty, let lastOccupancy {
                times.append(lastOccupancy.advanced(by: MQTTSharingSettings.refreshInterval))
            }
            times += memberships.values.compactMap { membership in
                switch membership {
                case .asked(let since, _), .granted(let since, _): since.advanced(by: settings.patience)
                case .joined: nil
                }
            }
        }
        return times.min()
    }

    mutating func tell(_ event: SharingEvent) { directives.append(.tell(event)) }

    mutating func answer(_ reply: Reply, _ error: MQTTSharingError? = nil) {
        directives.append(.answer(reply, error))
    }
}
