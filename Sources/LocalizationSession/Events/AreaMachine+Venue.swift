import IndoorVocabulary
import VenueModel

extension AreaMachine {
    /// Creates a machine for the rooms of a venue. The number of a room is its index in the venue's list, so that the
    /// lookup takes constant time.
    package init(roomsOf venue: Venue, settings: LocalizationSettings) {
        self.init(
            watched: venue.rooms.enumerated().compactMap { place, room in
                room.area.map { AreaMachine.Watched(id: place, mapID: room.mapID, area: $0) }
            }, dwell: settings.areaDwell)
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

    /// The bytes of the machine's own memory: without the areas, which copies of a machine share.
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
