import IndoorVocabulary
import LocalizationSession
import VenueModel

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
