import IndoorVocabulary
import LocalizationSession
import SQLiteFiles
import TagTracking
import VenueModel

/// A history of a fleet on one machine, in an SQLite file: who was in which room, and the positions of each tag.
///
/// A visit is the time of a tag in a room, from the entry to the exit. The outputs of an open visit extend it, so that
/// it is right after a crash, too. A visit without an output for longer than ``gap`` has ended at its last output.
///
/// Positions are thinned: a tag has one every five seconds while it moves, and one a minute while it stands. Several
/// programs can read the file while one writes.
package actor TagHistory: FleetOutputSink {
    /// The settings of a history.
    package struct Settings: Hashable, Sendable {
        /// The age after which visits and positions are deleted; nil for no limit.
        package var age: Duration?
        /// The size of the file in bytes beyond which the oldest positions, and then the oldest visits, are deleted.
        package var size: Int?

        /// Creates settings without limits.
        package init(age: Duration? = nil, size: Int? = nil) {
            self.age = age
            self.size = size
        }
    }

    /// The version of the tables.
    static let version = 1
    /// The application identifier that marks the file as a history of tags: "ITHI".
    static let mark: Int64 = 0x4954_4849
    /// The longest time between two outputs of a visit.
    package static let gap = Duration.seconds(60)
    /// The time between two positions of a tag that moves, and of one that stands.
    private static let (movingInterval, standingInterval) = (Duration.seconds(5), Duration.seconds(60))
    /// The distance in metres from the last stored position from which a tag moves.
    private static let movement = 1.0
    /// The longest time of a statement of the page. The queries of all pages wait for each other.
    private static let longestQuery = Duration.seconds(20)
    /// The time between two transactions, and the number of outputs that begins one.
    private static let (flushInterval, flushCount) = (Duration.seconds(1), 2_000)
    /// The time between two checks of the limits.
    private static let retentionInterval = Duration.seconds(60)
    /// The positions and visits that one check deletes because of the size, so that it takes a short time.
    private static let deletionSize: Int64 = 50_000

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

    /// A visit that has not ended.
    private struct OpenVisit {
        var id: Int64
        var mapID: MapID
        var room: String
        var end: Instant
    }

    private struct Known {
        var id: Int64
        var name: String?
        var visits: [OpenVisit] = []
        var last: (instant: Instant, mapID: MapID, point: MapPoint)?
    }

    /// The path of the file.
    package nonisolated let path: String
    /// Reads the file over another connection, so that the outputs don't wait for a query.
    package nonisolated let reader: TagHistoryReader
    private nonisolated let executor = BlockingExecutor(label: "TagHistory")
    private let settings: Settings
    private let report: @Sendable (TagHistoryError) -> Void
    private var database: SQLiteFile<TagHistoryError>
    private var known: [TagKey: Known] = [:]
    private var waiting: [FleetOutput] = []
    private var nextFlush = ContinuousClock.now
    private var nextRetention = ContinuousClock.now
    private var isReported = false

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Opens a history, and creates the file if it does not exist.
    ///
    /// - Parameter report: receives the first error of each series while outputs can't be written.
    /// - Throws: ``TagHistoryError`` if the file can't be opened, is none of a history, or has a newer version.
    package init(
        path: String, settings: Settings = Settings(), report: @escaping @Sendable (TagHistoryError) -> Void = { _ in }
    ) throws(TagHistoryError) {
        let database = try SQLiteFile<TagHistoryError>(path: path, waiting: .seconds(5))
        // A file gives the space of deleted rows back only if this is set before the tables.
        try database.run("PRAGMA auto_vacuum = INCREMENTAL")
        try database.adopt(mark: Self.mark, version: Self.version, schema: Self.schema)
        // A loss of power can lose the last transactions, and leaves a valid file.
        try database.run("PRAGMA synchronous = NORMAL")
        // The files of the first programs have no such index.
        try database.run("CREATE INDEX IF NOT EXISTS visit_time ON visit (end)")
        self.path = path
        reader = try TagHistoryReader(path: path, limit: Self.longestQuery)
        self.settings = settings
        self.report = report
        self.database = database
    }

    // MARK: Outputs

    package func write(_ outputs: [FleetOutput]) async {
        waiting += outputs
        guard waiting.count >= Self.flushCount || ContinuousClock.now >= nextFlush else { return }
        flush()
    }

    /// Writes the waiting outputs to the file. An output that can't be written is lost, and the error reported once.
    package func flush() {
        nextFlush = .now + Self.flushInterval
        let outputs = waiting
        waiting = []
        let newest = outputs.map(\.instant).max()
        do throws(TagHistoryError) {
            if !outputs.isEmpty {
                try database.transaction { _ throws(TagHistoryError) in
                    for output in outputs { try store(output) }
                }
            }
            if let newest, ContinuousClock.now >= nextRetention {
                nextRetention = .now + Self.retentionInterval
                try prune(at: newest)
            }
            isReported = false
        } catch {
            // The rows of this transaction are not in the file, and neither are their identifiers.
            known = [:]
            reportOnce(error)
        }
    }

    /// Closes the visits of tags that aren't located any more: they were there until their last output.
    package func use(register: TagRegister, removing tags: [TagKey]) async {
        guard !tags.isEmpty else { return }
        flush()
        do throws(TagHistoryError) {
            try database.transaction { _ throws(TagHistoryError) in
                for tag in tags {
                    try database.run(
                        "UPDATE visit SET is_open = 0 WHERE is_open = 1 AND tag = (SELECT id FROM tag WHERE key = ?)",
                        [.text(tag.description)])
                    known[tag] = nil
                }
            }
        } catch {
            reportOnce(error)
        }
    }

    private func reportOnce(_ error: TagHistoryError) {
        if !isReported { report(error) }
        isReported = true
    }

    private func store(_ output: FleetOutput) throws(TagHistoryError) {
        var tag: Known
        if let known = known[output.tag] { tag = known } else { tag = try load(output.tag) }
        if let name = output.name, name != tag.name {
            try database.run("UPDATE tag SET name = ? WHERE id = ?", [.text(name), .integer(tag.id)])
            tag.name = name
        }
        switch output.content {
        case .present: break
        case .away:
            // The tag was there until its last output, not until it counts as away.
            for visit in tag.visits { try close(visit) }
            tag.visits = []
        case .event(let event):
            switch event.kind {
            case .enterRoom(let room): try enter(room, event.venueID, &tag, at: output.instant)
            case .exitRoom(let room):
                for visit in tag.visits where visit.room == room.name && visit.mapID == room.mapID {
                    // A program that starts again reports the exit of a tag that left meanwhile.
                    if visit.end.duration(to: output.instant) <= Self.gap { try extend(visit, to: output.instant) }
                    try close(visit)
                }
                tag.visits.removeAll { $0.room == room.name && $0.mapID == room.mapID }
            case .enterFence, .exitFence, .enterGeofence, .exitGeofence: break
            }
        case .position(let position):
            try extendVisits(
                of: &tag, in: position.label, on: position.mapID, of: position.venueID, at: output.instant)
            try store(position, of: &tag, at: output.instant)
        case .room(let room):
            try extendVisits(
                of: &tag, in: room.label, on: TagRoom.mapID, of: TagRoom.venueID, at: output.instant)
        }
        known[output.tag] = tag
    }

    private func load(_ key: TagKey) throws(TagHistoryError) -> Known {
        let text = key.description
        try database.run("INSERT INTO tag (key) VALUES (?) ON CONFLICT DO NOTHING", [.text(text)])
        let row = try database.run("SELECT id, name FROM tag WHERE key = ?", [.text(text)]).first ?? []
        var tag = Known(id: row.first?.integer ?? 0, name: row.last?.text)
        let open = try database.run(
            "SELECT id, map, room, end FROM visit WHERE tag = ? AND is_open = 1 ORDER BY id", [.integer(tag.id)])
        tag.visits = open.compactMap { row in
            guard let id = row[0].integer, let map = row[1].integer, let room = row[2].text, let end = row[3].integer
            else { return nil }
            return OpenVisit(
                id: id, mapID: MapID(rawValue: Int(map)), room: room, end: Instant(nanoseconds: end * 1_000_000))
        }
        return tag
    }

    private func enter(
        _ room: Room, _ venue: VenueID, _ tag: inout Known, at instant: Instant
    ) throws(TagHistoryError) {
        if let index = tag.visits.firstIndex(where: { $0.room == room.name && $0.mapID == room.mapID }) {
            // A program that starts again without a state reports the entry again.
            guard tag.visits[index].end.duration(to: instant) > Self.gap else { return }
            try close(tag.visits[index])
            tag.visits.remove(at: index)
        }
        let time = Self.milliseconds(instant)
        let rows = try database.run(
            """
            INSERT INTO visit (tag, venue, map, room, start, end, is_open) VALUES (?, ?, ?, ?, ?, ?, 1) RETURNING id
            """,
            [
                .integer(tag.id), .integer(Int64(venue.rawValue)), .integer(Int64(room.mapID.rawValue)),
                .text(room.name), time, time,
            ])
        tag.visits.append(
            OpenVisit(id: rows.first?.first?.integer ?? 0, mapID: room.mapID, room: room.name, end: instant))
    }

    /// Extends the open visits to an output. Those without an output for too long have ended before it; the visit of
    /// the present room then begins again.
    private func extendVisits(
        of tag: inout Known, in room: String?, on map: MapID, of venue: VenueID, at instant: Instant
    ) throws(TagHistoryError) {
        for index in tag.visits.indices.reversed() {
            guard tag.visits[index].end.duration(to: instant) > Self.gap else {
                // A second is exact enough, and few positions need a statement.
                if tag.visits[index].end.duration(to: instant) >= .seconds(1) {
                    try extend(tag.visits[index], to: instant)
                    tag.visits[index].end = instant
                }
                continue
            }
            let visit = tag.visits.remove(at: index)
            try close(visit)
            if visit.room == room, visit.mapID == map {
                try enter(Room(id: 0, name: visit.room, mapID: visit.mapID), venue, &tag, at: instant)
            }
        }
    }

    private func extend(_ visit: OpenVisit, to instant: Instant) throws(TagHistoryError) {
        try database.run(
            "UPDATE visit SET end = max(end, ?) WHERE id = ?", [Self.milliseconds(instant), .integer(visit.id)])
    }

    private func close(_ visit: OpenVisit) throws(TagHistoryError) {
        try database.run("UPDATE visit SET is_open = 0 WHERE id = ?", [.integer(visit.id)])
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

    /// Deletes what exceeds the limits.
    private func prune(at now: Instant) throws(TagHistoryError) {
        if let age = settings.age {
            let limit = Self.milliseconds(now.advanced(by: .zero - age))
            try database.run("DELETE FROM position WHERE time < ?", [limit])
            try database.run("DELETE FROM visit WHERE end < ?", [limit])
        }
        if let size = settings.size {
            while try usedBytes > size {
                let count = try database.number("SELECT count(*) FROM position")
                // A tenth at once, so that this is rarely necessary.
                let excess = min(Self.deletionSize, max(1, count / 10))
                if count > 0 {
                    try database.run(
                        """
                        DELETE FROM position WHERE time <= (SELECT max(time) FROM (
                            SELECT time FROM position ORDER BY time LIMIT ?))
                        """, [.integer(excess)])
                } else if try database.number("SELECT count(*) FROM visit") > 0 {
                    try database.run(
                        "DELETE FROM visit WHERE id IN (SELECT id FROM visit ORDER BY end LIMIT ?)", [.integer(1_000)])
                } else {
                    break
                }
            }
        }
        try database.run("PRAGMA incremental_vacuum")
        // The file becomes shorter when the journal's pages are in it.
        try database.run("PRAGMA wal_checkpoint(PASSIVE)")
        // An open visit can have been deleted.
        known = known.filter { $0.value.visits.isEmpty }
    }

    /// The bytes of the file that are in use.
    private var usedBytes: Int {
        get throws(TagHistoryError) {
            let pages = try database.number("PRAGMA page_count") - database.number("PRAGMA freelist_count")
            return Int(pages * (try database.number("PRAGMA page_size")))
        }
    }
}
