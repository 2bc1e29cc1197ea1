import IndoorVocabulary
import SQLiteFiles
import TagTracking
import VenueModel

/// A reader of a history's file, over a connection of its own. A query neither delays the program that writes the file
/// nor waits for it.
package actor TagHistoryReader {
    private nonisolated let executor = BlockingExecutor(label: "TagHistoryReader")
    private let database: SQLiteFile<TagHistoryError>

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Opens a history, which needs no right to write the file or its folder.
    ///
    /// - Parameter limit: the longest time of a statement, after which it fails; nil for no limit.
    /// - Throws: ``TagHistoryError`` if the file can't be read, is none of a history, or has a newer version.
    package init(path: String, limit: Duration? = nil) throws(TagHistoryError) {
        do throws(TagHistoryError) {
            let database = try SQLiteFile<TagHistoryError>(reading: path, waiting: .seconds(5))
            try database.check(mark: TagHistory.mark, version: TagHistory.version)
            if let limit { database.endStatements(after: limit) }
            self.database = database
        } catch {
            var error = error
            // SQLite must write a journal's index, and reports that it can't.
            if [.sqlite(.cannotOpen), .sqlite(.readOnly)].contains(error.reason) { error.reason = .unreadable }
            throw error
        }
    }

    /// Returns the visits that match a query, in the order of start, tag and identifier.
    ///
    /// - Parameters:
    ///   - last: the visit after which they begin; nil for the first ones.
    ///   - now: the present time, counted from the Unix epoch.
    package func visits(
        _ query: TagHistoryQuery, after last: TagVisit.Place? = nil, at now: Instant = FleetClock.wallTime
    ) throws(TagHistoryError) -> [TagVisit] {
        var query = query
        // A visit ends after its start, so that the index skips those of earlier pages.
        if let last { query.start = max(query.start, last.start) }
        guard var selection = try selection(query, "visit", start: "start", end: "end", room: "room") else { return [] }
        if let last {
            selection.text += " AND (visit.start, tag.key, visit.id) > (?, ?, ?)"
            selection.values += [TagHistory.milliseconds(last.start), .text(last.tag), .integer(last.id)]
        }
        return try database.run(
            """
            SELECT visit.id, tag.key, tag.name, visit.map, visit.room, visit.start, visit.end, visit.is_open
            FROM visit CROSS JOIN tag ON tag.id = visit.tag WHERE \(selection.text)
            ORDER BY visit.start, tag.key, visit.id LIMIT ?
            """, selection.values + [.integer(Int64(query.limit))]
        ).compactMap { TagVisit(row: $0, at: now) }
    }

    /// Returns the time that each tag was in each room within a query's time, in the order of rooms and tags.
    ///
    /// - Parameter last: the room, and the tag's identifier, after which they begin; nil for the first ones.
    package func dwells(
        _ query: TagHistoryQuery, after last: TagDwell.Place? = nil
    ) throws(TagHistoryError) -> [TagDwell] {
        guard var selection = try selection(query, "visit", start: "start", end: "end", room: "room") else { return [] }
        if let last {
            selection.text += " AND (visit.room, tag.key) > (?, (SELECT key FROM tag WHERE id = ?))"
            selection.values += [.text(last.room), .integer(last.tagID)]
        }
        let bounds = [TagHistory.milliseconds(query.end), TagHistory.milliseconds(query.start)]
        return try database.run(
            """
            SELECT tag.id, tag.key, tag.name, visit.room, count(*), sum(min(visit.end, ?) - max(visit.start, ?))
            FROM visit CROSS JOIN tag ON tag.id = visit.tag WHERE \(selection.text)
            GROUP BY visit.room, tag.id ORDER BY visit.room, tag.key LIMIT ?
            """, bounds + selection.values + [.integer(Int64(query.limit))]
        ).compactMap(TagDwell.init(row:))
    }

    /// Returns positions that match a query, in the order of time and tag.
    ///
    /// - Parameters:
    ///   - last: the time and the key of the position after which they begin; nil for the first ones.
    ///   - interval: the time of which each tag has only the last position, at least a millisecond; nil for all positions.
    package func positions(
        _ query: TagHistoryQuery, after last: (time: Instant, tag: String)? = nil, each interval: Duration? = nil
    ) throws(TagHistoryError) -> [StoredPosition] {
        var query = query
        // The index finds the time, and not the pair of time and tag.
        if let last { query.start = max(query.start, last.time) }
        guard let selection = try selection(query, "position", start: "time", end: "time", room: "area") else {
            return []
        }
        var (condition, values) = ("1", selection.values)
        var (time, group) = ("position.time", "")
        if let interval {
            // Of a group, SQLite returns the row with the maximum.
            time = "max(position.time)"
            group = "GROUP BY position.tag, position.time / ?"
            values.append(.integer(max(1, Int64(interval / .milliseconds(1)))))
        }
        if let last {
            condition = "(time, key) > (?, ?)"
            values += [TagHistory.milliseconds(last.time), .text(last.tag)]
        }
        return try database.run(
            """
            SELECT key, name, time, map, x, y, radius, area, latitude, longitude FROM (
                SELECT tag.key, tag.name, \(time) AS time, position.map, position.x, position.y, position.radius,
                    position.area, position.latitude, position.longitude
                FROM position CROSS JOIN tag ON tag.id = position.tag WHERE \(selection.text) \(group))
            WHERE \(condition) ORDER BY time, key LIMIT ?
            """, values + [.integer(Int64(query.limit))]
        ).compactMap(StoredPosition.init(row:))
    }

    /// Returns the number of positions that match a query, and of their tags in each part of its time.
    ///
    /// - Parameter parts: the number of parts of the same length, at least 1.
    package func activity(_ query: TagHistoryQuery, parts: Int) throws(TagHistoryError) -> TagHistoryActivity {
        var activity = TagHistoryActivity(tags: Array(repeating: 0, count: parts))
        guard let selection = try selection(query, "position", start: "time", end: "time", room: "area") else {
            return activity
        }
        let start = TagHistory.milliseconds(query.start)
        let span = max(1, query.start.duration(to: query.end) / .milliseconds(1))
        let rows = try database.run(
            """
            SELECT CAST((position.time - ?) * ? AS INTEGER) AS part, count(*), count(DISTINCT position.tag),
                min(position.time), max(position.time)
            FROM position WHERE \(selection.text) GROUP BY part
            """, [start, .real(Double(parts) / span)] + selection.values)
        for row in rows {
            guard row.count == 5, let part = row[0].integer, let count = row[1].integer, let tags = row[2].integer,
                let first = row[3].integer, let last = row[4].integer
            else { continue }
            activity.positions += Int(count)
            activity.tags[min(parts - 1, max(0, Int(part)))] = Int(tags)
            let times = (first: Instant(nanoseconds: first * 1_000_000), last: Instant(nanoseconds: last * 1_000_000))
            activity.first = min(activity.first ?? times.first, times.first)
            activity.last = max(activity.last ?? times.last, times.last)
        }
        return activity
    }

    /// Returns the conditions of a statement, which contains values only as parameters; nil if no tag matches, or if the
    /// caller has gone while other queries ran.
    private func selection(
        _ query: TagHistoryQuery, _ table: String, start: String, end: String, room: String
    ) throws(TagHistoryError) -> (text: String, values: [SQLiteValue])? {
        guard !Task.isCancelled else { return nil }
        var text = "\(table).\(start) < ? AND \(table).\(end) >= ?"
        var values = [TagHistory.milliseconds(query.end), TagHistory.milliseconds(query.start)]
        if let name = query.room {
            text += " AND \(table).\(room) = ? COLLATE NOCASE"
            values.append(.text(name))
        }
        if let tag = query.tag {
            let key = TagNaming.key(of: tag)?.canonical.description ?? tag
            let ids = try database.run(
                "SELECT id FROM tag WHERE key = ? OR name = ? COLLATE NOCASE", [.text(key), .text(tag)])
            guard !ids.isEmpty else { return nil }
            text += " AND \(table).tag IN (" + Array(repeating: "?", count: ids.count).joined(separator: ", ") + ")"
            values += ids.map { $0[0] }
        }
        return (text, values)
    }
}

/// The number of positions in a time, and of the tags in each of its parts.
package struct TagHistoryActivity: Hashable, Sendable {
    /// The number of positions.
    package var positions = 0
    /// The time of the first and of the last position, counted from the Unix epoch; nil without one.
    package var first: Instant?
    package var last: Instant?
    /// The number of tags with a position, for each part.
    package var tags: [Int]
}

/// The selection of visits and positions.
package struct TagHistoryQuery: Hashable, Sendable {
    /// The name of a room, in which the case of the letters A to Z doesn't matter; nil for all.
    package var room: String?
    /// The key or the name of a tag; nil for all.
    package var tag: String?
    /// The first instant, counted from the Unix epoch.
    package var start: Instant
    /// The instant after the last one.
    package var end: Instant
    /// The largest number of results.
    package var limit = 10_000

    /// Creates a query.
    package init(room: String? = nil, tag: String? = nil, from start: Instant, to end: Instant) {
        (self.room, self.tag, self.start, self.end) = (room, tag, start, end)
    }
}

/// The time of a tag in a room.
package struct TagVisit: Hashable, Sendable {
    /// The place in the order of visits.
    package struct Place: Hashable, Sendable {
        package var start: Instant
        package var tag: String
        package var id: Int64

        package init(start: Instant, tag: String, id: Int64) {
            (self.start, self.tag, self.id) = (start, tag, id)
        }
    }

    /// The identifier within the file.
    package var id: Int64
    /// The key of the tag.
    package var tag: String
    /// The display name of the tag; nil for the key.
    package var name: String?
    package var mapID: MapID
    package var room: String
    /// The time of the entry, counted from the Unix epoch.
    package var start: Instant
    /// The time of the exit, or of the latest output of an open visit.
    package var end: Instant
    /// Whether the tag is still there: the visit has no exit, and its latest output is at most ``TagHistory/gap`` ago. A
    /// program that was killed leaves visits without an exit.
    package var isOpen: Bool

    package var place: Place { Place(start: start, tag: tag, id: id) }

    fileprivate init?(row: [SQLiteValue], at now: Instant) {
        guard row.count == 8, let id = row[0].integer, let tag = row[1].text, let map = row[3].integer,
            let room = row[4].text, let start = row[5].integer, let end = row[6].integer
        else { return nil }
        (self.id, self.tag, name, mapID, self.room) = (id, tag, row[2].text, MapID(rawValue: Int(map)), room)
        self.start = Instant(nanoseconds: start * 1_000_000)
        self.end = Instant(nanoseconds: end * 1_000_000)
        isOpen = row[7].integer == 1 && self.end.duration(to: now) <= TagHistory.gap
    }
}

/// The time that a tag was in a room, in one or more visits.
package struct TagDwell: Hashable, Sendable {
    /// The place in the order of times.
    package struct Place: Hashable, Sendable {
        package var room: String
        package var tagID: Int64

        package init(room: String, tagID: Int64) { (self.room, self.tagID) = (room, tagID) }
    }

    /// The identifier of the tag within the file.
    package var tagID: Int64
    /// The key of the tag.
    package var tag: String
    /// The display name of the tag; nil for the key.
    package var name: String?
    package var room: String
    /// The number of visits.
    package var visits: Int
    /// The sum of their times.
    package var time: Duration

    package var place: Place { Place(room: room, tagID: tagID) }

    fileprivate init?(row: [SQLiteValue]) {
        guard row.count == 6, let id = row[0].integer, let tag = row[1].text, let room = row[3].text,
            let visits = row[4].integer, let time = row[5].integer
        else { return nil }
        (tagID, self.tag, name, self.room) = (id, tag, row[2].text, room)
        (self.visits, self.time) = (Int(visits), .milliseconds(time))
    }
}

/// A position of the history.
package struct StoredPosition: Hashable, Sendable {
    /// The key of the tag.
    package var tag: String
    /// The display name of the tag; nil for the key.
    package var name: String?
    /// The time, counted from the Unix epoch.
    package var instant: Instant
    package var mapID: MapID
    package var point: MapPoint
    /// The 68 % error radius in metres.
    package var radius: Double
    package var room: String?
    package var coordinate: Coordinate?

    fileprivate init?(row: [SQLiteValue]) {
        guard row.count == 10, let tag = row[0].text, let time = row[2].integer, let map = row[3].integer,
            let x = row[4].real, let y = row[5].real, let radius = row[6].real
        else { return nil }
        (self.tag, name, mapID) = (tag, row[1].text, MapID(rawValue: Int(map)))
        (instant, point) = (Instant(nanoseconds: time * 1_000_000), MapPoint(x: x, y: y))
        (self.radius, room) = (radius, row[7].text)
        coordinate = row[8].real.flatMap { latitude in
            row[9].real.map { Coordinate(latitude: latitude, longitude: $0) }
        }
    }
}

/// A file of a history that can't be used.
package struct TagHistoryError: SQLiteFileError, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    package enum Reason: Hashable, Sendable {
        case sqlite(SQLiteReason)
        /// A reader has no right to read the file.
        case unreadable
        /// Another process writes the file.
        case inUse
    }

    /// The kind of error.
    package var reason: Reason
    /// The path of the file.
    package var path: String
    /// The message of SQLite; empty if the error is not from SQLite.
    package var message: String
    /// SQLite's extended result code.
    package var code: Int

    package init(sqlite reason: SQLiteReason, path: String, message: String, code: Int) {
        (self.reason, self.path, self.message, self.code) = (.sqlite(reason), path, message, code)
    }

    /// Creates an error that is not from SQLite.
    package init(_ reason: Reason, path: String) { (self.reason, self.path, message, code) = (reason, path, "", 0) }

    /// Whether the same outputs can be written later. Errors of memory (7) and of input and output (10) pass, too:
    /// a full disk may cause both.
    var passes: Bool {
        [.sqlite(.busy), .sqlite(.full), .sqlite(.readOnly), .sqlite(.cannotOpen)].contains(reason)
            || [7, 10].contains(code & 0xFF)
    }

    package var description: String {
        let text =
            switch reason {
            case .unreadable:
                "the file can't be read; check the permissions of the file and its folder, or copy it with the file "
                    + "that ends in -wal into a folder of your own"
            case .inUse: "another process writes this history; give each its own file"
            case .sqlite(let reason): Self.text(of: reason)
            }
        return "\(path): \(text)" + (message.isEmpty ? "" : " (SQLite: \(message), code \(code))")
    }

    private static func text(of reason: SQLiteReason) -> String {
        switch reason {
        case .cannotOpen: "the file can't be opened or created; check the folder and its permissions"
        case .foreign: "it is no history of tags; give another file"
        case .newerVersion(let found, let known):
            "it has version \(found), but this program reads version \(known); update the program"
        case .busy: "another program has locked it for too long"
        case .full: "the disk is full"
        case .damaged: "it is damaged; restore a copy, or give another file"
        case .interrupted: "the query took too long; choose a shorter time, a room or a tag"
        case .readOnly: "it is not writable; check the permissions of the file and its folder"
        case .failed: "the database reports an error"
        }
    }
}
