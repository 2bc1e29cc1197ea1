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

/// Joining and leaving rooms.
extension SharingMachine {
    mutating func join(_ room: String, _ reply: Reply, _ now: Moment) {
        guard phase == .up else { return answer(reply, .notConnected) }
        switch memberships[room] {
        case .joined: return answer(reply)
        case .asked(let since, let replies): memberships[room] = .asked(since: since, replies + [reply])
        case .granted(let since, let replies): memberships[room] = .granted(since: since, replies + [reply])
        case nil, .refused:
            guard memberships[room] != nil || memberships.count < SharingPayload.mostRooms else {
                return answer(reply, .tooManyRooms)
            }
            if let capacity = capacity(of: room), presences.count(in: room) >= capacity {
                return refuse(room, capacity, [reply])
            }
            memberships[room] = .asked(since: now.instant, [reply])
            // Subscribe before publishing the presence, because the devices in the room answer it with their positions.
            directives.append(.subscribe(topics.filter(ofRoom: room), .atLeastOnce))
        }
    }

    mutating func leave(_ room: String, _ now: Moment) {
        guard let membership = memberships.removeValue(forKey: room) else { return }
        for reply in membership.replies { answer(reply, .notInRoom(room)) }
        if membership == .joined { emit(.left(room: room)) }
        markDirty([room])
        guard phase == .up else { return }
        directives.append(.unsubscribe(topics.filter(ofRoom: room)))
        publishPresence(now)
    }

    /// Handles the broker's answer to the subscription to a room.
    mutating func handleSubscription(_ filter: String, _ isGranted: Bool, _ now: Moment) {
        for (room, membership) in memberships where topics.filter(ofRoom: room) == filter {
            guard case .asked(let since, let replies) = membership else { continue }
            memberships[room] = .granted(since: since, replies)
            if isGranted { publishPresence(now) } else { drop(room, .forbidden(topic: filter), now) }
        }
    }

    /// Handles the rooms in this device's own presence, which the broker sent back: the devices that were in the rooms
    /// before this one are now known.
    mutating func admit(_ rooms: [String], _ now: Moment) {
        var isRefused = false
        for room in rooms {
            guard case .granted(_, let replies) = memberships[room] else { continue }
            if let capacity = capacity(of: room), presences.count(in: room) >= capacity {
                // No caller waits for a room that was joined before the connection broke: the device asks again.
                memberships[room] = replies.isEmpty ? .refused(until: now.instant.advanced(by: Self.roomPause)) : nil
                directives.append(.unsubscribe(topics.filter(ofRoom: room)))
                refuse(room, capacity, replies)
                isRefused = true
            } else {
                memberships[room] = .joined
                reportedRefusals.remove(room)
                emit(.joined(room: room))
                for reply in replies { answer(reply) }
                reportedOccupancy[room] = nil
                markDirty([room])
                if latest != nil { hasUnsharedPosition = true }
            }
        }
        if isRefused { publishPresence(now) }
    }

    private mutating func refuse(_ room: String, _ capacity: Int, _ replies: [Reply]) {
        if !replies.isEmpty || reportedRefusals.insert(room).inserted {
            emit(.roomFull(room: room, capacity: capacity))
        }
        for reply in replies { answer(reply, .roomFull(room, capacity: capacity)) }
    }

    /// Gives up rooms for which the broker's answer is overdue, and asks again for rooms that were refused.
    mutating func giveUpRooms(_ now: Moment) {
        for (room, membership) in memberships {
            switch membership {
            case .asked(let since, _) where isOver(since, now): drop(room, noAnswer("to the subscription"), now)
            case .granted(let since, _) where isOver(since, now):
                drop(room, .forbidden(topic: topics.name(.presence(device))), now)
            case .refused(let until) where now.instant >= until:
                memberships[room] = .asked(since: now.instant, [])
                directives.append(.subscribe(topics.filter(ofRoom: room), .atLeastOnce))
            case .asked, .granted, .joined, .refused: break
            }
        }
    }

    /// Gives up a room that this device hasn't joined yet.
    mutating func drop(_ room: String, _ error: MQTTSharingError, _ now: Moment) {
        let replies = memberships.removeValue(forKey: room)?.replies ?? []
        for reply in replies { answer(reply, error) }
        // No caller waits for a room that was joined before the connection broke: the device asks again.
        if replies.isEmpty {
            memberships[room] = .refused(until: now.instant.advanced(by: Self.roomPause))
            if reportedRefusals.insert(room).inserted { emit(.failed(LocalizationError(error))) }
        }
        directives.append(.unsubscribe(topics.filter(ofRoom: room)))
        if phase == .up { publishPresence(now) }
    }

    private func capacity(of room: String) -> Int? {
        [settings.roomCapacity, limits.rooms?[room] ?? limits.roomCapacity].compactMap(\.self).min()
    }
}

/// Occupancy of rooms.
extension SharingMachine {
    /// Returns the number of devices in a room, including this one.
    package func occupancy(of room: String) -> Int {
        presences.count(in: room) + (memberships[room] == .joined ? 1 : 0)
    }

    private func isWatched(_ room: String) -> Bool { trackedRooms.contains(room) || memberships[room] == .joined }

    mutating func markDirty(_ rooms: Set<String>) { dirtyRooms.formUnion(rooms.filter(isWatched)) }

    mutating func reportOccupancyIfDue(_ now: Moment) {
        guard phase == .up, !dirtyRooms.isEmpty else { return }
        if let last = lastOccupancy, last.duration(to: now.instant) < MQTTSharingSettings.refreshInterval { return }
        for room in dirtyRooms.sorted() where isWatched(room) && reportedOccupancy[room] != occupancy(of: room) {
            reportOccupancy(of: room)
            lastOccupancy = now.instant
        }
        dirtyRooms = []
    }

    private mutating func reportOccupancy(of room: String) {
        reportedOccupancy[room] = occupancy(of: room)
        emit(.occupancy(room: room, devices: occupancy(of: room)))
    }

    /// Reports the number of devices in every room that this device is in or tracks.
    ///
    /// - Returns: The directives to perform; nil without a connection, or within half a second of the last refresh.
    package mutating func refresh(at now: Moment) -> [Directive]? {
        guard phase == .up else { return nil }
        if let last = lastRefresh, last.duration(to: now.instant) < MQTTSharingSettings.refreshInterval { return nil }
        lastRefresh = now.instant
        lastOccupancy = now.instant
        dirtyRooms = []
        let joined = memberships.filter { $0.value == .joined }.keys
        for room in trackedRooms.union(joined).sorted() { reportOccupancy(of: room) }
        defer { directives = [] }
        return directives
    }

    mutating func forgetOccupancy() {
        dirtyRooms = []
        lastRefresh = nil
    }
}

/// The other devices on the server and their rooms, from their retained presences.
///
/// A client with write access could publish any number of presences. The tracker therefore has a limit. Beyond it, the
/// tracker forgets devices so that a new device always has a place: first those that share no room with this device,
/// then those in its rooms, and last those with a verified signature. Within each group, it first forgets those that
/// sent nothing for the longest time.
struct PresenceTracker: Hashable, Sendable {
    /// The largest number of tracked devices.
    static let mostDevices = 10_000
    /// The largest number of rooms, summed over all devices.
    static let mostRooms = 40_000

    private struct Entry: Hashable, Sendable {
        var rooms: Set<String>
        var isVerified: Bool
        /// The number of the device's latest message.
        var seen: Int
    }

    /// A change of the tracked devices.
    struct Change: Hashable, Sendable {
        /// The rooms that the device entered.
        var entered: Set<String> = []
        /// The rooms that the device, or forgotten devices, left.
        var left: Set<String> = []
    }

    private var entries: [DeviceID: Entry] = [:]
    private var counts: [String: Int] = [:]
    private var roomCount = 0
    private var clock = 0
    /// The number of devices that were forgotten because of the limit.
    private(set) var forgottenCount = 0

    /// The number of other devices on the server.
    var deviceCount: Int { entries.count }

    /// Returns the number of other devices in a room.
    func count(in room: String) -> Int { counts[room] ?? 0 }

    /// Updates the rooms of a device; nil if it left the server.
    ///
    /// - Parameters:
    ///   - isVerified: Whether the presence has a verified signature.
    ///   - near: The rooms of this device.
    mutating func update(
        _ device: DeviceID, in new: Set<String>?, isVerified: Bool = false, near: Set<String> = []
    ) -> Change {
        clock += 1
        let old = entries[device]?.rooms ?? []
        entries[device] = new.map { Entry(rooms: $0, isVerified: isVerified, seen: clock) }
        var change = Change(entered: (new ?? []).subtracting(old), left: old.subtracting(new ?? []))
        for room in change.entered { counts[room, default: 0] += 1 }
        remove(change.left)
        roomCount += change.entered.count
        while entries.count > Self.mostDevices || roomCount > Self.mostRooms {
            change.left.formUnion(forgetSome(but: device, near))
        }
        return change
    }

    /// Records a message of a device, if it is tracked.
    mutating func touch(_ device: DeviceID) {
        clock += 1
        entries[device]?.seen = clock
    }

    private mutating func remove(_ rooms: Set<String>) {
        for room in rooms {
            let rest = count(in: room) - 1
            counts[room] = rest == 0 ? nil : rest
        }
        roomCount -= rooms.count
    }

    /// Forgets an eighth of the devices at once, so that not every device of a flood of new ones causes a sort.
    ///
    /// - Returns: The rooms of the forgotten devices.
    private mutating func forgetSome(but newest: DeviceID, _ near: Set<String>) -> Set<String> {
        func group(_ entry: Entry) -> Int { entry.isVerified ? 2 : entry.rooms.isDisjoint(with: near) ? 0 : 1 }
        let ranked = entries.filter { $0.key != newest }.map { (device: $0.key, group: group($0.value), $0.value.seen) }
            .sorted { ($0.group, $0.2) < ($1.group, $1.2) }
        // Forget devices of one group at a time, so that new devices of the first group don't displace those of the
        // others.
        let first = ranked.first?.group
        let chosen = ranked.prefix { $0.group == first }.prefix(max(1, entries.count / 8))
        var left: Set<String> = []
        for (device, _, _) in chosen {
            guard let entry = entries.removeValue(forKey: device) else { continue }
            remove(entry.rooms)
            left.formUnion(entry.rooms)
        }
        forgottenCount += chosen.count
        return left
    }
}

/// The contest for this device's own presence: another client keeps replacing or removing it.
///
/// The device publishes its presence again after a pause, which doubles up to a minute, so that two programs with the
/// same device ID don't replace each other's presence in a loop.
struct PresenceContest: Hashable, Sendable {
    /// The number of losses after which the device reports the contest.
    static let reportedLoss = 3
    /// The contest ends when the presence has stayed unchanged for this time.
    static let calm = Duration.seconds(180)

    private var backoff: Backoff
    private var losses = 0
    private var lastLoss: Instant?

    init(seed: UInt64) { backoff = Backoff(first: .seconds(1), seed: seed) }

    /// Records that the presence was replaced or removed.
    ///
    /// - Returns: The pause before the device publishes its presence again, and whether to report the contest: once
    ///   until it ends.
    mutating func lose(at now: Instant) -> (pause: Duration, isReported: Bool) {
        if let lastLoss, lastLoss.duration(to: now) > Self.calm {
            losses = 0
            backoff.reset()
        }
        lastLoss = now
        losses += 1
        return (backoff.next(), losses == Self.reportedLoss)
    }
}
