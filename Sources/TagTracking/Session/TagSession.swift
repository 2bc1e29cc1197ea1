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

/// The parts that the sessions of all tags of a class share: the venue, the tables of the engine, and an engine, a
/// floor machine and area machines without evidence.
///
/// A session begins with copies of them. Copies share the memory that no session changes: the signal field, the walls,
/// the links between floors, and the areas of rooms and fences.
package final class TagModel: Sendable {
    package let venue: Venue
    package let tagClass: FleetSettings.TagClass
    let engine: PositioningEngine
    let floor: FloorMachine
    let rooms: AreaMachine
    let fences: AreaMachine
    /// The RSSI in dBm below which readings are discarded.
    let rssiThreshold: Double
    /// Whether the power of the tag that the signal field assumes is known, from a survey or from the receivers.
    let isPowerKnown: Bool

    /// The number of particles for which the engine's minimum on each map is chosen.
    private static let standardCount = 1500.0
    /// The lowest minimum of particles on a map.
    private static let fewest = 20

    /// Creates a model.
    ///
    /// - Parameters:
    ///   - venue: the venue, whose beacons are the receivers, see `Venue.forTags`.
    ///   - isPowerKnown: whether the level of the receivers' powers is known, see ``FleetSettings/knowsReceiverPowers``.
    package init(
        venue: Venue, tagClass: FleetSettings.TagClass, tables: SharedTables, isPowerKnown: Bool? = nil
    ) {
        self.venue = venue
        self.tagClass = tagClass
        let settings = SettingsStack().resolved(in: venue).localization
        var positioning = settings.positioning
        positioning.particleCount = tagClass.particleCount
        engine = PositioningEngine(
            venue: venue, tables: tables, settings: positioning, effort: Self.effort(of: tagClass), seed: 0)
        rssiThreshold = settings.rssiThreshold
        floor = FloorMachine(settings: settings.floor)
        rooms = AreaMachine(roomsOf: venue, settings: settings)
        fences = AreaMachine(fencesOf: venue, settings: settings)
        self.isPowerKnown =
            isPowerKnown ?? (venue.radioMap != nil || venue.beacons.contains { $0.measuredPower != nil })
    }

    private static func effort(of tagClass: FleetSettings.TagClass) -> PositioningEffort {
        var effort = PositioningEffort()
        // A map that the tag is hardly on has the same share of the particles in each class.
        let share = min(1, Double(tagClass.particleCount) / standardCount)
        effort.fewestParticles = max(fewest, Int((Double(effort.fewestParticles) * share).rounded()))
        effort.cellScale = max(1, tagClass.cellScale)
        effort.needsNewEvidence = true
        effort.testsBeacons = tagClass.cellScale <= 1
        return effort
    }
}

/// The memory that sessions need during an update. One workspace serves all tags in turn.
package struct TagWorkspace: Sendable {
    /// The memory for the tags of one class. Engines with other numbers of particles don't share memory, because an
    /// engine takes over a part of it.
    struct Part: Sendable {
        fileprivate let model: TagModel
        var memory = ParticleFilter.Workspace()
        var builder: PositionBuilder
    }

    var parts: [Part] = []

    /// Creates a workspace without memory.
    package init() {}

    /// Returns the index of a model's part, and creates the part if it is missing.
    mutating func index(of model: TagModel) -> Int {
        if let index = parts.firstIndex(where: { $0.model === model }) { return index }
        parts.append(Part(model: model, builder: PositionBuilder(venue: model.venue)))
        return parts.count - 1
    }

    /// The bytes of the memory, without the rooms of the cells.
    package var byteCount: Int { parts.reduce(0) { $0 + $1.memory.byteCount } }
}

/// The state of a session in bytes, about 100 for a venue with one floor.
///
/// A belief is written as its summary: mean, covariance and probability on each probable map. In the session that
/// continues, an entry or an exit that waits for its dwell time starts to wait again, and the speed is known after a
/// second.
extension TagSession {
    /// The version of the bytes.
    private static let version: UInt8 = 1
    /// The index that stands for no map.
    private static let noMap = UInt16.max

    /// Writes the state that a later session continues from.
    package func write(to writer: inout BinaryWriter) {
        let summary = engine.summary
        writer.write(Self.version)
        write(summary, to: &writer)
        writeFloor(to: &writer)
        let instant = summary?.instant ?? .zero
        write(rooms.memory(at: instant), to: &writer)
        write(fences.memory(at: instant), to: &writer)
    }

    /// Continues from a written state. Call this before any reading.
    ///
    /// - Parameters:
    ///   - now: the present. A belief that is older than the away timeout of the tag's class is not used.
    ///   - step: the time by which all times are moved.
    /// - Throws: `BinaryReader.Failure` if the bytes end too early, or have an invalid value. In that case, the session
    ///   doesn't change.
    package mutating func restore(
        from reader: inout BinaryReader, at now: Instant, movedBy step: Duration = .zero
    ) throws(BinaryReader.Failure) {
        guard try reader.number(UInt8.self) == Self.version else { throw BinaryReader.Failure(offset: reader.offset) }
        let summary = try readSummary(from: &reader)
        let map = try readMap(from: &reader)
        var rival = try readRival(from: &reader)
        if let since = rival?.since { rival?.since = since.advanced(by: step) }
        var inRooms = try readAreas(count: model.venue.rooms.count, from: &reader)
        var inFences = try readAreas(count: model.venue.fences.count, from: &reader)
        inRooms.exits = inRooms.exits.mapValues { $0.advanced(by: step) }
        inFences.exits = inFences.exits.mapValues { $0.advanced(by: step) }
        rooms.begin(with: inRooms)
        fences.begin(with: inFences)
        guard var summary else { return }
        let instant = summary.instant.advanced(by: step)
        guard instant.duration(to: now) <= model.tagClass.awayTimeout else { return }
        summary.instant = min(instant, now)
        engine.begin(with: summary)
        if let map { floor.begin(on: map, rival: rival) }
    }
}

// The belief.
extension TagSession {
    private func write(_ summary: BeliefSummary?, to writer: inout BinaryWriter) {
        // Omit a belief that is far outside of its maps: it would make the whole snapshot invalid.
        guard let summary, summary.isValid else { return writer.write(UInt16(0)) }
        writer.write(UInt16(clamping: summary.places.count))
        writer.write(summary.instant.nanoseconds)
        for number in [
            summary.offset.value, summary.offset.variance, summary.consistency.ratios, summary.consistency.weight,
        ] { writer.write(Float(number)) }
        for place in summary.places {
            writer.write(UInt16(clamping: place.mapIndex))
            for number in [
                place.probability, place.mean.x, place.mean.y, place.covariance.xx, place.covariance.xy,
                place.covariance.yy, place.walkingShare, place.velocity.x, place.velocity.y, place.velocityVariance,
            ] { writer.write(Float(number)) }
        }
    }

    private func readSummary(from reader: inout BinaryReader) throws(BinaryReader.Failure) -> BeliefSummary? {
        let start = reader.offset
        let count = Int(try reader.number(UInt16.self))
        guard count > 0 else { return nil }
        guard count <= model.venue.maps.count else { throw BinaryReader.Failure(offset: start) }
        let instant = Instant(nanoseconds: try reader.number())
        let offset = (value: Double(try reader.float()), variance: Double(try reader.float()))
        let consistency = (ratios: Double(try reader.float()), weight: Double(try reader.float()))
        var places: [BeliefSummary.Place] = []
        for _ in 0..<count { places.append(try readPlace(from: &reader)) }
        let summary = BeliefSummary(instant: instant, places: places, offset: offset, consistency: consistency)
        guard summary.isValid else { throw BinaryReader.Failure(offset: start) }
        return summary
    }

    private func readPlace(from reader: inout BinaryReader) throws(BinaryReader.Failure) -> BeliefSummary.Place {
        let start = reader.offset
        let mapIndex = Int(try reader.number(UInt16.self))
        guard mapIndex < model.venue.maps.count else { throw BinaryReader.Failure(offset: start) }
        var numbers: [Double] = []
        for _ in 0..<10 { numbers.append(Double(try reader.float())) }
        return BeliefSummary.Place(
            mapIndex: mapIndex, probability: numbers[0], mean: MapPoint(x: numbers[1], y: numbers[2]),
            covariance: PositionCovariance(xx: numbers[3], xy: numbers[4], yy: numbers[5]), walkingShare: numbers[6],
            velocity: MapPoint(x: numbers[7], y: numbers[8]), velocityVariance: numbers[9])
    }
}

// The floor.
extension TagSession {
    private func writeFloor(to writer: inout BinaryWriter) {
        guard case .settled(let map, let rival) = floor.state else {
            writer.write(Self.noMap)
            return writer.write(Self.noMap)
        }
        writer.write(index(of: map))
        writer.write(rival.map { index(of: $0.map) } ?? Self.noMap)
        if let rival { writer.write(rival.since.nanoseconds) }
    }

    private func index(of map: MapID) -> UInt16 {
        model.venue.maps.firstIndex { $0.id == map }.map { UInt16(clamping: $0) } ?? Self.noMap
    }

    private func readMap(from reader: inout BinaryReader) throws(BinaryReader.Failure) -> MapID? {
        let start = reader.offset
        let index = try reader.number(UInt16.self)
        guard index != Self.noMap else { return nil }
        guard Int(index) < model.venue.maps.count else { throw BinaryReader.Failure(offset: start) }
        return model.venue.maps[Int(index)].id
    }

    private func readRival(from reader: inout BinaryReader) throws(BinaryReader.Failure) -> FloorMachine.Rival? {
        guard let map = try readMap(from: &reader) else { return nil }
        return FloorMachine.Rival(map: map, since: Instant(nanoseconds: try reader.number()))
    }
}

// Rooms and fences.
extension TagSession {
    /// The bit of an area's number that marks an announced entry.
    private static let announced: UInt32 = 1 << 31

    private func write(_ memory: AreaMemory, to writer: inout BinaryWriter) {
        writer.write(UInt16(clamping: memory.inside.count))
        for area in memory.inside.prefix(Int(UInt16.max)) {
            writer.write(UInt32(truncatingIfNeeded: area.id) | (area.isAnnounced ? Self.announced : 0))
        }
        let exits = memory.exits.sorted { $0.key < $1.key }
        writer.write(UInt16(clamping: exits.count))
        for (id, instant) in exits.prefix(Int(UInt16.max)) {
            writer.write(UInt32(truncatingIfNeeded: id))
            writer.write(instant.nanoseconds)
        }
    }

    /// - Parameter count: the number of areas.
    private func readAreas(count: Int, from reader: inout BinaryReader) throws(BinaryReader.Failure) -> AreaMemory {
        var memory = AreaMemory()
        for _ in 0..<(try reader.number(UInt16.self)) {
            let start = reader.offset
            let number = try reader.number(UInt32.self)
            let id = Int(number & ~Self.announced)
            guard id < count else { throw BinaryReader.Failure(offset: start) }
            memory.inside.append(AreaMemory.Inside(id: id, isAnnounced: number & Self.announced != 0))
        }
        for _ in 0..<(try reader.number(UInt16.self)) {
            let start = reader.offset
            let id = Int(try reader.number(UInt32.self))
            guard id < count else { throw BinaryReader.Failure(offset: start) }
            memory.exits[id] = Instant(nanoseconds: try reader.number())
        }
        return memory
    }
}
