import IndoorVocabulary
import LocalizationSession

/// What a link to a broker tells, as `MQTTLink` does.
package enum MQTTLinkEvent: Hashable, Sendable {
    /// The broker lets this client in.
    case accepted
    case subscribed(filter: String, isGranted: Bool)
    case received(MQTTMessage)
    /// The broker has the message whose confirmation was asked for.
    case confirmed
    /// Nothing follows.
    case ended(MQTTSharingError)
}

/// Coming to the server, staying there, and leaving it.
extension SharingMachine {
    mutating func connect(_ reply: Reply, _ now: Moment) {
        if phase == .up { return answer(reply) }
        connecting.append(reply)
        // Else an attempt is under way, or will be.
        if phase == .idle { open(now) }
    }

    private mutating func open(_ now: Moment) {
        phase = .opening(since: now.instant)
        session = String(generator.next(), radix: 16)
        book = PresenceTracker()
        limits = SharingPayload.Limits()
        directives.append(.open(session: session))
    }

    mutating func disconnect() {
        guard phase != .idle else { return }
        leaveServer(reason: "left on request", failing: .notConnected)
    }

    /// Leaves the server for good, with a goodbye.
    ///
    /// - Parameter keepsPresence: whether what is retained under this device's topic belongs to somebody else.
    private mutating func leaveServer(
        reason: String, failing error: MQTTSharingError, keepsPresence: Bool = false
    ) {
        switch phase {
        case .up, .entering:
            if !keepsPresence { directives.append(.publish(will)) }
            directives.append(.close)
        case .opening, .subscribing: directives.append(.abandon)
        case .idle, .pausing: break
        }
        let wasConnected = hasBeenUp
        for room in memberships.keys.sorted() where memberships[room] == .joined { tell(.left(room: room)) }
        becomeIdle(failing: error)
        if wasConnected { tell(.disconnected(reason: reason)) }
    }

    private mutating func becomeIdle(failing error: MQTTSharingError) {
        phase = .idle
        hasBeenUp = false
        lastFailure = nil
        presenceDue = nil
        for reply in connecting { answer(reply, error) }
        connecting = []
        for reply in memberships.values.flatMap(\.replies).sorted() { answer(reply, error) }
        memberships = [:]
        forgetOccupancy()
        toldOccupancy = [:]
    }

    mutating func take(_ event: MQTTLinkEvent, _ now: Moment) {
        switch (event, phase) {
        case (.accepted, .opening(let since)):
            var filters: Set<String> = [topics.presenceFilter, topics.name(.limits)]
            if let homeAssistant { filters.insert(homeAssistant.birthTopic) }
            // Those of an earlier connection.
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
                for room in memberships.keys { memberships[room] = .granted(since: now.instant, []) }
                publishPresence(now)
            }
        case (.subscribed(let filter, let isGranted), .up): noteSubscription(filter, isGranted, now)
        case (.received(let message), .subscribing), (.received(let message), .entering), (.received(let message), .up):
            receive(message, now)
        case (.ended(let error), .opening), (.ended(let error), .subscribing), (.ended(let error), .entering),
            (.ended(let error), .up):
            fail(error, now, isLinkThere: false)
        case (_, .idle), (_, .pausing), (.accepted, _), (.subscribed, _), (.received, .opening), (.confirmed, _):
            // Of a link that was left, or what no broker says then; sharing asks for no confirmations.
            break
        }
    }

    /// The connection cannot be had, or is lost: tries again if it was there once.
    mutating func fail(_ error: MQTTSharingError, _ now: Moment, isLinkThere: Bool = true) {
        if isLinkThere { directives.append(.abandon) }
        guard hasBeenUp else { return becomeIdle(failing: error) }
        if phase == .up {
            tell(.disconnected(reason: error.description))
        } else if error != lastFailure {
            tell(.failed(LocalizationError(error)))
        }
        lastFailure = error
        presenceDue = nil
        for reply in connecting { answer(reply, error) }
        connecting = []
        phase = .pausing(until: now.instant.advanced(by: backoff.next()))
        for (room, membership) in memberships {
            for reply in membership.replies { answer(reply, error) }
            // Rooms that this device was in are joined again; others were asked for in vain.
            memberships[room] = membership.replies.isEmpty ? .asked(since: now.instant, []) : nil
        }
        forgetOccupancy()
    }

    mutating func tick(_ now: Moment) {
        switch phase {
        case .opening(let since) where isOver(since, now): fail(noAnswer("to be let in"), now)
        case .subscribing(let since, _) where isOver(since, now): fail(noAnswer("to subscribe"), now)
        case .entering(let since) where isOver(since, now):
            // A broker that forbids to publish says nothing.
            fail(.forbidden(topic: topics.name(.presence(device))), now)
        case .pausing(let until) where now.instant >= until: open(now)
        case .up:
            giveUpRooms(now)
            if let due = presenceDue, now.instant >= due {
                presenceDue = nil
                publishPresence(now)
            }
        case .idle, .opening, .subscribing, .entering, .pausing: break
        }
    }

    func isOver(_ since: Instant, _ now: Moment) -> Bool { now.instant >= since.advanced(by: settings.patience) }

    func noAnswer(_ question: String) -> MQTTSharingError {
        .noAnswer(host: broker.host, port: broker.port, to: question)
    }

    mutating func publishPresence(_ now: Moment) {
        let rooms = memberships.filter { room in if case .asked = room.value { false } else { true } }.keys
        let presence = SharingPayload.Presence(
            device: device.rawValue, name: name, session: session, rooms: rooms.sorted(), sentAt: now.date)
        directives.append(
            .publish(
                MQTTMessage(
                    topic: topics.name(.presence(device)), payload: SharingPayload.bytes(presence), isRetained: true)))
    }

    /// The own presence, as the broker has it.
    mutating func takeOwnPresence(_ presence: SharingPayload.Presence?, _ now: Moment) {
        switch phase {
        case .entering where presence?.session == session:
            if let capacity = serverCapacity, book.deviceCount >= capacity {
                tell(.serverFull)
                return leaveServer(
                    reason: MQTTSharingError.serverFull(capacity: capacity).description,
                    failing: .serverFull(capacity: capacity))
            }
            enter()
            admit(presence?.rooms ?? [], now)
        case .up where presence == nil:
            // The will of an earlier connection, of which the broker knew late that it is gone. Not at once, lest two that
            // remove and publish keep each other busy.
            presenceDue = presenceDue ?? now.instant.advanced(by: MQTTSharingSettings.refreshInterval)
        case .up where presence?.session == session: admit(presence?.rooms ?? [], now)
        case .up:
            let error = MQTTSharingError.deviceTaken(device)
            tell(.failed(LocalizationError(error)))
            leaveServer(reason: error.description, failing: error, keepsPresence: true)
        case .idle, .opening, .subscribing, .entering, .pausing: break
        }
    }

    private mutating func enter() {
        phase = .up
        hasBeenUp = true
        lastFailure = nil
        backoff.reset()
        tell(.connected)
        for reply in connecting { answer(reply) }
        connecting = []
        configureHomeAssistant()
        if latest != nil { hasNews = true }
        markDirty(trackedRooms)
    }

    private var serverCapacity: Int? { [settings.serverCapacity, limits.serverCapacity].compactMap(\.self).min() }
}
