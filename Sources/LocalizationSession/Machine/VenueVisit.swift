import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// The state of a session while it is in one venue.
struct VenueVisit<Belief: PositioningBelief>: Sendable {
    let venue: Venue
    var belief: Belief
    var floor: FloorMachine
    var rooms: AreaMachine
    var fences: AreaMachine
    var interactions: InteractionWatch
    /// The instant at which the packet arrived, in listening time. It counts as the latest sighting while there is
    /// none.
    let since: Instant
    /// The map that the floor is locked to; nil without a lock.
    private(set) var lockedMap: MapID?
    /// The probability of each map at the latest floor decision.
    private(set) var probabilities: [MapID: Double] = [:]
    private var speedometer = Speedometer()
    private let settings: LocalizationSettings
    /// The monitored geofences of the application at a revision; their numbers follow those of the venue's fences.
    private(set) var geofences: [Geofence] = []
    private var geofenceRevision = 0
    /// The instant of the latest fix in the venue, in listening time; nil without one.
    private(set) var placedAt: Instant?
    /// The instant of the latest motion reading, in listening time; nil before the first one.
    private(set) var lastMotion: Instant?
    /// The observation time of rooms and fences, and of floors, which elapses while sensors can detect changes of them.
    private var watchedTimes = (areas: ListenedTime(), floors: ListenedTime())
    /// The instants of the latest readings that can detect, without the radio, movement and changes of the floor.
    private var lastSensed = (areas: Instant(nanoseconds: .min), floors: Instant(nanoseconds: .min))
    /// Whether a reading that can change the areas or the floor has arrived since they were decided. Without one, only
    /// the motion model moves the point, toward the middle of the plan.
    private var hasNewEvidence = (areas: false, floors: false)
    /// The instant of the latest step that was evidence.
    private var lastStep: Instant?
    private var builder: PositionBuilder
    /// The positions so far.
    private(set) var history = PositionHistory()

    init(venue: Venue, belief: Belief, settings: LocalizationSettings, since: Instant) {
        self.venue = venue
        self.belief = belief
        self.since = since
        floor = FloorMachine(settings: settings.floor)
        rooms = AreaMachine(roomsOf: venue, settings: settings)
        fences = AreaMachine(fencesOf: venue, settings: settings)
        interactions = InteractionWatch(
            venue: venue, dwell: settings.areaDwell, defaultPower: settings.positioning.signal.defaultPower)
        self.settings = settings
        builder = PositionBuilder(venue: venue)
    }

    /// Handles a reading at an instant of the listening time.
    mutating func observe(_ reading: SensorReading, listened instant: Instant) {
        if case .sighting(let sighting) = reading { interactions.observe(sighting, listened: instant) }
        locate(by: reading, listened: instant)
    }

    /// Handles a reading for the position only.
    mutating func locate(by reading: SensorReading, listened instant: Instant) {
        belief.observe(reading)
        switch reading {
        case .fix(let fix):
            if !fix.isSoft, belief.fixReception != nil { placedAt = max(placedAt ?? instant, instant) }
            lastSensed.areas = max(lastSensed.areas, reading.instant)
            lastSensed.floors = max(lastSensed.floors, reading.instant)
            hasNewEvidence = (true, true)
        case .motion, .step:
            lastMotion = max(lastMotion ?? instant, instant)
            lastSensed.areas = max(lastSensed.areas, reading.instant)
            let step = belief.lastStep
            if step != lastStep { hasNewEvidence = (true, true) }
            lastStep = step
        case .pressure:
            lastSensed.floors = max(lastSensed.floors, reading.instant)
            hasNewEvidence.floors = true
        case .range:
            lastSensed.areas = max(lastSensed.areas, reading.instant)
            lastSensed.floors = max(lastSensed.floors, reading.instant)
            hasNewEvidence = (true, true)
        case .sighting(let sighting):
            if belief.contains(sighting.beacon) { hasNewEvidence = (true, true) }
        case .advertisement, .gnss, .radio:
            break
        }
    }

    /// Advances the observation time of rooms, fences and floors, except while the radio rests and no other sensor
    /// observes.
    mutating func follow(_ listened: ListenedTime, to now: Instant) {
        watchedTimes.areas.follow(listened, sensed: lastSensed.areas, to: now)
        watchedTimes.floors.follow(listened, sensed: lastSensed.floors, to: now)
    }

    /// Moves all instants of the source to a timeline with another origin, before the first reading.
    ///
    /// The listening time and the observation time stay as they are.
    mutating func shift(by duration: Duration) {
        belief.shift(by: duration)
        watchedTimes.areas.shift(by: duration)
        watchedTimes.floors.shift(by: duration)
        lastSensed.areas = lastSensed.areas.advanced(by: duration)
        lastSensed.floors = lastSensed.floors.advanced(by: duration)
        rooms.shift(by: duration)
        fences.shift(by: duration)
        interactions.shift(by: duration)
        speedometer.shift(by: duration)
        history.shift(by: duration)
    }

    /// Returns the direction of a map's top in degrees clockwise from true north; nil without a georeference.
    func bearing(of map: MapID) -> Double? { builder.transform(of: map)?.bearing }

    /// Locks the floor to a map; nil, or a map of another venue, removes the lock.
    mutating func lock(to map: MapID?) {
        let before = lockedMap
        lockedMap = map.flatMap { venue.map($0)?.id }
        // The readings so far are enough for a new decision.
        if lockedMap != before { hasNewEvidence = (true, true) }
        belief.lock(to: lockedMap)
    }

    /// Decides which map the device is on. Without a new reading, no change begins.
    mutating func findFloor(at now: Instant) {
        probabilities = belief.mapProbabilities
        floor.observe(
            probabilities, isNew: hasNewEvidence.floors, locked: lockedMap, at: watchedTimes.floors.instant(at: now))
        hasNewEvidence.floors = false
    }

    /// Returns the belief's position on a map; nil without evidence for that map.
    mutating func position(on map: MapID, at now: Instant) -> Position? {
        let position = builder.position(
            of: belief, on: map, at: now, certainty: certainty(of: map), speedometer: &speedometer)
        if let position { history.append(position) }
        return position
    }

    /// Returns the probability of a map, in [0, 1]; 1 for the locked map.
    private func certainty(of map: MapID) -> Double {
        map == lockedMap ? 1 : min(max(probabilities[map] ?? 0, 0), 1)
    }

    /// Watches the geofences of the application if they have changed.
    mutating func watch(_ monitored: MonitoredGeofences) {
        guard monitored.revision != geofenceRevision else { return }
        let (before, first) = (geofences, venue.fences.count)
        geofences = monitored.list
        // The latest position may be in one of them.
        hasNewEvidence.areas = true
        geofenceRevision = monitored.revision
        let places = Dictionary(
            geofences.enumerated().map { ($1.id, first + $0) }, uniquingKeysWith: { first, _ in first })
        let watched = geofences.enumerated().map { place, fence in
            AreaMachine.Watched(
                id: first + place,
                places: venue.maps.compactMap { map in
                    fence.area(on: map, of: venue.id, builder.transform(of: map.id)).map {
                        AreaMachine.Watched.Place(mapID: map.id, area: $0)
                    }
                }, holdOff: fence.timeout ?? settings.fenceTimeout, exitDwell: fence.exitDelay,
                exitMargin: fence.exitMargin)
        }
        fences.watch(AreaMachine.watched(venue.fences, settings) + watched) { index in
            index < first ? index : places[before[index - first].id]
        }
    }

    /// Returns the events that a position causes. Without a new reading, no entry and no exit begins.
    mutating func events(of position: Position, watching monitored: MonitoredGeofences) -> [LocalizationEvent] {
        watch(monitored)
        let now = position.instant
        guard let time = watchedTime(at: now) else { return [] }
        let isNew = hasNewEvidence.areas
        hasNewEvidence.areas = false
        let isDecided = isNew && !rooms.isUndecided(between: venue.rooms, at: position)
        let inRooms = rooms.observe(position.point, on: position.mapID, isNew: isDecided, at: now, watched: time)
        let inFences = fences.observe(position.point, on: position.mapID, isNew: isNew, at: now, watched: time)
        return events(inRooms, inFences, at: now)
    }

    /// Returns the observation time, which measures dwells in rooms and fences.
    ///
    /// Nil while no sensor can detect a change: growing uncertainty alone must not cause an exit from a room.
    func watchedTime(at now: Instant) -> Instant? {
        watchedTimes.areas.isListening ? watchedTimes.areas.instant(at: now) : nil
    }

    /// Leaves all rooms and fences.
    mutating func leave(at now: Instant, watching monitored: MonitoredGeofences) -> [LocalizationEvent] {
        watch(monitored)
        return events(rooms.leaveAll(at: now), fences.leaveAll(at: now), at: now)
    }

    private func events(
        _ inRooms: [AreaMachine.Change], _ inFences: [AreaMachine.Change], at now: Instant
    ) -> [LocalizationEvent] {
        guard !inRooms.isEmpty || !inFences.isEmpty else { return [] }
        let kinds =
            inRooms.map { LocalizationEvent.Kind($0, ofRoomIn: venue) }
            + inFences.map { change -> LocalizationEvent.Kind in
                let first = venue.fences.count
                return switch change {
                case .enter(let place) where place >= first: .enterGeofence(geofences[place - first])
                case .exit(let place) where place >= first: .exitGeofence(geofences[place - first])
                case .enter, .exit: LocalizationEvent.Kind(change, ofFenceIn: venue)
                }
            }
        return kinds.map { LocalizationEvent(instant: now, venueID: venue.id, kind: $0) }
    }
}

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

/// The conversion of a belief's estimate to a position, with the details that the venue determines.
///
/// The builder caches the rooms of the cells of a grid. Beliefs on the same signal field can share one builder.
package struct PositionBuilder: Sendable {
    private let venue: Venue
    private var roomCells: RoomCells
    private let transforms: [MapID: GeoTransform]

    /// The probability below which a position doesn't list a room.
    private static let leastProbability = 0.01

    /// Creates a builder for a venue.
    package init(venue: Venue) {
        self.venue = venue
        roomCells = RoomCells(RoomIndex(rooms: venue.rooms))
        var transforms: [MapID: GeoTransform] = [:]
        for map in venue.maps { transforms[map.id] = try? map.geoTransform() }
        self.transforms = transforms
    }

    /// Returns the transform from a map's coordinates to geographic ones; nil without a georeference.
    func transform(of map: MapID) -> GeoTransform? { transforms[map] }

    /// Returns a belief's position on a map; nil without evidence for that map.
    ///
    /// - Parameters:
    ///   - certainty: the probability of the map, in [0, 1].
    ///   - speedometer: the speedometer of the device.
    package mutating func position(
        of belief: some PositioningBelief, on map: MapID, at now: Instant, certainty: Double,
        speedometer: inout Speedometer
    ) -> Position? {
        guard let estimate = belief.estimate(on: map) else { return nil }
        return Position(
            instant: now, venueID: venue.id, mapID: map, point: estimate.point, radius: estimate.radius,
            covariance: estimate.covariance, label: roomCells.index.room(at: estimate.point, on: map)?.name,
            rooms: probableRooms(of: belief, on: map, certainty: certainty),
            pixel: venue.map(map)?.pixel(at: estimate.point),
            coordinate: transforms[map]?.coordinate(at: estimate.point),
            course: estimate.course, speed: speedometer.observe(estimate.point, on: map, at: now),
            floorCertainty: certainty)
    }

    /// Returns the rooms with a probability of at least 1 %, the most probable first.
    private mutating func probableRooms(
        of belief: some PositioningBelief, on map: MapID, certainty: Double
    ) -> [RoomProbability] {
        let shares = belief.roomShares(on: map, in: &roomCells)
        let rooms = roomCells.index.rooms
        return shares.compactMap { place, share in
            guard share * certainty >= Self.leastProbability else { return nil }
            return RoomProbability(id: rooms[place].id, name: rooms[place].name, probability: share * certainty)
        }.sorted { ($0.probability, $1.id) > ($1.probability, $0.id) }
    }
}
