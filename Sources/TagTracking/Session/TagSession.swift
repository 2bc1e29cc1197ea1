import IndoorPositioning
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// The session of one tag: its position, rooms and fences from the readings of the receivers.
///
/// If the readings of a device are reversed, the positions are the same as those of the device's session: the same
/// engine, floor machine and area machines process them. A device's session begins when it has identified the venue. A
/// tag's session begins with its first reading.
package struct TagSession: Sendable {
    /// The result of an update.
    package struct Update: Sendable {
        /// The position; nil while the floor is unknown.
        package var position: Position?
        /// The entries into rooms and fences, and the exits from them.
        package var events: [LocalizationEvent] = []
    }

    let model: TagModel
    var engine: PositioningEngine
    var floor: FloorMachine
    var rooms: AreaMachine
    var fences: AreaMachine
    private var speedometer = Speedometer()

    /// Creates a session without evidence.
    ///
    /// - Parameters:
    ///   - power: the signal strength of the tag at 1 m in dBm; nil if unknown. It narrows the prior of the tag's
    ///     offset if the receivers' powers are known too.
    ///   - seed: the seed of all random numbers.
    package init(model: TagModel, power: Double?, seed: UInt64) {
        self.model = model
        engine = model.engine
        floor = model.floor
        rooms = model.rooms
        fences = model.fences
        engine.begin(seed: seed)
        if let power, model.isPowerKnown { engine.begin(power: power) }
    }

    /// The bytes that the session holds, without those that it shares with other sessions.
    package var byteCount: Int {
        MemoryLayout<TagSession>.stride + engine.byteCount + rooms.byteCount + fences.byteCount + speedometer.byteCount
    }

    /// Adds a reading.
    ///
    /// - Parameters:
    ///   - receiver: the index of the receiver among the venue's beacons.
    ///   - rssi: the RSSI in dBm, without the receiver's offset.
    ///   - window: the time over which the gateway has filtered the RSSI.
    package mutating func observe(receiver: Int, rssi: Double, window: Duration, at instant: Instant) {
        guard rssi >= model.rssiThreshold else { return }
        let identity = model.venue.beacons[receiver].identity
        engine.observe(Sighting(instant: instant, beacon: identity, rssi: rssi), window: window)
    }

    /// Advances the session to an instant.
    ///
    /// Receivers listen all the time. Without readings, the motion model moves the position, the radius grows, and no
    /// change of the floor, the rooms or the fences begins.
    package mutating func update(to now: Instant, _ workspace: inout TagWorkspace) -> Update {
        let part = workspace.index(of: model)
        let isHeard = engine.hasNewReadings
        engine.exchangeWorkspace(with: &workspace.parts[part].memory)
        engine.advance(to: now)
        engine.exchangeWorkspace(with: &workspace.parts[part].memory)
        let probabilities = engine.mapProbabilities
        floor.observe(probabilities, isNew: isHeard, at: now)
        guard let map = floor.map,
            let position = workspace.parts[part].builder.position(
                of: engine, on: map, at: now, certainty: min(max(probabilities[map] ?? 0, 0), 1),
                speedometer: &speedometer)
        else { return Update() }
        let isDecided = isHeard && !rooms.isUndecided(between: model.venue.rooms, at: position)
        let inRooms = rooms.observe(position.point, on: map, isNew: isDecided, at: now)
        let inFences = fences.observe(position.point, on: map, isNew: isHeard, at: now)
        return Update(position: position, events: events(inRooms, inFences, at: now))
    }

    /// Ends the session, and returns the exits from rooms and fences.
    package mutating func end(at now: Instant) -> [LocalizationEvent] {
        events(rooms.leaveAll(at: now), fences.leaveAll(at: now), at: now)
    }

    private func events(
        _ inRooms: [AreaMachine.Change], _ inFences: [AreaMachine.Change], at now: Instant
    ) -> [LocalizationEvent] {
        guard !inRooms.isEmpty || !inFences.isEmpty else { return [] }
        let kinds =
            inRooms.map { LocalizationEvent.Kind($0, ofRoomIn: model.venue) }
            + inFences.map { LocalizationEvent.Kind($0, ofFenceIn: model.venue) }
        return kinds.map { LocalizationEvent(instant: now, venueID: model.venue.id, kind: $0) }
    }

    /// Returns the expected RSSI of a receiver at the latest position in dBm, with its variance in dB²; nil if unknown.
    ///
    /// The value includes the estimated offset of the tag. The variance includes the uncertainty of the position, of the
    /// field and of the offset, and the noise of one reading.
    package func expectedRSSI(of receiver: Int) -> (rssi: Double, variance: Double)? {
        guard let map = floor.map,
            let expected = engine.expectedRSSI(of: model.venue.beacons[receiver].identity, on: map)
        else { return nil }
        return (expected.mean, expected.deviation * expected.deviation)
    }
}
