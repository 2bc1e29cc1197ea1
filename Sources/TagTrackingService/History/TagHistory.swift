import Glibc
import IndoorVocabulary
import LocalizationSession
import SQLiteFiles
import TagTracking
import VenueModel
import VenuePackets

/// A history of a fleet on one machine, in an SQLite file: who was in which room, and the positions of each tag.
///
/// A visit is the time of a tag in a room, from the entry to the exit. The outputs of an open visit extend it, so that
/// it is right after a crash, too. A visit without an output for longer than ``gap`` has ended at its last output. If
/// entries or exits are missing, such as after a start, the visits follow the rooms of the positions.
///
/// Positions are thinned: a tag has one every five seconds while it moves, and one a minute while it stands. Several
/// programs can read the file while one writes.
///
/// Outputs wait in memory while the file is locked or the disk is full, up to a number of them.
package actor TagHistory: FleetOutputSink {
    /// The settings of a history.
    package struct Settings: Hashable, Sendable {
        /// The age after which visits and positions are deleted; nil for no limit. Jumps of the clock don't count.
        package var age: Duration?
        /// The size of the file in bytes beyond which the oldest positions, and then the oldest visits, are deleted.
        package var size: Int?

        /// Creates settings without limits.
        package init(age: Duration? = nil, size: Int? = nil) {
            self.age = age
            self.size = size
        }
    }

    /// What happens to the outputs.
    package enum Report: Hashable, Sendable {
        /// Outputs can't be written, and wait; reported once until they can be written again.
        case unwritten(TagHistoryError)
        /// Visits and positions beyond the limits can't be deleted; reported once until they can be deleted again.
        case unpruned(TagHistoryError)
        /// Outputs are written again.
        case written
        /// A number of outputs is not in the file: too many of them waited, or an error of another kind occurred.
        case lost(Int)
    }

    /// The number of waiting outputs from which further ones are lost, some tens of megabytes.
    package static let mostWaiting = 65_536
    /// The version of the tables.
    static let version = 1
    /// The application identifier that marks the file as a history of tags: "ITHI".
    static let mark: Int64 = 0x4954_4849
    /// The longest time between two outputs of a visit.
    package static let gap = OpenVisits.gap
    /// The time between two positions of a tag that moves, and of one that stands.
    private static let (movingInterval, standingInterval) = (Duration.seconds(5), Duration.seconds(60))
    /// The distance in metres from the last stored position from which a tag moves.
    private static let movement = 1.0
    /// The longest time of a statement of the page. The queries of all pages wait for each other.
    private static let longestQuery = Duration.seconds(20)
    /// The time between two checks of the limits.
    private static let retentionInterval = Duration.seconds(60)
    /// The positions or visits that a statement deletes because of the size, and the statements of a check, so that it
    /// takes a short time. A check looks at as many tags as a statement deletes rows.
    private static let (deletionSize, mostDeletions): (Int64, Int) = (1_000, 50)

    private static let schema = [
        "CREATE TABLE tag (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT)",
        """
        CREATE TABLE visit (
            id INTEGER PRIMARY KEY, tag INTEGER NOT NULL, venue INTEGER NOT NULL, map INTEGER NOT NULL,
            room TEXT NOT NULL COLLATE NOCASE, start INTEGER NOT NULL, end INTEGER NOT NULL, is_open INTEGER NOT NULL)
        """,
        "CREATE INDEX visit_room ON visit (room, end)",
        "CREATE INDEX visit_tag ON visit (tag, end)",
        """
        CREATE TABLE position (
            tag INTEGER NOT NULL, time INTEGER NOT NULL, venue INTEGER NOT NULL, map INTEGER NOT NULL, x REAL NOT NULL,
            y REAL NOT NULL, radius REAL NOT NULL, area TEXT, latitude REAL, longitude REAL, PRIMARY KEY (tag, time))
        WITHOUT ROWID
        """,
        "CREATE INDEX position_time ON position (time)",
    ]

    private struct Known {
        var id: Int64
        var name: String?
        var visits: OpenVisits
        /// The identifiers of the open visits.
        var rows: [OpenVisits.Place: Int64] = [:]
        var last: (instant: Instant, mapID: MapID, point: MapPoint)?
    }

    /// The path of the file.
    package nonisolated let path: String
    /// Reads the file over another connection, so that the outputs don't wait for a query.
    package nonisolated let reader: TagHistoryReader
    private nonisolated let executor = BlockingExecutor(label: "TagHistory")
    private nonisolated let queue: HistoryQueue
    private let settings: Settings
    /// Tells which rows are too old; nil without a limit.
    private var ageLimit: AgeLimit?
    private let rooms: [Room]
    private let areas: AreaIndex
    private let report: @Sendable (Report) -> Void
    private var database: SQLiteFile<TagHistoryError>
    /// Excludes other writers; nil after the end.
    private var lock: OpenFile?
    /// The tags that are present, or whose presence isn't known yet.
    private var known: [TagKey: Known] = [:]
    /// The last tag that was checked for whether it has visits or positions.
    private var checkedTag: Int64 = 0
    private var nextRetention = ContinuousClock.now
    private var isReported = false
    /// Whether the latest attempt to delete what exceeds the limits failed.
    private var isPruningReported = false

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Opens a history, and creates the file if it does not exist.
    ///
    /// - Parameters:
    ///   - rooms: the rooms of the venue, which tell where a position is if they overlap; otherwise its label does.
    ///   - mostWaiting: the number of waiting outputs from which further ones are lost.
    ///   - waiting: the longest time that a transaction waits for another program.
    ///   - report: receives what happens to the outputs; it must not block.
    ///   - now: returns the present moment of the device, with which the rows age.
    /// - Throws: ``TagHistoryError`` if the file can't be opened, is none of a history, has a newer version, or if
    ///   another process writes it.
    package init(
        path: String, rooms: [Room] = [], settings: Settings = Settings(), mostWaiting: Int = TagHistory.mostWaiting,
        waiting: Duration = .seconds(5), report: @escaping @Sendable (Report) -> Void = { _ in },
        now: @escaping @Sendable () -> DeviceMoment = DeviceMoment.now
    ) throws(TagHistoryError) {
        let database = try SQLiteFile<TagHistoryError>(path: path, waiting: waiting)
        // A file gives the space of deleted rows back only if this is set before the tables.
        try database.run("PRAGMA auto_vacuum = INCREMENTAL")
        try database.adopt(mark: Self.mark, version: Self.version, schema: Self.schema)
        lock = try Self.locked(path)
        // A loss of power can lose the last transactions, and leaves a valid file.
        try database.run("PRAGMA synchronous = NORMAL")
        // The files of the first programs have no such index.
        try database.run("CREATE INDEX IF NOT EXISTS visit_time ON visit (end)")
        if let age = settings.age { ageLimit = try AgeLimit(age, in: database, now: now) }
        self.path = path
        reader = try TagHistoryReader(path: path, limit: Self.longestQuery)
        self.settings = settings
        self.rooms = rooms.filter { $0.area != nil }
        areas = AreaIndex(rooms.compactMap { room in room.area.map { (room.mapID, $0) } })
        queue = HistoryQueue(capacity: mostWaiting)
        self.report = report
        self.database = database
    }

    /// Locks a file beside the history. SQLite's own locks last for a transaction only, and it loses them when another
    /// descriptor of the same file is closed.
    private static func locked(_ path: String) throws(TagHistoryError) -> OpenFile {
        let file: OpenFile
        do throws(FileSystemError) {
            file = try OpenFile(SQLiteFile<TagHistoryError>.resolved(path) + "-lock", O_RDWR | O_CREAT)
        } catch { throw TagHistoryError(sqlite: .cannotOpen, path: error.path, message: "", code: 0) }
        guard file.lock() else { throw TagHistoryError(.inUse, path: path) }
        return file
    }

    // MARK: Outputs

    /// Adds outputs to those that wait for the file, without waiting for it.
    package nonisolated func write(_ outputs: [FleetOutput]) async {
        queue.append(outputs)
        flushInTime()
    }

    /// Closes the visits of tags that aren't located any more: they were there until their last output.
    package nonisolated func use(register: TagRegister, removing tags: [TagKey]) async {
        guard !tags.isEmpty else { return }
        queue.append(removalOf: tags)
        flushInTime()
    }

    private nonisolated func flushInTime() {
        guard queue.beginsFlush() else { return }
        Task { await flush() }
    }

    /// Writes the waiting outputs to the file, and checks the limits of the file. Outputs wait while the file is locked
    /// or can't be written, and are lost after another error.
    package func flush() {
        let changes = queue.take()
        let before = known
        do throws(TagHistoryError) {
            if !changes.isEmpty {
                try database.transaction { _ throws(TagHistoryError) in
                    for change in changes { try store(change) }
                }
            }
            queue.end(.written)
        } catch {
            // The rows of this transaction are not in the file, and neither are their identifiers.
            known = before
            queue.end(error.passes ? .kept : .lost)
            if !isReported { report(.unwritten(error)) }
            isReported = true
            return
        }
        if isReported { report(.written) }
        isReported = false
        for case .loss(let count) in changes { report(.lost(count)) }
        prune(after: changes)
    }

    /// Writes the waiting outputs, and lets other processes write the file. What can't be written is lost.
    package func finish() {
        flush()
        let lost = queue.missing
        if lost > 0 { report(.lost(lost)) }
        lock = nil
    }

    private func store(_ change: HistoryQueue.Change) throws(TagHistoryError) {
        switch change {
        case .outputs(let outputs): for output in outputs { try store(output) }
        case .removal(let tags):
            for tag in tags {
                try database.run(
                    "UPDATE visit SET is_open = 0 WHERE is_open = 1 AND tag = (SELECT id FROM tag WHERE key = ?)",
                    [.text(tag.description)])
                known[tag] = nil
            }
        // Entries and exits can be among the lost outputs of each tag.
        case .loss: known = [:]
        }
    }

    private func store(_ output: FleetOutput) throws(TagHistoryError) {
        var tag: Known
        if let known = known[output.tag] { tag = known } else { tag = try load(output.tag) }
        if let name = output.name, name != tag.name {
            try database.run("UPDATE tag SET name = ? WHERE id = ?", [.text(name), .integer(tag.id)])
            tag.name = name
        }
        switch output.content {
        case .present: tag.visits.begin()
        // The tag was there until its last output, not until it counts as away.
        case .away: try store(tag.visits.leave(), of: &tag)
        case .event(let event):
            switch event.kind {
            case .enterRoom(let room):
                try store(tag.visits.enter(Self.place(room), of: event.venueID, at: output.instant), of: &tag)
            case .exitRoom(let room):
                try store(tag.visits.exit(Self.place(room), at: output.instant), of: &tag)
            case .enterFence, .exitFence, .enterGeofence, .exitGeofence: break
            }
        case .position(let position):
            let changes = tag.visits.stay(in: presence(at: position), of: position.venueID, at: output.instant)
            try store(changes, of: &tag)
            try store(position, of: &tag, at: output.instant)
        case .room(let room):
            let place = room.label.map { OpenVisits.Place(mapID: TagRoom.mapID, room: $0) }
            let presence = OpenVisits.Presence(containing: Set(place.map { [$0] } ?? []))
            try store(tag.visits.stay(in: presence, of: TagRoom.venueID, at: output.instant), of: &tag)
        }
        // A tag that returns begins anew. Tags whose address changes never return.
        known[output.tag] = output.content == .away ? nil : tag
    }

    private static func place(_ room: Room) -> OpenVisits.Place { .init(mapID: room.mapID, room: room.name) }

    /// Returns the rooms of a position as the detection of entries and exits sees them.
    private func presence(at position: Position) -> OpenVisits.Presence {
        func place(_ room: String) -> OpenVisits.Place { .init(mapID: position.mapID, room: room) }
        var indexes: [Int] = []
        areas.append(to: &indexes, containing: position.point, on: position.mapID)
        let containing = Set(indexes.map { place(rooms[$0].name) } + (position.label.map { [place($0)] } ?? []))
        let likely = position.rooms.filter { $0.probability >= AreaMachine.probabilityOfStaying }.map { place($0.name) }
        return OpenVisits.Presence(containing: containing, others: likely)
    }

    private func load(_ key: TagKey) throws(TagHistoryError) -> Known {
        let text = key.description
        try database.run("INSERT INTO tag (key) VALUES (?) ON CONFLICT DO NOTHING", [.text(text)])
        let row = try database.run("SELECT id, name FROM tag WHERE key = ?", [.text(text)]).first ?? []
        let id = row.first?.integer ?? 0
        let open = try database.run(
            "SELECT id, map, room, end FROM visit WHERE tag = ? AND is_open = 1 ORDER BY id", [.integer(id)])
        var rows: [OpenVisits.Place: Int64] = [:]
        var ends: [OpenVisits.Place: Instant] = [:]
        for row in open {
            guard let visit = row[0].integer, let map = row[1].integer, let room = row[2].text,
                let end = row[3].integer
            else { continue }
            let place = OpenVisits.Place(mapID: MapID(rawValue: Int(map)), room: room)
            if let earlier = rows[place] { try close(earlier) }
            rows[place] = visit
            ends[place] = Instant(nanoseconds: end * 1_000_000)
        }
        return Known(
            id: id, name: row.last?.text, visits: OpenVisits(continuing: ends.map { ($0.key, $0.value) }), rows: rows)
    }

    private func store(_ changes: [OpenVisits.Change], of tag: inout Known) throws(TagHistoryError) {
        for change in changes {
            switch change {
            case .begin(let place, let venue, let instant):
                let time = Self.milliseconds(instant)
                let rows = try database.run(
                    """
                    INSERT INTO visit (tag, venue, map, room, start, end, is_open) VALUES (?, ?, ?, ?, ?, ?, 1)
                    RETURNING id
                    """,
                    [
                        .integer(tag.id), .integer(Int64(venue.rawValue)), .integer(Int64(place.mapID.rawValue)),
                        .text(place.room), time, time,
                    ])
                tag.rows[place] = rows.first?.first?.integer
            case .extend(let place, let instant):
                guard let id = tag.rows[place] else { continue }
                try database.run(
                    "UPDATE visit SET end = max(end, ?) WHERE id = ?", [Self.milliseconds(instant), .integer(id)])
            case .end(let place):
                if let id = tag.rows.removeValue(forKey: place) { try close(id) }
            }
        }
    }

    private func close(_ visit: Int64) throws(TagHistoryError) {
        try database.run("UPDATE visit SET is_open = 0 WHERE id = ?", [.integer(visit)])
    }

    private func store(
        _ position: Position, of tag: inout Known, at instant: Instant
    ) throws(TagHistoryError) {
        if let last = tag.last, last.mapID == position.mapID {
            let moves = last.point.distance(to: position.point) >= Self.movement
            let interval = moves ? Self.movingInterval : Self.standingInterval
            guard last.instant.duration(to: instant) >= interval else { return }
        }
        tag.last = (instant, position.mapID, position.point)
        func number(_ value: Double?) -> SQLiteValue { value.map { .real($0) } ?? .null }
        try database.run(
            "INSERT INTO position VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [
                .integer(tag.id), Self.milliseconds(instant), .integer(Int64(position.venueID.rawValue)),
                .integer(Int64(position.mapID.rawValue)), .real(position.x), .real(position.y), .real(position.radius),
                position.label.map { .text($0) } ?? .null, number(position.coordinate?.latitude),
                number(position.coordinate?.longitude),
            ])
    }

    static func milliseconds(_ instant: Instant) -> SQLiteValue { .integer(instant.nanoseconds / 1_000_000) }

    // MARK: Retention

    /// Deletes what exceeds the limits, once in a while.
    private func prune(after changes: [HistoryQueue.Change]) {
        var newest: Instant?
        for case .outputs(let outputs) in changes {
            for output in outputs { newest = max(newest ?? output.instant, output.instant) }
        }
        guard let newest, ContinuousClock.now >= nextRetention else { return }
        do throws(TagHistoryError) {
            // What is left of a large excess follows with the next outputs.
            nextRetention = .now + (try prune(at: newest) ? Self.retentionInterval : .zero)
            isPruningReported = false
        } catch {
            nextRetention = .now + Self.retentionInterval
            if !isPruningReported { report(.unpruned(error)) }
            isPruningReported = true
        }
    }

    /// Deletes what exceeds the limits; returns whether nothing exceeds them any more.
    private func prune(at newest: Instant) throws(TagHistoryError) -> Bool {
        if let bound = try ageLimit?.bound(in: database, at: newest) {
            let limit = Self.milliseconds(bound)
            try database.run("DELETE FROM position WHERE time < ?", [limit])
            try database.run("DELETE FROM visit WHERE end < ?", [limit])
        }
        if settings != Settings() { try forgetTags() }
        var fits = true
        if let size = settings.size {
            for _ in 0..<Self.mostDeletions {
                fits = try usedBytes <= size
                if fits { break }
                try database.run(
                    """
                    DELETE FROM position WHERE time <= (SELECT max(time) FROM (
                        SELECT time FROM position ORDER BY time LIMIT ?))
                    """, [.integer(Self.deletionSize)])
                guard try database.number("SELECT changes()") == 0 else { continue }
                try database.run(
                    "DELETE FROM visit WHERE id IN (SELECT id FROM visit ORDER BY end LIMIT ?)",
                    [.integer(Self.deletionSize)])
                // An open visit can have been deleted.
                known = known.filter { $0.value.rows.isEmpty }
                guard try database.number("SELECT EXISTS (SELECT 1 FROM visit)") > 0 else { return true }
            }
        }
        try database.run("PRAGMA incremental_vacuum")
        // The file becomes shorter when the journal's pages are in it.
        try database.run("PRAGMA wal_checkpoint(PASSIVE)")
        return fits
    }

    /// Deletes the next tags that aren't present, and whose visits and positions have been deleted.
    private func forgetTags() throws(TagHistoryError) {
        let first = SQLiteValue.integer(checkedTag)
        let last = try database.run(
            "SELECT max(id) FROM (SELECT id FROM tag WHERE id > ? ORDER BY id LIMIT ?)",
            [first, .integer(Self.deletionSize)]
        ).first?.first?.integer
        // After the last tag, the next check begins with the first one again.
        checkedTag = last ?? 0
        guard let last else { return }
        let unused = try database.run(
            """
            SELECT id FROM tag WHERE id > ? AND id <= ? AND NOT EXISTS (SELECT 1 FROM visit WHERE visit.tag = tag.id)
                AND NOT EXISTS (SELECT 1 FROM position WHERE position.tag = tag.id)
            """, [first, .integer(last)])
        let present = Set(known.values.map(\.id))
        let forgotten = unused.compactMap(\.first?.integer).filter { !present.contains($0) }
        guard !forgotten.isEmpty else { return }
        try database.transaction { database throws(TagHistoryError) in
            for id in forgotten { try database.run("DELETE FROM tag WHERE id = ?", [.integer(id)]) }
        }
    }

    /// The bytes of the file that are in use.
    private var usedBytes: Int {
        get throws(TagHistoryError) {
            let pages = try database.number("PRAGMA page_count") - database.number("PRAGMA freelist_count")
            return Int(pages * (try database.number("PRAGMA page_size")))
        }
    }
}
