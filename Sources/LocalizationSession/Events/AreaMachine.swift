import IndoorVocabulary
import VenueModel

/// The detection of entries and exits for areas of one kind, rooms or fences, with dwell, margin and hold-off.
///
/// The machine uses the point of a position, not its uncertainty. The cost of a position is proportional to the corners
/// of the areas near it and of those that the device is in or about to enter, not to the number of areas. Without a
/// change, the machine allocates no memory.
package struct AreaMachine: Hashable, Sendable {
    /// An area to watch, on one map or on several.
    package struct Watched: Hashable, Sendable {
        /// An area on one map.
        package struct Place: Hashable, Sendable {
            package var mapID: MapID
            package var area: Area

            package init(mapID: MapID, area: Area) {
                self.mapID = mapID
                self.area = area
            }
        }

        package var id: Int
        /// The places of the area. A device that moves from one to another stays inside.
        package var places: [Place]
        /// The time after an announced exit during which another entry isn't announced.
        package var holdOff: Duration
        /// The time that the device must be outside before an exit; nil for the machine's dwell.
        package var exitDwell: Duration?
        /// The distance outside the area within which a device stays inside, in metres.
        package var exitMargin: Double

        package init(
            id: Int, mapID: MapID, area: Area, holdOff: Duration = .zero, exitDwell: Duration? = nil,
            exitMargin: Double = 0
        ) {
            self.init(
                id: id, places: [Place(mapID: mapID, area: area)], holdOff: holdOff, exitDwell: exitDwell,
                exitMargin: exitMargin)
        }

        package init(
            id: Int, places: [Place], holdOff: Duration = .zero, exitDwell: Duration? = nil, exitMargin: Double = 0
        ) {
            self.id = id
            self.places = places
            self.holdOff = holdOff
            self.exitDwell = exitDwell
            self.exitMargin = exitMargin
        }
    }

    /// An entry or an exit, with the area's number.
    package enum Change: Hashable, Sendable {
        case enter(Int)
        case exit(Int)
    }

    /// The state of an area that the device is in or about to enter.
    struct Presence: Hashable, Sendable {
        /// The index of the area among the watched ones.
        var index: Int
        var isInside = false
        /// Whether the entry was announced. An entry within the hold-off isn't, nor is its exit.
        var isAnnounced = false
        /// The instant since which the device has been on the other side, in observation time.
        var changingSince: Instant?
    }

    private let watched: [Watched]
    private let dwell: Duration
    private let areas: AreaIndex
    /// The watched area of each place in the area index.
    private let owners: [Int]
    /// The states in the order of the areas.
    private(set) var presences: [Presence] = []
    /// The latest exits from areas with a hold-off, by index.
    private(set) var lastExits: [Int: Instant] = [:]
    // Reused buffers, empty between two points.
    private(set) var found: [Int] = []
    private(set) var next: [Presence] = []

    /// Creates a machine for a device outside all areas.
    package init(watched: [Watched], dwell: Duration) {
        self.watched = watched
        self.dwell = dwell
        areas = AreaIndex(watched.flatMap { $0.places.map { ($0.mapID, $0.area) } })
        owners = watched.indices.flatMap { index in watched[index].places.map { _ in index } }
    }

    /// Replaces the watched areas. The device stays in an area that it has entered, even if the area's shape changes.
    ///
    /// - Parameter place: returns the new index for the old index of an area; nil if the area is no longer watched,
    ///   which causes no exit.
    package mutating func watch(_ watched: [Watched], _ place: (Int) -> Int?) {
        var next = AreaMachine(watched: watched, dwell: dwell)
        next.presences = presences.compactMap { presence in
            place(presence.index).map { index in
                var moved = presence
                moved.index = index
                return moved
            }
        }.sorted { $0.index < $1.index }
        for (index, exit) in lastExits { if let moved = place(index) { next.lastExits[moved] = exit } }
        self = next
    }

    /// Handles a position of the device; returns exits before entries, each in the order of the areas.
    ///
    /// - Parameters:
    ///   - isNew: whether a new reading contributed to the position. Without one, no entry and no exit begins, but one
    ///     that has begun continues.
    ///   - time: the current observation time, which measures dwells; nil if observation was never interrupted.
    package mutating func observe(
        _ point: MapPoint, on map: MapID, isNew: Bool = true, at now: Instant, watched time: Instant? = nil
    ) -> [Change] {
        areas.append(to: &found, containing: point, on: map)
        for place in found.indices { found[place] = owners[found[place]] }
        found.sort()
        var (exits, entries): ([Change], [Change]) = ([], [])
        // Both lists are in the order of the areas; each area in either of them is visited once.
        var (hit, known) = (0, 0)
        while hit < found.count || known < presences.count {
            let foundIndex = hit < found.count ? found[hit] : .max
            let knownIndex = known < presences.count ? presences[known].index : .max
            var presence = knownIndex <= foundIndex ? presences[known] : Presence(index: foundIndex)
            let isFound = foundIndex <= knownIndex
            if knownIndex <= foundIndex { known += 1 }
            // An area may have several places on one map.
            while isFound && hit < found.count && found[hit] == foundIndex { hit += 1 }
            let isInside = isFound || (presence.isInside && isWithinMargin(presence.index, point, map))
            switch update(&presence, isInside, isNew, now, watched: time ?? now) {
            case .enter(let id): entries.append(.enter(id))
            case .exit(let id): exits.append(.exit(id))
            case nil: break
            }
            if presence.isInside || presence.changingSince != nil { next.append(presence) }
        }
        swap(&presences, &next)
        next.removeAll(keepingCapacity: true)
        found.removeAll(keepingCapacity: true)
        return exits + entries
    }

    /// Returns whether the device is in an area that doesn't contain a point but is still likely.
    ///
    /// - Parameter isLikely: returns whether the area with a number is likely.
    func isInside(anAreaWithout point: MapPoint, on map: MapID, where isLikely: (Int) -> Bool) -> Bool {
        presences.contains { presence in
            presence.isInside && isLikely(watched[presence.index].id)
                && !watched[presence.index].places.contains { $0.mapID == map && $0.area.contains(point) }
        }
    }

    private func isWithinMargin(_ index: Int, _ point: MapPoint, _ map: MapID) -> Bool {
        let area = watched[index]
        return area.exitMargin > 0
            && area.places.contains { $0.mapID == map && $0.area.distance(to: point) <= area.exitMargin }
    }

    private mutating func update(
        _ presence: inout Presence, _ isInside: Bool, _ isNew: Bool, _ now: Instant, watched time: Instant
    ) -> Change? {
        guard isInside != presence.isInside else {
            presence.changingSince = nil
            return nil
        }
        guard isNew || presence.changingSince != nil else { return nil }
        let since = presence.changingSince ?? time
        presence.changingSince = since
        let needed = isInside ? dwell : watched[presence.index].exitDwell ?? dwell
        return since.duration(to: time) >= needed ? turn(&presence, isInside, now) : nil
    }

    private mutating func turn(_ presence: inout Presence, _ isInside: Bool, _ now: Instant) -> Change? {
        let index = presence.index
        presence.isInside = isInside
        presence.changingSince = nil
        if isInside {
            let pause = lastExits[index].map { $0.duration(to: now) }
            presence.isAnnounced = pause.map { $0 >= watched[index].holdOff } ?? true
            return presence.isAnnounced ? .enter(watched[index].id) : nil
        }
        guard presence.isAnnounced else { return nil }
        presence.isAnnounced = false
        if watched[index].holdOff > .zero { lastExits[index] = now }
        return .exit(watched[index].id)
    }

    /// Moves the exits to a timeline with another origin. The observation time stays.
    mutating func shift(by duration: Duration) { lastExits = lastExits.mapValues { $0.advanced(by: duration) } }

    /// Returns the areas for the session memory.
    package func memory(at now: Instant) -> AreaMemory {
        var memory = AreaMemory()
        for presence in presences where presence.isInside {
            memory.inside.append(.init(id: watched[presence.index].id, isAnnounced: presence.isAnnounced))
        }
        for (index, exit) in lastExits where exit.duration(to: now) < watched[index].holdOff {
            memory.exits[watched[index].id] = exit
        }
        return memory
    }

    /// Restores the areas of an earlier session; areas that are no longer watched are skipped.
    package mutating func begin(with memory: AreaMemory) {
        let announced = Dictionary(
            memory.inside.map { ($0.id, $0.isAnnounced) }, uniquingKeysWith: { first, _ in first })
        presences = []
        for (index, area) in watched.enumerated() {
            if let isAnnounced = announced[area.id] {
                presences.append(Presence(index: index, isInside: true, isAnnounced: isAnnounced))
            }
            lastExits[index] = memory.exits[area.id]
        }
    }

    /// Leaves all areas at once, for example when the venue is lost.
    package mutating func leaveAll(at now: Instant) -> [Change] {
        let left = presences
        presences.removeAll(keepingCapacity: true)
        return left.compactMap { presence in
            var presence = presence
            return presence.isInside ? turn(&presence, false, now) : nil
        }
    }
}

/// The areas of one kind that the device is in, and its recent exits.
package struct AreaMemory: Hashable, Sendable {
    /// An area that the device is in.
    package struct Inside: Hashable, Sendable {
        /// The area's number.
        package var id: Int
        /// Whether its entry was announced.
        package var isAnnounced: Bool

        package init(id: Int, isAnnounced: Bool) {
            self.id = id
            self.isAnnounced = isAnnounced
        }
    }

    /// The areas that the device is in, each once.
    package var inside: [Inside]
    /// The latest exits from areas with a hold-off, by number.
    package var exits: [Int: Instant]

    package init(inside: [Inside] = [], exits: [Int: Instant] = [:]) {
        self.inside = inside
        self.exits = exits
    }

    /// Returns this memory combined with one of areas with other numbers.
    func merging(_ other: AreaMemory) -> AreaMemory {
        AreaMemory(inside: inside + other.inside, exits: exits.merging(other.exits) { first, _ in first })
    }
}

extension AreaMachine {
    /// Creates a machine for the rooms of a venue. The number of a room is its index in the venue's list, so that the
    /// lookup takes constant time.
    package init(roomsOf venue: Venue, settings: LocalizationSettings) {
        self.init(
            watched: venue.rooms.enumerated().compactMap { place, room in
                room.area.map { AreaMachine.Watched(id: place, mapID: room.mapID, area: $0) }
            }, dwell: settings.areaDwell)
    }

    /// The room probability from which a device stays in its room although its point is in another one. Near a border,
    /// both rooms have about the same probability, and the point moves back and forth between them.
    package static let probabilityOfStaying = 0.3

    /// Returns whether the device may still be in its room, although its point has left it.
    package func isUndecided(between rooms: [Room], at position: Position) -> Bool {
        isInside(anAreaWithout: position.point, on: position.mapID) { place in
            position.rooms.contains { $0.id == rooms[place].id && $0.probability >= Self.probabilityOfStaying }
        }
    }

    /// Creates a machine for the fences of a venue. The number of a fence is its index in the venue's list.
    package init(fencesOf venue: Venue, settings: LocalizationSettings) {
        self.init(watched: Self.watched(venue.fences, settings), dwell: settings.areaDwell)
    }

    /// Returns the watched areas of a venue's fences.
    static func watched(_ fences: [Fence], _ settings: LocalizationSettings) -> [Watched] {
        fences.enumerated().map { place, fence in
            Watched(
                id: place, mapID: fence.mapID, area: fence.area, holdOff: fence.timeout ?? settings.fenceTimeout,
                exitDwell: fence.exitDelay, exitMargin: fence.exitMargin ?? 0)
        }
    }

    /// The size in bytes of the machine's own memory, without the areas, which copies of a machine share.
    package var byteCount: Int {
        MemoryLayout<Presence>.stride * (presences.capacity + next.capacity)
            + MemoryLayout<Int>.stride * found.capacity
            + (MemoryLayout<Int>.stride + MemoryLayout<Instant>.stride) * lastExits.capacity
    }
}

extension LocalizationEvent.Kind {
    /// Creates the kind of an entry into a room of a venue, or an exit from one.
    package init(_ change: AreaMachine.Change, ofRoomIn venue: Venue) {
        switch change {
        case .enter(let place): self = .enterRoom(venue.rooms[place])
        case .exit(let place): self = .exitRoom(venue.rooms[place])
        }
    }

    /// Creates the kind of an entry into a fence of a venue, or an exit from one.
    package init(_ change: AreaMachine.Change, ofFenceIn venue: Venue) {
        switch change {
        case .enter(let place): self = .enterFence(venue.fences[place])
        case .exit(let place): self = .exitFence(venue.fences[place])
        }
    }
}

/// The application's monitored geofences, by identifier.
struct MonitoredGeofences: Sendable {
    private var fences: [String: (order: Int, fence: Geofence)] = [:]
    private var nextOrder = 0
    /// The revision, which increases with each change.
    private(set) var revision = 0

    /// The geofences in the order in which monitoring started. A replacement keeps the place of the replaced geofence.
    var list: [Geofence] { fences.values.sorted { $0.order < $1.order }.map(\.fence) }

    /// Starts monitoring geofences; each replaces one with the same identifier.
    mutating func start(_ started: [Geofence]) {
        for fence in started {
            let order = fences[fence.id]?.order ?? nextOrder
            nextOrder = max(nextOrder, order + 1)
            fences[fence.id] = (order, fence)
        }
        revision += 1
    }

    /// Stops monitoring the geofences with these identifiers; unknown identifiers have no effect.
    mutating func stop(_ ids: [String]) {
        let before = fences.count
        for id in ids { fences[id] = nil }
        if fences.count != before { revision += 1 }
    }

    /// Stops monitoring all geofences.
    mutating func stopAll() { stop(Array(fences.keys)) }
}
