extension VenueVisit {
    /// What is to be remembered of the visit.
    func memory(at now: Instant) -> SessionMemory.Stay {
        let (rooms, fences) = (rooms.memory(at: now), fences.memory(at: now))
        return SessionMemory.Stay(
            venueID: venue.id, venueVersion: venue.version, places: belief.places,
            rooms: rooms.inside.map { .init(id: venue.rooms[$0.id].id, isTold: $0.isAnnounced) },
            fences: fences.inside.map { .init(id: venue.fences[$0.id].id, isTold: $0.isAnnounced) },
            departures: fences.exits.map { place, instant in
                .init(id: venue.fences[place].id, ago: max(.zero, instant.duration(to: now)))
            }.sorted { $0.id < $1.id })
    }

    /// Begins where an earlier session left off, if that was with this edition of the venue.
    ///
    /// Where the device was counts as far as the age allows. Rooms and fences are those that somebody was told of, and they
    /// are entered or left from there, however old that is.
    mutating func begin(with stay: SessionMemory.Stay, of instant: Instant, timeout: Duration) {
        guard stay.venueID == venue.id, stay.venueVersion == venue.version else { return }
        if !stay.places.isEmpty {
            belief.begin(with: RememberedPlace(places: stay.places, instant: instant, timeout: timeout))
        }
        rooms.begin(with: AreaMemory(inside: Self.inside(stay.rooms, of: venue.rooms.map(\.id))))
        var fenceMemory = AreaMemory(inside: Self.inside(stay.fences, of: venue.fences.map(\.id)))
        let places = Self.places(of: venue.fences.map(\.id))
        for departure in stay.departures {
            guard let place = places[departure.id] else { continue }
            fenceMemory.exits[place] = instant.advanced(by: .zero - departure.ago)
        }
        fences.begin(with: fenceMemory)
    }

    private static func places(of ids: [Int]) -> [Int: Int] {
        Dictionary(ids.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private static func inside(_ presences: [SessionMemory.Presence], of ids: [Int]) -> [AreaMemory.Inside] {
        let places = places(of: ids)
        return presences.compactMap { presence in
            places[presence.id].map { AreaMemory.Inside(id: $0, isAnnounced: presence.isTold) }
        }
    }
}
