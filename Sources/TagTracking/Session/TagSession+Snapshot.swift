import IndoorPositioning
import IndoorVocabulary
import LocalizationSession
import VenueModel

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
    /// - Parameter now: the present. A belief that is older than the away timeout of the tag's class is not used.
    /// - Throws: `BinaryReader.Failure` if the bytes end too early, or have an invalid value. In that case, the session
    ///   doesn't change.
    package mutating func restore(from reader: inout BinaryReader, at now: Instant) throws(BinaryReader.Failure) {
        guard try reader.number(UInt8.self) == Self.version else { throw BinaryReader.Failure(offset: reader.offset) }
        let summary = try readSummary(from: &reader)
        let map = try readMap(from: &reader)
        let rival = try readRival(from: &reader)
        let inRooms = try readAreas(count: model.venue.rooms.count, from: &reader)
        let inFences = try readAreas(count: model.venue.fences.count, from: &reader)
        rooms.begin(with: inRooms)
        fences.begin(with: inFences)
        guard var summary, summary.instant.duration(to: now) <= model.tagClass.awayTimeout else { return }
        summary.instant = min(summary.instant, now)
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
