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
            directives.append(
                .publish(
                    MQTTMessage(
                        topic: topics.name(.position(room: room, device)), payload: SharingPayload.bytes(position),
                        quality: .atMostOnce)))
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
        directives.append(
            .publish(
                MQTTMessage(topic: topics.name(.message(room: room, device)), payload: SharingPayload.bytes(message))))
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
                limits = message.payload.isEmpty ? SharingPayload.Limits() : try SharingPayload.limits(message.payload)
            case .presence(let other):
                let presence = message.payload.isEmpty ? nil : try SharingPayload.presence(message.payload, of: other)
                if other == device { receiveOwnPresence(presence, now) } else { updatePresence(other, presence, now) }
            case .position(let room, let other) where other != device && memberships[room] == .joined:
                emit(.position(try SharingPayload.position(message.payload, of: other, in: room)))
            case .message(let room, let other) where other != device && memberships[room] == .joined:
                emit(.message(try SharingPayload.message(message.payload, of: other, in: room)))
            case .position, .message, .location: break
            }
        } catch { reject(message, error.description, now) }
    }

    private mutating func updatePresence(_ other: DeviceID, _ presence: SharingPayload.Presence?, _ now: Moment) {
        guard let change = presences.update(other, in: presence.map { Set($0.rooms) }) else { return }
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
