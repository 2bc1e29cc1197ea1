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
    package static let refreshInterval = Duration.seconds(300)
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

/// Connecting to the server, staying connected, and leaving.
extension SharingMachine {
    mutating func connect(_ reply: Reply, _ now: Moment) {
        if phase == .up { return answer(reply) }
        connecting.append(reply)
        // Otherwise an attempt is pending or scheduled.
        if phase == .idle { open(now) }
    }

    private mutating func open(_ now: Moment) {
        phase = .opening(since: now.instant)
        session = String(generator.next(), radix: 16)
        presences = PresenceTracker()
        limits = SharingPayload.Limits()
        refusals = ReportedRefusals()
        checkedRooms = [:]
        directives.append(.open(session: session))
    }

    mutating func disconnect() {
        guard phase != .idle else { return }
        leaveServer(reason: "left on request", failing: .notConnected)
    }

    /// Leaves the server permanently, with a regular disconnect.
    private mutating func leaveServer(reason: String, failing error: MQTTSharingError) {
        switch phase {
        case .up, .entering:
            directives += [.publish(will), .close]
        case .opening, .subscribing: directives.append(.abandon)
        case .idle, .pausing: break
        }
        let wasConnected = hasBeenUp
        for room in memberships.keys.sorted() where memberships[room] == .joined { emit(.left(room: room)) }
        becomeIdle(failing: error)
        if wasConnected { emit(.disconnected(reason: reason)) }
    }

    private mutating func becomeIdle(failing error: MQTTSharingError) {
        phase = .idle
        hasBeenUp = false
        lastFailure = nil
        reportedRefusals = []
        forgetOwnPresence()
        for reply in connecting { answer(reply, error) }
        connecting = []
        for reply in memberships.values.flatMap(\.replies).sorted() { answer(reply, error) }
        memberships = [:]
        forgetOccupancy()
        reportedOccupancy = [:]
    }

    private mutating func forgetOwnPresence() {
        (presenceDue, refreshDue, echoDue) = (nil, nil, nil)
        publishedRooms = []
        echoRequests = 0
    }

    mutating func handleLink(_ event: MQTTLinkEvent, _ now: Moment) {
        switch (event, phase) {
        case (.accepted, .opening(let since)):
            var filters: Set<String> = [topics.presenceFilter, topics.name(.presence(device)), topics.name(.limits)]
            if let homeAssistant { filters.insert(homeAssistant.birthTopic) }
            // Subscribe again to the rooms of an earlier connection.
            filters.formUnion(memberships.keys.map(topics.filter(ofRoom:)))
            phase = .subscribing(since: since, filters)
            for filter in filters.sorted() { directives.append(.subscribe(filter, .atLeastOnce)) }
        case (.subscribed(let filter, let isGranted), .subscribing(let since, var filters)):
            if !isGranted {
                let room = memberships.keys.first { topics.filter(ofRoom: $0) == filter }
                guard let room else { return fail(.forbidden(topic: filter), now) }
                drop(room, .forbidden(topic: filter), now)
            }
            filters.remove(filter)
            phase = filters.isEmpty ? .entering(since: since) : .subscribing(since: since, filters)
            if filters.isEmpty {
                for (room, membership) in memberships {
                    if case .asked = membership { memberships[room] = .granted(since: now.instant, []) }
                }
                publishPresence(now)
            }
        case (.subscribed(let filter, let isGranted), .up): handleSubscription(filter, isGranted, now)
        case (.received(let message), .subscribing), (.received(let message), .entering), (.received(let message), .up):
            receive(message, now)
        case (.refused(let topic, .notAuthorized, _), .entering) where topic == topics.name(.presence(device)):
            // The broker won't send this presence, for which the device would wait.
            refusedCount += 1
            fail(.forbidden(topic: topic), now)
        case (.refused(let topic, let reason, _), .subscribing), (.refused(let topic, let reason, _), .entering),
            (.refused(let topic, let reason, _), .up):
            refusedCount += 1
            // If the broker refuses the presence while the device enters, the failed entry reports the error.
            guard topic != topics.name(.presence(device)) || phase == .up, refusals.isNew(topic, reason) else { return }
            emit(.failed(LocalizationError(MQTTSharingError.refusedMessage(topic: topic, reason: reason))))
        case (.ended(let error), .opening), (.ended(let error), .subscribing), (.ended(let error), .entering),
            (.ended(let error), .up):
            fail(error, now, isLinkThere: false)
        case (_, .idle), (_, .pausing), (.accepted, _), (.subscribed, _), (.received, .opening), (.refused, .opening),
            (.confirmed, _):
            // These events belong to an earlier link or are out of order. Sharing requests no confirmations.
            break
        }
    }

    /// Handles a failed or lost connection. Reconnects if the device was connected before.
    mutating func fail(_ error: MQTTSharingError, _ now: Moment, isLinkThere: Bool = true) {
        if isLinkThere { directives.append(.abandon) }
        guard hasBeenUp else { return becomeIdle(failing: error) }
        if phase == .up {
            emit(.disconnected(reason: error.description))
        } else if error != lastFailure {
            emit(.failed(LocalizationError(error)))
        }
        lastFailure = error
        forgetOwnPresence()
        for reply in connecting { answer(reply, error) }
        connecting = []
        phase = .pausing(until: now.instant.advanced(by: backoff.next()))
        for (room, membership) in memberships {
            for reply in membership.replies { answer(reply, error) }
            // Rejoin the rooms that this device was in; the requests for other rooms have failed.
            memberships[room] = membership.replies.isEmpty ? .asked(since: now.instant, []) : nil
        }
        forgetOccupancy()
    }

    mutating func tick(_ now: Moment) {
        switch phase {
        case .opening(let since) where isOver(since, now): fail(noAnswer("to the connection request"), now)
        case .subscribing(let since, _) where isOver(since, now): fail(noAnswer("to the subscription"), now)
        case .entering(let since) where isOver(since, now):
            // A broker with MQTT 3.1.1 doesn't tell that it denies publishing.
            fail(.forbidden(topic: topics.name(.presence(device))), now)
        case .entering: restateIfDue(now)
        case .pausing(let until) where now.instant >= until: open(now)
        case .up:
            giveUpRooms(now)
            restateIfDue(now)
        case .idle, .opening, .subscribing, .pausing: break
        }
    }

    func isOver(_ since: Instant, _ now: Moment) -> Bool { now.instant >= since.advanced(by: settings.patience) }

    func noAnswer(_ request: String) -> MQTTSharingError {
        .noAnswer(host: broker.host, port: broker.port, to: request)
    }

    mutating func enter(_ rooms: [String], _ now: Moment) {
        if let capacity = serverCapacity, presences.deviceCount >= capacity { return refuseServer(capacity, now) }
        phase = .up
        hasBeenUp = true
        lastFailure = nil
        backoff.reset()
        emit(.connected)
        for reply in connecting { answer(reply) }
        connecting = []
        configureHomeAssistant()
        if latest != nil { hasUnsharedPosition = true }
        markDirty(trackedRooms)
        admit(rooms, now)
    }

    /// Refuses to enter a server that is full. After an earlier connection, the device tries again.
    private mutating func refuseServer(_ capacity: Int, _ now: Moment) {
        let error = MQTTSharingError.serverFull(capacity: capacity)
        if error != lastFailure { emit(.serverFull) }
        guard hasBeenUp else { return leaveServer(reason: error.description, failing: error) }
        directives += [.publish(will), .close]
        fail(error, now, isLinkThere: false)
    }

    private var serverCapacity: Int? { [settings.serverCapacity, limits.serverCapacity].compactMap(\.self).min() }
}

/// Outgoing and incoming messages.
extension SharingMachine {
    /// Whether a position would have a recipient.
    var canShare: Bool { phase == .up && (homeAssistant != nil || memberships.values.contains(.joined)) }

    /// Publishes the newest position, unless the interval since the last one isn't over.
    mutating func shareIfDue(_ now: Moment) {
        guard hasUnsharedPosition, canShare, now.instant >= nextShare, let latest else { return }
        hasUnsharedPosition = false
        nextShare = now.instant.advanced(by: settings.interval)
        for room in memberships.keys.sorted() where memberships[room] == .joined {
            let position = shared(latest, in: room)
            let isChecked = checkedRooms[room].map { $0.duration(to: now.instant) < Self.checkInterval } ?? false
            if !isChecked { checkedRooms[room] = now.instant }
            publish(
                .position(room: room, device), SharingPayload.bytes(position, sequence: nextSequence(now)),
                quality: isChecked ? .atMostOnce : .atLeastOnce)
        }
        if homeAssistant != nil {
            let bytes = SharingPayload.locationBytes(shared(latest, in: ""))
            let topic = topics.name(.location(device))
            directives.append(.publish(MQTTMessage(topic: topic, payload: bytes, isRetained: true)))
        }
    }

    private func shared(_ latest: (position: Position, level: Int?, date: Double), in room: String) -> SharedPosition {
        SharedPosition(latest.position, of: device, name: name, in: room, level: latest.level, sentAt: latest.date)
    }

    mutating func send(_ text: String, _ tag: String, _ room: String, _ now: Moment) {
        let message = SharedMessage(device: device, room: room, tag: tag, text: text, sentAt: now.date)
        publish(.message(room: room, device), SharingPayload.bytes(message, sequence: nextSequence(now)))
    }

    mutating func receive(_ message: MQTTMessage, _ now: Moment) {
        if let homeAssistant, message.topic == homeAssistant.birthTopic {
            // Home Assistant has started, and has received only retained messages.
            if message.payload.elementsEqual("online".utf8), !message.isRetained, phase == .up {
                configureHomeAssistant()
                if latest != nil { hasUnsharedPosition = true }
            }
            return
        }
        guard let topic = topics.topic(message.topic) else { return reject(message, "the topic is unknown", now) }
        do throws(SharingPayload.Defect) {
            switch topic {
            case .limits:
                guard settings.obeysBrokerLimits, settings.trust?.policy != .require else { return }
                // An invalid message leaves the limits as they were.
                limits = message.payload.isEmpty ? SharingPayload.Limits() : try SharingPayload.limits(message.payload)
            case .presence(device):
                receiveOwnPresence(ownPresence(message), isRetained: message.isRetained, now)
            case .presence(let other):
                guard let isVerified = accept(message, of: other, isPresence: true, now) else { return }
                let presence = message.payload.isEmpty ? nil : try SharingPayload.presence(message.payload, of: other)
                updatePresence(other, presence, isVerified)
            case .position(let room, let other) where other != device && memberships[room] == .joined:
                guard accept(message, of: other, now) != nil else { return }
                let position = try SharingPayload.position(message.payload, of: other, in: room)
                presences.touch(other)
                emit(.position(position))
            case .message(let room, let other) where other != device && memberships[room] == .joined:
                guard accept(message, of: other, now) != nil else { return }
                let text = try SharingPayload.message(message.payload, of: other, in: room)
                presences.touch(other)
                emit(.message(text))
            case .position, .message, .location: break
            }
        } catch { reject(message, error.description, now) }
    }

    /// Checks the signature of a message, if there is a list of trusted devices.
    ///
    /// - Returns: Whether the message has a verified signature; nil if it must be ignored.
    private mutating func accept(
        _ message: MQTTMessage, of other: DeviceID, isPresence: Bool = false, _ now: Moment
    ) -> Bool? {
        switch check?.check(message, of: other, isPresence: isPresence, at: now.date) {
        case nil: return false
        case .accepted(let isVerified): return isVerified
        case .rejected(let reason, let isFirst):
            if isFirst {
                emit(.failed(LocalizationError(MQTTSharingError.untrusted(other, reason: reason))))
            }
            return nil
        }
    }

    private mutating func updatePresence(
        _ other: DeviceID, _ presence: SharingPayload.Presence?, _ isVerified: Bool
    ) {
        let near = Set(memberships.filter { $0.value == .joined }.keys)
        let change = presences.update(
            other, in: presence.map { Set($0.rooms) }, isVerified: isVerified, near: near)
        markDirty(change.entered.union(change.left))
        // Send the position to a device that enters.
        if latest != nil, change.entered.contains(where: { memberships[$0] == .joined }) { hasUnsharedPosition = true }
    }

    private mutating func reject(_ message: MQTTMessage, _ reason: String, _ now: Moment) {
        malformedCount += 1
        // Report at most once a second, so that a flood of malformed messages doesn't displace other events.
        if let last = malformedReportedAt, last.duration(to: now.instant) < .seconds(1) { return }
        malformedReportedAt = now.instant
        let error = MQTTSharingError.malformed(
            topic: String(message.topic.prefix(256)), reason: reason, count: malformedCount)
        emit(.failed(LocalizationError(error)))
    }

    mutating func configureHomeAssistant() {
        guard let homeAssistant else { return }
        directives += homeAssistant.configuration.map { .publish($0) }
    }

    mutating func withdrawFromHomeAssistant() {
        guard phase == .up, let homeAssistant else { return }
        directives += homeAssistant.removal.map { .publish($0) }
        directives.append(.publish(MQTTMessage(topic: topics.name(.location(device)), payload: [], isRetained: true)))
    }
}
