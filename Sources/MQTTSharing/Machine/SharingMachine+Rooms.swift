import IndoorVocabulary
import LocalizationSession

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
