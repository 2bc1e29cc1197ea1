import IndoorVocabulary
import LocalizationSession

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
            // A broker that denies publishing doesn't answer.
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
