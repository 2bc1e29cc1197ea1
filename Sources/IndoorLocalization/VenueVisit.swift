/// All that a session knows while it is in one venue.
struct VenueVisit<Belief: PositioningBelief>: Sendable {
    let venue: Venue
    var belief: Belief
    var floor: FloorMachine
    var rooms: AreaMachine
    var fences: AreaMachine
    /// When the packet was there, for a venue of which no beacon was heard.
    let since: Instant
    private let labels: RoomIndex
    private let transforms: [MapID: GeoTransform]

    init(venue: Venue, belief: Belief, settings: LocalizationSettings, since: Instant) {
        self.venue = venue
        self.belief = belief
        self.since = since
        floor = FloorMachine(settings: settings.floor)
        rooms = AreaMachine(
            watched: venue.rooms.compactMap { room in
                room.area.map { AreaMachine.Watched(id: room.id, mapID: room.mapID, area: $0) }
            }, dwell: settings.areaDwell)
        fences = AreaMachine(
            watched: venue.fences.map {
                AreaMachine.Watched(id: $0.id, mapID: $0.mapID, area: $0.area, holdOff: $0.timeout ?? .zero)
            }, dwell: settings.areaDwell)
        labels = RoomIndex(rooms: venue.rooms)
        var transforms: [MapID: GeoTransform] = [:]
        for map in venue.maps { transforms[map.id] = try? map.geoTransform() }
        self.transforms = transforms
    }

    /// The position on a map that the belief holds; nil without evidence for that map.
    func position(on map: MapID, at now: Instant) -> Position? {
        guard let estimate = belief.estimate(on: map) else { return nil }
        return Position(
            instant: now, venueID: venue.id, mapID: map, point: estimate.point, radius: estimate.radius,
            label: labels.room(at: estimate.point, on: map)?.name,
            pixel: venue.map(map)?.pixel(at: estimate.point),
            coordinate: transforms[map]?.coordinate(at: estimate.point), course: estimate.course)
    }

    /// What the areas of a position make happen.
    mutating func events(of position: Position) -> [LocalizationEvent] {
        let inRooms = rooms.observe(position.point, on: position.mapID, at: position.instant)
        let inFences = fences.observe(position.point, on: position.mapID, at: position.instant)
        return events(inRooms, inFences, at: position.instant)
    }

    /// Leaves every room and fence.
    mutating func leave(at now: Instant) -> [LocalizationEvent] {
        events(rooms.leaveAll(at: now), fences.leaveAll(at: now), at: now)
    }

    private func events(
        _ inRooms: [AreaMachine.Change], _ inFences: [AreaMachine.Change], at now: Instant
    ) -> [LocalizationEvent] {
        let kinds =
            inRooms.compactMap { change in
                switch change {
                case .enter(let id): venue.rooms.first { $0.id == id }.map(LocalizationEvent.Kind.enterRoom)
                case .exit(let id): venue.rooms.first { $0.id == id }.map(LocalizationEvent.Kind.exitRoom)
                }
            }
            + inFences.compactMap { change in
                switch change {
                case .enter(let id): venue.fences.first { $0.id == id }.map(LocalizationEvent.Kind.enterFence)
                case .exit(let id): venue.fences.first { $0.id == id }.map(LocalizationEvent.Kind.exitFence)
                }
            }
        return kinds.map { LocalizationEvent(instant: now, venueID: venue.id, kind: $0) }
    }
}
