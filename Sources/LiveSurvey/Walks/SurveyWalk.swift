import BeaconScanning
import Glibc
import IndoorVocabulary
import ScanRecording
import VenueModel

/// A walk of a survey: what was heard on it, and the places that the person has marked.
///
/// The walk is a recording. In one with a tag, each receiver that hears the tag is a beacon. Readings arrive out of order, so
/// that an entry is written a second after its instant.
struct SurveyWalk {
    /// The time for which an entry waits for earlier ones.
    static let patience = Duration.seconds(1)

    let carrier: SurveyCarrier
    let path: String
    /// The time of the start, counted from the Unix epoch.
    let start: Instant
    private let limits: SurveyDesk.Limits
    /// The identifiers of marks, also of removed ones: a device that got no answer sends a mark again.
    private var markIDs: Set<String> = []
    /// The error of the latest write; nil after a write without one.
    private(set) var writeError: RecordingError?
    /// The places that were marked, at the times since the start of the walk.
    private(set) var marks: [Truth] = []
    /// The beacons that were heard, or the receivers that heard the tag.
    private(set) var beacons: Set<BeaconIdentity> = []
    /// The entries in the order of their instants, of which the first ones are in the file.
    private var entries: [RecordingEntry] = []
    private var writtenCount = 0
    /// Whether the first entries aren't the content of the file: one was inserted or removed, or a write failed, after which
    /// the file can end in a part of a line.
    private var isStale = true
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

    init(with carrier: SurveyCarrier, path: String, start: Instant, limits: SurveyDesk.Limits) {
        (self.carrier, self.path, self.start, self.limits) = (carrier, path, start, limits)
    }

    /// The number of readings.
    var readingCount: Int { entries.count - marks.count }

    private var isFull: Bool { entries.count >= limits.entries }

    /// The limit that the walk has reached; nil for none.
    var reachedLimit: SurveyDesk.Refusal? {
        if isFull { return .fullWalk(limits.entries) }
        return max(marks.count, markIDs.count) >= limits.marks ? .tooManyMarks(limits.marks) : nil
    }

    /// Adds a sighting.
    mutating func add(_ sighting: Sighting) {
        guard !isFull, sighting.instant >= start else { return }
        beacons.insert(sighting.beacon)
        var sighting = sighting
        sighting.instant = instant(of: sighting.instant)
        insert(.measurement(.sighting(sighting)), at: sighting.instant)
    }

    /// Adds a mark, unless there was one with its identifier.
    ///
    /// - Parameter room: the name of the room that was marked; nil for a place of the plan.
    /// - Throws: the limit that the walk has reached.
    mutating func mark(
        _ point: MapPoint, on map: MapID, room: String?, at time: Instant, id: String?
    ) throws(SurveyDesk.Refusal) {
        if let id, markIDs.contains(id) { return }
        if let reachedLimit { throw reachedLimit }
        if let id { markIDs.insert(id) }
        // A mark has a time after the one before, as the carrier walked in this order.
        let instant = max(instant(of: max(time, start)), marks.last?.instant ?? .zero)
        let mark = Truth(instant: instant, mapID: map, point: point, room: room)
        marks.append(mark)
        insert(.truth(mark), at: instant)
    }

    private func instant(of time: Instant) -> Instant { Instant.zero.advanced(by: start.duration(to: time)) }

    private mutating func insert(_ entry: RecordingEntry, at instant: Instant) {
        // A mark has its exact place, also within the file. A gateway that is always late would make the file be written
        // again each second, so that its readings get the instant of the last entry in the file.
        let isMark = if case .truth = entry { true } else { false }
        var place = entries.count
        while place > (isMark ? 0 : writtenCount), entries[place - 1].instant ?? .zero > instant { place -= 1 }
        if place == writtenCount, place > 0, let last = entries[place - 1].instant, last > instant {
            entries.insert(entry.moved(to: last), at: place)
        } else {
            entries.insert(entry, at: place)
        }
        guard place < writtenCount else { return }
        writtenCount += 1
        isStale = true
    }

    /// Removes the latest mark, if there is one. The next write removes it from the file.
    mutating func undoMark() {
        guard marks.popLast() != nil,
            let index = entries.lastIndex(where: { if case .truth = $0 { true } else { false } })
        else { return }
        entries.remove(at: index)
        guard index < writtenCount else { return }
        writtenCount -= 1
        isStale = true
    }

    /// Writes the entries that are old enough.
    mutating func save(at now: Instant) throws(RecordingError) {
        let limit = instant(of: now).advanced(by: .zero - Self.patience)
        let end = entries[writtenCount...].firstIndex { $0.instant ?? .zero > limit } ?? entries.count
        try write(until: end)
    }

    /// Writes all entries, and closes the file.
    mutating func finish() throws(RecordingError) {
        try write(until: entries.count, andClose: true)
    }

    /// Writes the first entries. After an error, the next call writes all of them again.
    private mutating func write(until end: Int, andClose closes: Bool = false) throws(RecordingError) {
        do throws(RecordingError) {
            if isStale {
                try replaceFile(until: end)
            } else if end > writtenCount {
                try file?.write(entries[writtenCount..<end])
            }
            if closes { try file?.writer.close() }
            (isStale, writtenCount, writeError) = (false, end, nil)
        } catch {
            // The writer has the name of the draft.
            var error = error
            error.file = path
            (isStale, writeError) = (true, error)
            throw error
        }
    }

    /// Replaces the file, which keeps its earlier content until the new one is complete.
    private mutating func replaceFile(until end: Int) throws(RecordingError) {
        let draftPath = path + ".new"
        do throws(RecordingError) {
            let draft = try WalkFile(draftPath, header)
            try draft.write(entries[..<end])
            guard rename(draftPath, path) == 0 else {
                throw RecordingError(file: path, problem: .unwritable(String(cString: strerror(errno))))
            }
            file = draft
        } catch {
            unlink(draftPath)
            throw error
        }
    }

    private var header: RecordingHeader {
        var header = RecordingHeader()
        header.startedAt = RecordingStart.text(start.nanoseconds / 1000)
        header.device = carrier.tag
        return header
    }
}

extension RecordingEntry {
    fileprivate func moved(to instant: Instant) -> RecordingEntry {
        switch self {
        case .measurement(.sighting(var sighting)):
            sighting.instant = instant
            return .measurement(.sighting(sighting))
        default: return self
        }
    }
}
