import IndoorLocalization

/// Rooms of devices: coming in, leaving, and how many are there.
extension SharingMachine {
    mutating func join(_ room: String, _ reply: Reply, _ now: Moment) {
        guard phase == .up else { return answer(reply, .notConnected) }
        switch memberships[room] {
        case .joined: return answer(reply)
        case .asked(let since, let other?), .granted(let since, let other?):
            // The later of two who ask gets the answer, the earlier one that it is under way.
            answer(other)
            memberships[room] = memberships[room].map {
                $0.isGranted ? .granted(since: since, reply) : .asked(since: since, reply)
            }
        case .asked(let since, nil): memberships[room] = .asked(since: since, reply)
        case .granted(let since, nil): memberships[room] = .granted(since: since, reply)
        case nil:
            guard memberships.count < SharingPayload.mostRooms else { return answer(reply, .tooManyRooms) }
            if let capacity = capacity(of: room), book.count(in: room) >= capacity {
                return refuse(room, capacity, reply)
            }
            ask(room, reply, now)
            publishPresence(now)
        }
    }

    mutating func ask(_ room: String, _ reply: Reply?, _ now: Moment) {
        memberships[room] = .asked(since: now.instant, reply)
    }

    mutating func leave(_ room: String, _ now: Moment) {
        guard let membership = memberships.removeValue(forKey: room) else { return }
        answer(membership.reply, .notInRoom(room))
        if membership == .joined { tell(.left(room: room)) }
        markDirty([room])
        guard phase == .up else { return }
        if membership.isGranted { directives.append(.unsubscribe(topics.filter(ofRoom: room))) }
        publishPresence(now)
    }

    /// The own presence with these rooms came back: those who were in them before this device are known.
    mutating func admit(_ rooms: [String], _ now: Moment) {
        var isRefused = false
        for room in rooms {
            guard case .asked(let since, let reply) = memberships[room] else { continue }
            if let capacity = capacity(of: room), book.count(in: room) >= capacity {
                memberships[room] = nil
                refuse(room, capacity, reply)
                isRefused = true
            } else {
                memberships[room] = .granted(since: since, reply)
                // Positions are superseded by the next one, but texts come with the same subscription.
                directives.append(.subscribe(topics.filter(ofRoom: room), .atLeastOnce))
            }
        }
        if isRefused { publishPresence(now) }
    }

    private mutating func refuse(_ room: String, _ capacity: Int, _ reply: Reply?) {
        tell(.roomFull(room: room, capacity: capacity))
        answer(reply, .roomFull(room, capacity: capacity))
    }

    mutating func noteSubscription(_ filter: String, _ isGranted: Bool, _ now: Moment) {
        for (room, membership) in memberships where topics.filter(ofRoom: room) == filter {
            guard case .granted(_, let reply) = membership else { continue }
            guard isGranted else { return drop(room, reply, .forbidden(topic: filter), now) }
            memberships[room] = .joined
            tell(.joined(room: room))
            answer(reply)
            toldOccupancy[room] = nil
            markDirty([room])
            if latest != nil { hasNews = true }
        }
    }

    /// Gives up rooms that the broker does not let this device into.
    mutating func giveUpRooms(_ now: Moment) {
        for (room, membership) in memberships {
            switch membership {
            case .asked(let since, let reply) where isOver(since, now):
                drop(room, reply, .forbidden(topic: topics.name(.presence(device))), now)
            case .granted(let since, let reply) where isOver(since, now):
                drop(room, reply, .noAnswer(to: "to subscribe"), now)
            case .asked, .granted, .joined: break
            }
        }
    }

    private mutating func drop(_ room: String, _ reply: Reply?, _ error: MQTTSharingError, _ now: Moment) {
        memberships[room] = nil
        answer(reply, error)
        if reply == nil { tell(.failed(LocalizationError(error))) }
        publishPresence(now)
    }

    private func capacity(of room: String) -> Int? {
        [settings.roomCapacity, limits.rooms?[room] ?? limits.roomCapacity].compactMap(\.self).min()
    }
}

/// How many devices are where.
extension SharingMachine {
    /// This device, if it is there, and the others.
    package func occupancy(of room: String) -> Int { book.count(in: room) + (memberships[room] == .joined ? 1 : 0) }

    private func isWatched(_ room: String) -> Bool { trackedRooms.contains(room) || memberships[room] == .joined }

    mutating func markDirty(_ rooms: Set<String>) { dirtyRooms.formUnion(rooms.filter(isWatched)) }

    mutating func tellOccupancyIfDue(_ now: Moment) {
        guard phase == .up, !dirtyRooms.isEmpty else { return }
        if let last = lastOccupancy, last.duration(to: now.instant) < MQTTSharingSettings.refreshInterval { return }
        for room in dirtyRooms.sorted() where isWatched(room) && toldOccupancy[room] != occupancy(of: room) {
            tellOccupancy(of: room)
            lastOccupancy = now.instant
        }
        dirtyRooms = []
    }

    private mutating func tellOccupancy(of room: String) {
        toldOccupancy[room] = occupancy(of: room)
        tell(.occupancy(room: room, devices: occupancy(of: room)))
    }

    /// Tells of every room that this device is in or tracks how many devices are there.
    ///
    /// - Returns: what is to be done; nil if there is no connection, or the last refresh was less than half a second ago.
    package mutating func refresh(at now: Moment) -> [Directive]? {
        guard phase == .up else { return nil }
        if let last = lastRefresh, last.duration(to: now.instant) < MQTTSharingSettings.refreshInterval { return nil }
        lastRefresh = now.instant
        lastOccupancy = now.instant
        dirtyRooms = []
        let joined = memberships.filter { $0.value == .joined }.keys
        for room in trackedRooms.union(joined).sorted() { tellOccupancy(of: room) }
        defer { directives = [] }
        return directives
    }

    mutating func forgetOccupancy() {
        dirtyRooms = []
        lastRefresh = nil
    }
}

extension SharingMachine.Membership {
    /// Whether the room's topics are subscribed to, or will be.
    var isGranted: Bool {
        switch self {
        case .asked: false
        case .granted, .joined: true
        }
    }
}
