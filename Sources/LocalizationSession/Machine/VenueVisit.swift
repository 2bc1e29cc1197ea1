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
