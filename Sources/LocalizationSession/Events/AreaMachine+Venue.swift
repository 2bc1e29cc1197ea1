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

    /// The room probability from which a device stays in its room although its point is in another one. Near a border,
    /// both rooms have about the same probability, and the point moves back and forth between them.
    private static let probabilityOfStaying = 0.3

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
