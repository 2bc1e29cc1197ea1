import IndoorVocabulary
import VenueModel

// The state of a machine as bytes. Version 1, in little-endian order: the venue's ID and version, the time until which
// the machine handled everything, the names of the receivers, the records of the tags, and the readings that wait in the
// reorder window.
extension FleetMachine {
    private static let version: UInt8 = 1
    /// A number that no counter reaches. A greater number indicates damage that the checksum didn't detect.
    private static let greatestCount: UInt64 = 1 << 62

    /// Returns the state of all tags and the readings that aren't handled yet.
    ///
    /// A record and its session have less than 300 bytes together, of which the record has about 60. Names, power and
    /// class come from the register, and the venue's tables from the venue.
    package func snapshot() -> [UInt8] {
        var writer = BinaryWriter(reservingCapacity: 300 * table.count)
        writer.write(Int64(model.venue.id.rawValue))
        writer.write(Int64(model.venue.version))
        writer.write(handled ?? .min)
        writer.write(now ?? .min)
        writer.write(table.discardedSequence)
        writer.write(UInt32(truncatingIfNeeded: model.venue.receivers.count))
        for receiver in model.venue.receivers { writer.write(receiver.id) }
        let slots = table.records.indices.filter { table.records[$0] != nil }
        writer.write(UInt32(truncatingIfNeeded: slots.count))
        for slot in slots { if let record = table.records[slot] { write(record, to: &writer) } }
        let indexes = Dictionary(zip(slots, slots.indices), uniquingKeysWith: { first, _ in first })
        writer.write(UInt32(truncatingIfNeeded: pending.count))
        for entry in pending.elements.sorted() {
            writer.write(UInt32(truncatingIfNeeded: indexes[entry.slot] ?? 0))
            writer.write(entry.nanoseconds)
            writer.write(UInt32(truncatingIfNeeded: entry.receiver))
            writer.write(entry.rssi)
            writer.write(entry.window)
            writer.write(entry.measuredPower)
        }
        return SnapshotFrame.frame(writer.bytes, kind: "ILFM", version: Self.version)
    }

    private func write(_ record: TagRecord, to writer: inout BinaryWriter) {
        writer.write(record.key.description)
        writer.write(record.sequence)
        writer.write(record.readings)
        writer.write(record.latest)
        writer.write(record.awaySince ?? .min)
        guard let session = record.session else { return writer.write(UInt8(0)) }
        writer.write(UInt8(1))
        writer.write(record.nextPosition)
        writer.write(record.oldestNew ?? .max)
        var state = BinaryWriter(reservingCapacity: 256)
        session.write(to: &state)
        writer.writeCounted(state.bytes)
    }

    /// Creates a machine that continues from a snapshot.
    ///
    /// The tags that were present are present, without another ``FleetOutput/Content/present``; the numbers of their
    /// outputs continue to increase. A snapshot of another version of the venue keeps the presence of the tags and drops
    /// their positions, and the waiting readings of receivers that the venue no longer has.
    ///
    /// - Parameters:
    ///   - epoch: the number of the start, greater than that of the machine of the snapshot.
    ///   - keepsPositions: whether positions are kept although the version of the venue differs.
    ///   - step: the time by which all times of the snapshot are moved, after the clock was set.
    /// - Throws: `FleetSnapshotError` if the snapshot is damaged or belongs to another venue.
    package init(
        model: FleetModel, register: TagRegister = TagRegister(), epoch: UInt64, seed: UInt64 = 0,
        restoring snapshot: [UInt8], keepsPositions: Bool = false, movedBy step: Duration = .zero
    ) throws(FleetSnapshotError) {
        self.init(model: model, register: register, epoch: epoch, seed: seed)
        let content = try SnapshotFrame.content(of: snapshot, kind: "ILFM", version: Self.version)
        var reader = BinaryReader(content)
        let venue: VenueID
        do {
            venue = VenueID(rawValue: Int(try reader.number(Int64.self)))
        } catch {
            throw .invalid(offset: error.offset)
        }
        guard venue == model.venue.id else { throw .otherVenue(venue, expected: model.venue.id) }
        do {
            try read(&reader, keepsPositions: keepsPositions, step: step)
        } catch {
            throw .invalid(offset: error.offset)
        }
    }

    /// Returns a machine with the same tags and another radio map of the venue.
    ///
    /// A tag keeps its place, its presence, its rooms and the number of its latest output, as after a restart.
    /// - Parameter model: a model of the venue with the same maps, rooms, fences and receivers.
    /// - Throws: `FleetSnapshotError` if the model is of another venue.
    package func moved(to model: FleetModel) throws(FleetSnapshotError) -> FleetMachine {
        try moved(to: model, by: .zero)
    }

    /// Moves all times, after the clock was set: everything is as old as before.
    ///
    /// - Parameter step: the time by which the clock was set forward; negative if it was set back.
    package mutating func move(by step: Duration) {
        // The model is the same, and the snapshot is its own.
        do throws(FleetSnapshotError) { self = try moved(to: model, by: step) } catch { assertionFailure("\(error)") }
    }

    private func moved(to model: FleetModel, by step: Duration) throws(FleetSnapshotError) -> FleetMachine {
        var moved = try FleetMachine(
            model: model, register: register, epoch: epoch, seed: seed, restoring: snapshot(), keepsPositions: true,
            movedBy: step)
        (moved.receiverOffsets, moved.unknownTagMemory) = (receiverOffsets, unknownTagMemory)
        (moved.evidence, moved.statistics) = (evidence, statistics)
        if listening != .min { moved.listening = listening == .max ? .max : listening.adding(step.nanoseconds) }
        return moved
    }

    private mutating func read(
        _ reader: inout BinaryReader, keepsPositions: Bool, step: Duration
    ) throws(BinaryReader.Failure) {
        let isSameVersion = try reader.number(Int64.self) == Int64(model.venue.version)
        handled = try reader.time(movedBy: step)
        now = try reader.time(movedBy: step)
        let start = reader.offset
        table.discardedSequence = try reader.number()
        guard table.discardedSequence <= Self.greatestCount else { throw BinaryReader.Failure(offset: start) }
        var receivers: [Int?] = []
        for _ in 0..<(try reader.number(UInt32.self)) {
            receivers.append(model.directory.index(of: try reader.text()))
        }
        var slots: [Int?] = []
        for _ in 0..<(try reader.number(UInt32.self)) {
            slots.append(try readRecord(&reader, keepsPositions: keepsPositions || isSameVersion, step: step))
        }
        for _ in 0..<(try reader.number(UInt32.self)) { try readReading(&reader, slots, receivers, step: step) }
        guard reader.isAtEnd else { throw BinaryReader.Failure(offset: reader.offset) }
        restoreDepartures()
        restoreBudget()
        statistics.knownTags = table.count
        statistics.pendingReadings = pending.count
    }

    /// Reads the record of a tag, and returns its slot; nil if the limit on tags is reached.
    private mutating func readRecord(
        _ reader: inout BinaryReader, keepsPositions: Bool, step: Duration
    ) throws(BinaryReader.Failure) -> Int? {
        let start = reader.offset
        guard let key = TagKey(try reader.text()) else { throw BinaryReader.Failure(offset: start) }
        // Two keys can have the same text. Of the second record, only the number of its latest output counts.
        let first = table.slots[key]
        let slot = first == nil ? slot(of: key) : nil
        let (sequence, readings) = (try reader.number(UInt64.self), try reader.number(UInt64.self))
        guard max(sequence, readings) <= Self.greatestCount else { throw BinaryReader.Failure(offset: start) }
        let (latest, away) = (try reader.time(movedBy: step) ?? .min, try reader.time(movedBy: step))
        if let slot {
            table.records[slot]?.sequence = sequence
            table.records[slot]?.readings = readings
            table.records[slot]?.latest = latest
            table.records[slot]?.awaySince = away
        }
        if let first, let earlier = table.records[first]?.sequence {
            table.records[first]?.sequence = max(earlier, sequence)
        }
        guard try reader.number(UInt8.self) == 1 else { return first ?? slot }
        // A tag with a session isn't away.
        guard away == nil else { throw BinaryReader.Failure(offset: start) }
        let (next, oldest) = (try reader.time(movedBy: step), try reader.time(movedBy: step))
        var state = BinaryReader(try reader.counted())
        guard let slot, let hash = table.records[slot]?.hash else { return first }
        let known = register.entries[key]
        let tagClass = model.classIndex(of: known?.tagClass)
        let classModel = model.classes[tagClass]
        // The random numbers of a session that continues differ from those before the snapshot.
        var session = TagSession(model: classModel, power: known?.power, seed: seed(of: hash, epoch: epoch))
        if keepsPositions {
            do {
                try session.restore(from: &state, at: Instant(nanoseconds: handled ?? latest), movedBy: step)
            } catch {
                throw BinaryReader.Failure(offset: start)
            }
        }
        table.records[slot]?.session = session
        table.records[slot]?.tagClass = tagClass
        table.records[slot]?.setTimes(of: classModel.tagClass)
        table.records[slot]?.nextPosition = next ?? .max
        table.records[slot]?.oldestNew = oldest
        statistics.presentTags += 1
        schedule(slot)
        return slot
    }

    private mutating func readReading(
        _ reader: inout BinaryReader, _ slots: [Int?], _ receivers: [Int?], step: Duration
    ) throws(BinaryReader.Failure) {
        let start = reader.offset
        let tag = Int(try reader.number(UInt32.self))
        let nanoseconds = try reader.time(movedBy: step) ?? .min
        let receiver = Int(try reader.number(UInt32.self))
        let (rssi, window) = (try reader.double(), try reader.number(Int64.self))
        let power = try reader.double()
        guard slots.indices.contains(tag), receivers.indices.contains(receiver), Sighting.isMeasurement(rssi: rssi),
            window >= 0, power.isNaN || power.isFinite
        else {
            throw BinaryReader.Failure(offset: start)
        }
        guard let slot = slots[tag], let receiver = receivers[receiver], let hash = table.records[slot]?.hash else {
            statistics.droppedReadings += 1
            return
        }
        table.records[slot]?.pending += 1
        pending.insert(
            PendingReading(
                nanoseconds: nanoseconds, hash: hash, slot: slot, receiver: receiver, rssi: rssi, window: window,
                measuredPower: power))
    }

    /// Restores the order in which the tags left. A tag whose waiting readings were all dropped leaves now.
    private mutating func restoreDepartures() {
        for slot in table.records.indices {
            guard let record = table.records[slot], record.session == nil, record.pending == 0 else { continue }
            table.records[slot]?.awaySince = record.awaySince ?? handled ?? .min
        }
        let away = table.records.indices.compactMap { slot in
            table.records[slot]?.awaySince.map { (since: $0, slot: slot) }
        }
        for (since, slot) in away.sorted(by: { ($0.since, $0.slot) < ($1.since, $1.slot) }) {
            table.depart(slot, at: since)
        }
    }
}

extension BinaryReader {
    /// Reads a time in nanoseconds, and moves it; nil for the values that stand for none.
    fileprivate mutating func time(movedBy step: Duration) throws(Failure) -> Int64? {
        let nanoseconds = try number(Int64.self)
        guard nanoseconds != .min, nanoseconds != .max else { return nil }
        return nanoseconds.adding(step.nanoseconds)
    }
}
