import IndoorPositioning
import IndoorVocabulary
import VenueModel

extension VenueVisit {
    /// Returns the visit for the session memory.
    func memory(at now: Instant) -> SessionMemory.Stay {
        var stay = SessionMemory.Stay(venueID: venue.id, venueVersion: venue.version, places: belief.places)
        stay.rooms = rooms.memory(at: now).inside.map { .init(id: venue.rooms[$0.id].id, isTold: $0.isAnnounced) }
        let memory = fences.memory(at: now)
        // The application's geofences follow the venue's fences.
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

    /// Restores the visit of an earlier session, if it had this version of the venue.
    ///
    /// The older the restored position is, the less certain it is. The visit starts in the restored rooms and fences,
    /// for which the earlier session has emitted events, whatever their age.
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

/// The indices of remembered areas in the lists of a visit; areas that no longer exist are skipped.
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
