import IndoorPositioning
import IndoorVocabulary
import VenueModel

extension VenueVisit {
    /// What is to be remembered of the visit.
    func memory(at now: Instant) -> SessionMemory.Stay {
        var stay = SessionMemory.Stay(venueID: venue.id, venueVersion: venue.version, places: belief.places)
        stay.rooms = rooms.memory(at: now).inside.map { .init(id: venue.rooms[$0.id].id, isTold: $0.isAnnounced) }
        let memory = fences.memory(at: now)
        // Behind the venue's fences are the application's.
        let first = venue.fences.count
        for area in memory.inside {
            if area.id < first {
                stay.fences.append(.init(id: venue.fences[area.id].id, isTold: area.isAnnounced))
            } else {
                stay.geofences.append(.init(id: geofences[area.id - first].id, isTold: area.isAnnounced))
            }
        }
        for (place, instant) in memory.exits.sorted(by: { $0.key < $1.key }) {
            let ago = max(.zero, instant.duration(to: now))
            if place < first {
                stay.departures.append(.init(id: venue.fences[place].id, ago: ago))
            } else {
                stay.geofenceDepartures.append(.init(id: geofences[place - first].id, ago: ago))
            }
        }
        return stay
    }

    /// Begins where an earlier session left off, if that was with this edition of the venue.
    ///
    /// Where the device was counts as far as the age allows. Rooms and fences are those that somebody was told of, and
    /// they are entered or left from there, however old that is.
    mutating func begin(
        with stay: SessionMemory.Stay, of instant: Instant, timeout: Duration, watching monitored: MonitoredGeofences
    ) {
        guard stay.venueID == venue.id, stay.venueVersion == venue.version else { return }
        if !stay.places.isEmpty {
            belief.begin(with: RestoredPlace(places: stay.places, instant: instant, timeout: timeout))
        }
        watch(monitored)
        var memory = RestoredAreas(venue.rooms.map(\.id))
        memory.restore(stay.rooms)
        rooms.begin(with: memory.areas)
        var fenceMemory = RestoredAreas(venue.fences.map(\.id))
        fenceMemory.restore(stay.fences)
        fenceMemory.restore(stay.departures, of: instant)
        var geofenceMemory = RestoredAreas(geofences.map(\.id), from: venue.fences.count)
        geofenceMemory.restore(stay.geofences)
        geofenceMemory.restore(stay.geofenceDepartures, of: instant)
        fences.begin(with: fenceMemory.areas.merging(geofenceMemory.areas))
    }
}

/// Finds the places of remembered areas in the lists of a visit; those that are gone are passed over.
private struct RestoredAreas<ID: Hashable & Sendable> {
    private(set) var areas = AreaMemory()
    private let places: [ID: Int]

    init(_ ids: [ID], from first: Int = 0) {
        places = Dictionary(ids.enumerated().map { ($1, first + $0) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func restore(_ presences: [SessionMemory.Presence<ID>]) {
        for presence in presences {
            guard let place = places[presence.id] else { continue }
            areas.inside.append(AreaMemory.Inside(id: place, isAnnounced: presence.isTold))
        }
    }

    mutating func restore(_ departures: [SessionMemory.Departure<ID>], of instant: Instant) {
        for departure in departures {
            if let place = places[departure.id] { areas.exits[place] = instant.advanced(by: .zero - departure.ago) }
        }
    }
}
