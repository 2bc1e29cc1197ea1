import IndoorVocabulary
import LocalizationSession

/// This device's own presence, which other clients may replace or remove.
extension SharingMachine {
    mutating func publishPresence(_ now: Moment) {
        let rooms = memberships.filter { room in
            switch room.value {
            case .asked, .refused: false
            case .granted, .joined: true
            }
        }.keys.sorted()
        let presence = SharingPayload.Presence(
            device: device.rawValue, name: name, session: session, rooms: rooms, sentAt: now.date,
            sequence: nextSequence(now))
        // The broker sends each of these presences back. If it drops some, the oldest entries are obsolete.
        publishedRooms = publishedRooms.suffix(SharingPayload.mostRooms) + [rooms]
        echoDue = now.instant.advanced(by: Self.echoPause)
        refreshDue = now.instant.advanced(by: Self.refreshInterval)
        publish(.presence(device), SharingPayload.bytes(presence), isRetained: true)
    }

    /// Returns the presence of a message under the topic of this device's presence; nil if this device didn't publish
    /// it in this session.
    func ownPresence(_ message: MQTTMessage) -> SharingPayload.Presence? {
        guard let presence = try? SharingPayload.presence(message.payload, of: device), presence.session == session,
            presence.name == name
        else { return nil }
        guard let key = settings.signingKey?.publicKey else { return presence }
        return SignedPayload.verify(message.payload, topic: message.topic, by: key) == .valid ? presence : nil
    }

    /// Handles a message under the topic of this device's presence.
    ///
    /// - Parameter presence: The presence, if this device published it in this session.
    mutating func receiveOwnPresence(_ presence: SharingPayload.Presence?, isRetained: Bool, _ now: Moment) {
        guard let presence, let index = publishedRooms.lastIndex(of: presence.rooms) else {
            return losePresence(isRetained: isRetained, now)
        }
        publishedRooms.removeFirst(index)
        if publishedRooms.count == 1 {
            echoDue = nil
            presenceDue = nil
        }
        switch phase {
        case .entering: enter(presence.rooms, now)
        case .up: admit(presence.rooms, now)
        case .idle, .opening, .subscribing, .pausing: break
        }
    }

    /// Handles a presence of this device that another client published or removed.
    private mutating func losePresence(isRetained: Bool, _ now: Moment) {
        switch phase {
        // Before the device has asked the broker for its own presence, a retained presence is older than this
        // connection.
        case .entering where !isRetained || echoRequests > 0: break
        case .up: break
        case .idle, .opening, .subscribing, .entering, .pausing: return
        }
        // Wait before publishing again, so that two programs with the same device ID don't do so endlessly.
        guard presenceDue == nil else { return }
        let (pause, isReported) = contest.lose(at: now.instant)
        presenceDue = now.instant.advanced(by: max(pause, MQTTSharingSettings.refreshInterval))
        if isReported { emit(.failed(LocalizationError(MQTTSharingError.deviceTaken(device)))) }
    }

    mutating func restateIfDue(_ now: Moment) {
        if [presenceDue, refreshDue].contains(where: { $0.map { now.instant >= $0 } ?? false }) {
            presenceDue = nil
            publishPresence(now)
        }
        if let due = echoDue, now.instant >= due {
            echoDue = now.instant.advanced(by: Self.echoPause * (2 << min(echoRequests, 5)))
            echoRequests += 1
            // The broker sends the retained message of a topic after each subscription.
            directives.append(.subscribe(topics.name(.presence(device)), .atLeastOnce))
        }
    }
}

/// Publishing with signatures.
extension SharingMachine {
    /// Returns the sequence of the next signed message; nil without a key.
    mutating func nextSequence(_ now: Moment) -> Int? {
        guard settings.signingKey != nil else { return nil }
        // The clock may have been set back, or two messages may follow each other within a microsecond.
        sequence = max(sequence + 1, Int(clamping: Int64(max(0, min(now.date, 9e9)) * 1e6)))
        return sequence
    }

    /// Publishes a payload, with a signature if the device has a key.
    mutating func publish(
        _ topic: SharingTopic, _ payload: [UInt8], quality: MQTTMessage.Quality = .atLeastOnce,
        isRetained: Bool = false
    ) {
        let name = topics.name(topic)
        let signed = settings.signingKey.map { SignedPayload.sign(payload, topic: name, with: $0) } ?? payload
        directives.append(
            .publish(MQTTMessage(topic: name, payload: signed, quality: quality, isRetained: isRetained)))
    }
}
