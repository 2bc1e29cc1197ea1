import BeaconScanning
import IndoorVocabulary
import VenueModel

/// The detection of a venue's interactions, by its beacons, points of interest, rooms and fences.
struct InteractionWatch: Sendable {
    /// An interaction with the beacons of a region.
    private struct Region: Sendable {
        let interaction: Interaction
        let region: BeaconRegion
        /// The latest sightings of the beacons that are near, in listening time.
        var near: [BeaconIdentity: Instant] = [:]
        var isEntered = false
    }

    /// The distance in metres of a point of interest without a distance of its own.
    static let pointDistance = 3.0
    /// The factor of the distance for an exit, which prevents repeated entries and exits at the border.
    static let exitFactor = 1.5
    /// The listening time without a sighting after which a beacon is away, as for regions:
    /// ``RegionSettings/exitTimeout``.
    static let silence = RegionSettings().exitTimeout

    private let venueID: VenueID
    private let rooms: [Int: [Interaction]]
    private let fences: [Int: [Interaction]]
    private let points: [Interaction]
    private var areas: AreaMachine
    private var regions: [Region]
    private var ranger: Ranger
    private let powers: [BeaconIdentity: Double]
    private let defaultPower: Double

    /// Creates a watch of a venue's interactions.
    ///
    /// - Parameter defaultPower: the RSSI at 1 m in dBm of a beacon that doesn't send its own.
    init(venue: Venue, dwell: Duration, defaultPower: Double) {
        venueID = venue.id
        self.defaultPower = defaultPower
        var (rooms, fences): ([Int: [Interaction]], [Int: [Interaction]]) = ([:], [:])
        var (points, watched): ([Interaction], [AreaMachine.Watched]) = ([], [])
        var regions: [Region] = []
        let places = Dictionary(venue.pointsOfInterest.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for interaction in venue.interactions {
            switch interaction.target {
            case .room(let id): rooms[id, default: []].append(interaction)
            case .fence(let id): fences[id, default: []].append(interaction)
            case .beacon(let region): regions.append(Region(interaction: interaction, region: region))
            case .pointOfInterest(let id):
                guard let place = places[id] else { continue }
                let distance = interaction.distance ?? Self.pointDistance
                watched.append(
                    AreaMachine.Watched(
                        id: points.count, mapID: place.mapID, area: .circle(center: place.point, radius: distance),
                        exitMargin: distance * (Self.exitFactor - 1)))
                points.append(interaction)
            }
        }
        (self.rooms, self.fences, self.points, self.regions) = (rooms, fences, points, regions)
        areas = AreaMachine(watched: watched, dwell: dwell)
        ranger = Ranger()
        powers = Dictionary(
            venue.beacons.compactMap { beacon in beacon.measuredPower.map { (beacon.identity, $0) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Handles a sighting of a beacon; the next `tick` returns the events.
    mutating func observe(_ sighting: Sighting, listened: Instant) {
        guard regions.contains(where: { $0.region.contains(sighting.beacon) }) else { return }
        var sighting = sighting
        sighting.measuredPower = powers[sighting.beacon] ?? sighting.measuredPower ?? defaultPower
        ranger.observe(sighting)
        guard let range = ranger.estimate(of: sighting.beacon, at: sighting.instant) else { return }
        for index in regions.indices where regions[index].region.contains(sighting.beacon) {
            let isNear = regions[index].near[sighting.beacon] != nil
            let limit = (regions[index].interaction.distance ?? .infinity) * (isNear ? Self.exitFactor : 1)
            let distance = range.distance?.meters ?? .infinity
            regions[index].near[sighting.beacon] = distance <= limit ? listened : nil
        }
    }

    /// Moves the exits from points of interest to a timeline with another origin, before the first sighting.
    mutating func shift(by duration: Duration) { areas.shift(by: duration) }

    /// Returns the events that sightings and the silence of beacons cause.
    ///
    /// - Parameter listened: the current listening time, which measures silence.
    mutating func tick(at now: Instant, listened: Instant) -> [InteractionEvent] {
        guard !regions.isEmpty else { return [] }
        ranger.forgetSilent(at: now)
        var events: [InteractionEvent] = []
        for index in regions.indices {
            regions[index].near = regions[index].near.filter { $0.value.duration(to: listened) < Self.silence }
            let isNear = !regions[index].near.isEmpty
            guard isNear != regions[index].isEntered else { continue }
            regions[index].isEntered = isNear
            events += event(regions[index].interaction, isEntry: isNear, at: now)
        }
        return events
    }

    /// Returns the events that a position causes, with the entries and exits of rooms and fences.
    ///
    /// - Parameter time: the current observation time; nil while no sensor can detect a change of position.
    mutating func events(
        of position: Position, _ changes: [LocalizationEvent], watched time: Instant?
    ) -> [InteractionEvent] {
        var events = self.events(of: changes)
        guard !points.isEmpty, let time else { return events }
        for change in areas.observe(position.point, on: position.mapID, at: position.instant, watched: time) {
            events += event(of: change, at: position.instant)
        }
        return events
    }

    /// Ends all interactions when the device leaves the venue, with these exits from rooms and fences.
    mutating func leaveAll(at now: Instant, _ changes: [LocalizationEvent]) -> [InteractionEvent] {
        var events = self.events(of: changes)
        for change in areas.leaveAll(at: now) { events += event(of: change, at: now) }
        for index in regions.indices where regions[index].isEntered {
            regions[index].isEntered = false
            regions[index].near = [:]
            events += event(regions[index].interaction, isEntry: false, at: now)
        }
        return events
    }

    private func events(of changes: [LocalizationEvent]) -> [InteractionEvent] {
        guard !rooms.isEmpty || !fences.isEmpty else { return [] }
        return changes.flatMap { change in
            let due = change.room.flatMap { rooms[$0.id] } ?? change.fence.flatMap { fences[$0.id] } ?? []
            return due.flatMap { event($0, isEntry: change.isEntry, at: change.instant) }
        }
    }

    private func event(of change: AreaMachine.Change, at now: Instant) -> [InteractionEvent] {
        switch change {
        case .enter(let place): event(points[place], isEntry: true, at: now)
        case .exit(let place): event(points[place], isEntry: false, at: now)
        }
    }

    /// Returns the event if the interaction's trigger includes this entry or exit.
    private func event(_ interaction: Interaction, isEntry: Bool, at now: Instant) -> [InteractionEvent] {
        guard interaction.trigger != (isEntry ? .exit : .enter) else { return [] }
        return [InteractionEvent(instant: now, venueID: venueID, interaction: interaction, isEntry: isEntry)]
    }
}
