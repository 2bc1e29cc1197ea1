import BeaconScanning
import Glibc
import IndoorVocabulary
import ScanRecording
import TagTracking
import VenueModel

/// A walk of a survey with a tag: what the receivers hear of it, and the places that its carrier has marked.
///
/// The walk is a recording in which each receiver is a beacon. Readings of gateways arrive out of order, so that an entry
/// is written a second after its instant.
struct SurveyWalk {
    /// A place that was marked.
    struct Mark: Hashable, Sendable {
        var mapID: MapID
        var point: MapPoint
        /// The time since the start of the walk.
        var instant: Instant
    }

    /// The time for which an entry waits for earlier ones.
    static let patience = Duration.seconds(1)
    /// The largest number of entries; more than five hours with ten receivers that hear the tag each second.
    static let mostEntries = 200_000

    let tag: TagKey
    let path: String
    /// The time of the start, counted from the Unix epoch.
    let start: Instant
    private let device: String
    private(set) var marks: [Mark] = []
    /// The number of readings of each receiver.
    private(set) var receivers: [String: Int] = [:]
    private(set) var readingCount = 0
    /// The entries in the order of their instants, of which the first ones are in the file.
    private var entries: [RecordingEntry] = []
    private var writtenCount = 0
    private var file: WalkFile?

    /// A class, because a structure with a writer can't be copied.
    private final class WalkFile {
        var writer: RecordingWriter

        init(_ path: String, _ header: RecordingHeader) throws(RecordingError) {
            writer = try RecordingWriter(path: path, header: header)
        }

        func write(_ entries: some Sequence<RecordingEntry>) throws(RecordingError) {
            for entry in entries { try writer.write(entry) }
            try writer.checkpoint()
        }
    }

    init(tag: TagKey, path: String, start: Instant) {
        (self.tag, self.path, self.start) = (tag, path, start)
        device = tag.description
    }

    var isFull: Bool { entries.count >= Self.mostEntries }

    /// Adds a reading of a receiver.
    mutating func add(_ reading: TagReading, by receiver: VenueReceiver) {
        guard !isFull, reading.instant >= start else { return }
        receivers[receiver.id, default: 0] += 1
        readingCount += 1
        let sighting = Sighting(
            instant: instant(of: reading.instant), beacon: receiver.identity, rssi: reading.rssi)
        insert(.measurement(.sighting(sighting)), at: sighting.instant)
    }

    /// Adds a mark.
    mutating func mark(_ point: MapPoint, on map: MapID, at time: Instant) {
        // A mark has a time after the one before, as the carrier walked in this order.
        let instant = max(instant(of: max(time, start)), marks.last?.instant ?? .zero)
        marks.append(Mark(mapID: map, point: point, instant: instant))
        insert(.truth(Truth(instant: instant, mapID: map, point: point)), at: instant)
    }

    private func instant(of time: Instant) -> Instant { Instant.zero.advanced(by: start.duration(to: time)) }

    private mutating func insert(_ entry: RecordingEntry, at instant: Instant) {
        var place = entries.count
        while place > writtenCount, entries[place - 1].instant ?? .zero > instant { place -= 1 }
        // An entry that is later than its successors in the file gets their instant.
        if place == writtenCount, place > 0, let last = entries[place - 1].instant, last > instant {
            entries.insert(entry.moved(to: last), at: place)
        } else {
            entries.insert(entry, at: place)
        }
    }

    /// Removes the latest mark; returns whether there was one.
    mutating func undoMark() throws(RecordingError) -> Bool {
        guard marks.popLast() != nil,
            let index = entries.lastIndex(where: { if case .truth = $0 { true } else { false } })
        else { return false }
        entries.remove(at: index)
        guard index < writtenCount else { return true }
        writtenCount -= 1
        // The file keeps its earlier content until the new one is complete.
        let draft = try WalkFile(path + ".new", header)
        try draft.write(entries[..<writtenCount])
        guard rename(path + ".new", path) == 0 else {
            throw RecordingError(file: path, problem: .unwritable("it can't be replaced"))
        }
        file = draft
        return true
    }

    /// Writes the entries that are old enough.
    mutating func save(at now: Instant) throws(RecordingError) {
        let limit = instant(of: now).advanced(by: .zero - Self.patience)
        let end = entries[writtenCount...].firstIndex { $0.instant ?? .zero > limit } ?? entries.count
        try write(until: end)
    }

    /// Writes all entries, and closes the file.
    mutating func finish() throws(RecordingError) {
        try write(until: entries.count)
        try file?.writer.close()
    }

    private mutating func write(until end: Int) throws(RecordingError) {
        if file == nil {
            file = try WalkFile(path, header)
            // Without a first reading, the file is a recording, too.
            try file?.write([])
        }
        guard end > writtenCount else { return }
        try file?.write(entries[writtenCount..<end])
        writtenCount = end
    }

    private var header: RecordingHeader {
        var header = RecordingHeader()
        header.device = device
        return header
    }
}

extension RecordingEntry {
    fileprivate func moved(to instant: Instant) -> RecordingEntry {
        switch self {
        case .truth(var truth):
            truth.instant = instant
            return .truth(truth)
        case .measurement(.sighting(var sighting)):
            sighting.instant = instant
            return .measurement(.sighting(sighting))
        default: return self
        }
    }
}
