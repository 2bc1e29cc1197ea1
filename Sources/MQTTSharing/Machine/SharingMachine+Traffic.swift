import IndoorVocabulary
import LocalizationSession
import VenueModel

/// What goes out and what comes in.
extension SharingMachine {
    /// Whether a position would reach anybody.
    var canShare: Bool { phase == .up && (homeAssistant != nil || memberships.values.contains(.joined)) }

    /// Tells the newest position, unless one was told a moment ago.
    mutating func shareIfDue(_ now: Moment) {
        guard hasNews, canShare, now.instant >= nextShare, let latest else { return }
        hasNews = false
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
            // It has started, and knows only what was retained.
            if message.payload.elementsEqual("online".utf8), !message.isRetained, phase == .up {
                configureHomeAssistant()
                if latest != nil { hasNews = true }
            }
            return
        }
        guard let topic = topics.topic(message.topic) else { return reject(message, "the topic names nothing", now) }
        do throws(SharingPayload.Defect) {
            switch topic {
            case .limits:
                limits = message.payload.isEmpty ? SharingPayload.Limits() : try SharingPayload.limits(message.payload)
            case .presence(let other):
                let presence = message.payload.isEmpty ? nil : try SharingPayload.presence(message.payload, of: other)
                if other == device { takeOwnPresence(presence, now) } else { note(other, presence, now) }
            case .position(let room, let other) where other != device && memberships[room] == .joined:
                tell(.position(try SharingPayload.position(message.payload, of: other, in: room)))
            case .message(let room, let other) where other != device && memberships[room] == .joined:
                tell(.message(try SharingPayload.message(message.payload, of: other, in: room)))
            case .position, .message, .location: break
            }
        } catch { reject(message, error.description, now) }
    }

    private mutating func note(_ other: DeviceID, _ presence: SharingPayload.Presence?, _ now: Moment) {
        guard let change = book.note(other, in: presence.map { Set($0.rooms) }) else { return }
        markDirty(change.entered.union(change.left))
        // Whoever comes in wants to know where this device is.
        if latest != nil, change.entered.contains(where: { memberships[$0] == .joined }) { hasNews = true }
    }

    private mutating func reject(_ message: MQTTMessage, _ reason: String, _ now: Moment) {
        malformedCount += 1
        // Told once a second, lest a flood of them washes away what can be read.
        if let last = lastMalformedTold, last.duration(to: now.instant) < .seconds(1) { return }
        lastMalformedTold = now.instant
        let error = MQTTSharingError.malformed(
            topic: String(message.topic.prefix(256)), reason: reason, count: malformedCount)
        tell(.failed(LocalizationError(error)))
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
