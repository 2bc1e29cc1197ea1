/// Watches areas of one kind, rooms or fences: which of them the device is in, with dwell and hold-off.
package struct AreaMachine: Hashable, Sendable {
    /// An area to watch.
    package struct Watched: Hashable, Sendable {
        package var id: Int
        package var mapID: MapID
        package var area: Area
        /// After an exit that was told, entering again is silent for this long.
        package var holdOff: Duration

        package init(id: Int, mapID: MapID, area: Area, holdOff: Duration = .zero) {
            self.id = id
            self.mapID = mapID
            self.area = area
            self.holdOff = holdOff
        }
    }

    /// What changed, with the area's number.
    package enum Change: Hashable, Sendable {
        case enter(Int)
        case exit(Int)
    }

    private struct Presence: Hashable, Sendable {
        var isInside = false
        /// Whether the entry was announced; one within the hold-off is not, nor is its exit.
        var isAnnounced = false
        var changingSince: Instant?
        var lastExit: Instant?
    }

    private let watched: [Watched]
    private let dwell: Duration
    private var presences: [Presence]

    /// Creates a machine that believes the device outside all areas.
    package init(watched: [Watched], dwell: Duration) {
        self.watched = watched
        self.dwell = dwell
        presences = Array(repeating: Presence(), count: watched.count)
    }

    /// Takes in where the device is; returns exits before entries, each in the order of the areas.
    package mutating func observe(_ point: MapPoint, on map: MapID, at now: Instant) -> [Change] {
        var exits: [Change] = []
        var entries: [Change] = []
        for (index, area) in watched.enumerated() {
            let isInside = area.mapID == map && area.area.contains(point)
            guard isInside != presences[index].isInside else {
                presences[index].changingSince = nil
                continue
            }
            let since = presences[index].changingSince ?? now
            presences[index].changingSince = since
            guard since.duration(to: now) >= dwell, let change = turn(index, isInside, now) else { continue }
            if isInside { entries.append(change) } else { exits.append(change) }
        }
        return exits + entries
    }

    private mutating func turn(_ index: Int, _ isInside: Bool, _ now: Instant) -> Change? {
        presences[index].isInside = isInside
        presences[index].changingSince = nil
        if isInside {
            let pause = presences[index].lastExit.map { $0.duration(to: now) }
            presences[index].isAnnounced = pause.map { $0 >= watched[index].holdOff } ?? true
            return presences[index].isAnnounced ? .enter(watched[index].id) : nil
        }
        guard presences[index].isAnnounced else { return nil }
        presences[index].isAnnounced = false
        presences[index].lastExit = now
        return .exit(watched[index].id)
    }

    /// Leaves every area at once, as when the venue is lost.
    package mutating func leaveAll(at now: Instant) -> [Change] {
        watched.indices.compactMap { index in
            presences[index].changingSince = nil
            return presences[index].isInside ? turn(index, false, now) : nil
        }
    }
}
