import IndoorVocabulary
import LocalizationSession
import SQLiteFiles
import VenueModel

/// The connection to the log's file.
typealias SQLiteDatabase = SQLiteFile<GeofenceLogError>

/// A history of geofence and room events in a file, which persists when the program ends or crashes.
///
///     let log = try GeofenceLog(path: "geofences.db")
///     try await log.append([GeofenceRecord(event, at: time)])
///     for record in try await log.records(.fence(7, of: 1, in: yesterday..<today)) { print(record.time, record.isEntry) }
///
/// Once `append` returns, a record is in the file: it survives a kill of the program and, if the disk confirms writes
/// truthfully, a power loss. Several programs can have the same log open; a reader never waits for a writer.
///
/// The file is an SQLite database in write-ahead mode, so it has two companion files while it is open.
public actor GeofenceLog {
    /// The version of the tables that this package writes.
    package static let version = 1
    /// The application identifier that marks the file as a geofence log: "IFLG".
    private static let applicationID: Int64 = 0x4946_4C47

    /// The path of the file.
    package nonisolated let path: String
    private nonisolated let executor = BlockingExecutor(label: "GeofenceLog")
    private let settings: GeofenceLogSettings
    private let now: @Sendable () -> DeviceMoment
    private var database: SQLiteDatabase?

    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Opens a log, and creates the file if it does not exist.
    ///
    /// - Throws: `GeofenceLogError` if the file cannot be opened, is not a log, or has a newer version. In these cases
    ///   the file is not changed.
    public init(path: String, settings: GeofenceLogSettings = GeofenceLogSettings()) throws(GeofenceLogError) {
        try self.init(path: path, settings: settings, now: DeviceMoment.now)
    }

    /// Opens a log whose retention is measured with another clock than the device's.
    init(
        path: String, settings: GeofenceLogSettings, now: @escaping @Sendable () -> DeviceMoment
    ) throws(GeofenceLogError) {
        let database = try SQLiteDatabase(path: path, waiting: settings.busyTimeout)
        try Self.prepare(database)
        self.path = path
        self.settings = settings
        self.now = now
        self.database = database
    }

    /// Writes either all or none of the records, and deletes those beyond the limits.
    ///
    /// - Returns: the numbers of the records, in order.
    /// - Throws: `GeofenceLogError` if they could not be written.
    @discardableResult public func append(_ records: [GeofenceRecord]) throws(GeofenceLogError) -> [Int64] {
        let database = try open
        guard !records.isEmpty else { return [] }
        var numbers: [Int64] = []
        try database.transaction { database throws(GeofenceLogError) in
            // Read before the records are written, because the first one must not determine the age of the others.
            let present = settings.retention == nil ? nil : try RetentionClock.stored(in: database, at: now())
            for record in records {
                let rows = try database.run(
                    """
                    INSERT INTO record (time, instant, venue, kind, area, name, is_entry, unix_ms)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
                    """, record.values)
                numbers += rows.compactMap { $0.first?.integer }
            }
            try present?.store(in: database)
            try forget(in: database, at: min(present?.time ?? 0, records.map(\.time).max() ?? 0))
        }
        return numbers
    }

    /// Returns the records that match a query, ordered by time and then by number.
    ///
    /// - Throws: `GeofenceLogError` if they could not be read.
    public func records(_ query: GeofenceQuery = GeofenceQuery()) throws(GeofenceLogError) -> [GeofenceRecord] {
        let (conditions, values) = query.conditions
        let sql =
            "SELECT id, time, instant, venue, kind, area, name, is_entry, unix_ms FROM record\(conditions) "
            + "ORDER BY time DESC, id DESC LIMIT ?"
        // For SQLite, a negative limit means no limit.
        let limit = query.limit.map { Int64(max(0, $0)) } ?? -1
        return try open.run(sql, values + [.integer(limit)]).compactMap(GeofenceRecord.init(row:)).reversed()
    }

    /// The number of records.
    ///
    /// - Throws: `GeofenceLogError` if they could not be counted.
    public var count: Int {
        get throws(GeofenceLogError) {
            Int(try open.run("SELECT count(*) FROM record").first?.first?.integer ?? 0)
        }
    }

    /// Deletes all records.
    ///
    /// - Throws: `GeofenceLogError` if the records could not be deleted.
    public func removeAll() throws(GeofenceLogError) { try open.run("DELETE FROM record") }

    /// Closes the file. Later calls throw `GeofenceLogError`.
    public func close() { database = nil }

    private var open: SQLiteDatabase {
        get throws(GeofenceLogError) {
            guard let database else { throw GeofenceLogError(.closed, path: path) }
            return database
        }
    }

    private func forget(in database: SQLiteDatabase, at time: Double) throws(GeofenceLogError) {
        try database.run(
            "DELETE FROM record WHERE id <= (SELECT max(id) FROM record) - ?",
            [.integer(Int64(max(1, settings.recordLimit)))])
        if let retention = settings.retention {
            try database.run("DELETE FROM record WHERE time < ?", [.real(time - retention.seconds)])
        }
    }

    // MARK: - The file

    /// Checks that the file is a log of this version, and creates the tables in an empty file.
    private static func prepare(_ database: SQLiteDatabase) throws(GeofenceLogError) {
        try database.adopt(mark: applicationID, version: version, schema: schema)
        if try !tellsUnixTime(database) {
            try database.transaction { database throws(GeofenceLogError) in
                if try !tellsUnixTime(database) { try database.run("ALTER TABLE record ADD COLUMN unix_ms INTEGER") }
            }
        }
    }

    /// Returns whether records have a column for the source's wall clock.
    ///
    /// Logs of earlier versions lack it. Earlier versions can still write to a log that has it.
    private static func tellsUnixTime(_ database: SQLiteDatabase) throws(GeofenceLogError) -> Bool {
        try database.number("SELECT count(*) FROM pragma_table_info('record') WHERE name = 'unix_ms'") > 0
    }

    private static let schema = [
        """
        CREATE TABLE record (id INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, instant INTEGER NOT NULL,
            venue INTEGER NOT NULL, kind TEXT NOT NULL, area TEXT NOT NULL, name TEXT NOT NULL, is_entry INTEGER NOT NULL,
            unix_ms INTEGER)
        """,
        "CREATE INDEX record_by_time ON record (time)",
        "CREATE INDEX record_by_area ON record (venue, kind, area, time)",
    ]
}

extension GeofenceRecord {
    /// The values of the record's columns, without its number.
    fileprivate var values: [SQLiteDatabase.Value] {
        [
            .real(time), .integer(instant.nanoseconds), .integer(Int64(venueID.rawValue)), .text(kind.rawValue),
            .text(areaID), .text(name), .integer(isEntry ? 1 : 0),
            unixTime.map { .integer($0.milliseconds) } ?? .null,
        ]
    }

    /// Creates a record from a row; nil if this version doesn't know its kind.
    fileprivate init?(row: [SQLiteDatabase.Value]) {
        guard row.count == 9, let id = row[0].integer, let time = row[1].real, let instant = row[2].integer,
            let venue = row[3].integer, let kind = row[4].text.flatMap(Kind.init(rawValue:)), let area = row[5].text,
            let name = row[6].text, let isEntry = row[7].integer
        else { return nil }
        self.init(
            id: id, time: time, instant: Instant(nanoseconds: instant),
            unixTime: row[8].integer.map(UnixTime.init(milliseconds:)), venueID: VenueID(rawValue: Int(venue)),
            kind: kind,
            areaID: area, name: name, isEntry: isEntry != 0)
    }
}

/// A record of a geofence log: the device entered or left a geofence or a room.
public struct GeofenceRecord: Hashable, Sendable {
    /// The kinds of area.
    public enum Kind: String, Hashable, Sendable {
        /// A geofence of the venue packet.
        case fence
        /// A room.
        case room
        /// A geofence of the application.
        case geofence
    }

    /// The number of the record, which increases with each record; 0 before it is written.
    public var id: Int64
    /// The time at which the session reported the event, in seconds since 1970 (UTC), from the device's clock.
    public var time: Double
    /// The time of the event, on the timeline of the session's source.
    public var instant: Instant
    /// The time of the event on the source's wall clock; nil if the source has none.
    ///
    /// For a recording, it is usually long before `time`.
    public var unixTime: UnixTime?
    /// The venue of the event.
    public var venueID: VenueID
    /// The kind of area that the device entered or left.
    public var kind: Kind
    /// The identifier of the area.
    ///
    /// A geofence or room of the venue has a number as its identifier; a geofence of the application has the name that
    /// the application has chosen.
    public var areaID: String
    /// The display name of the area.
    public var name: String
    /// Whether the device entered the area; false if it left.
    public var isEntry: Bool

    /// Creates a record.
    package init(
        id: Int64 = 0, time: Double, instant: Instant, unixTime: UnixTime? = nil, venueID: VenueID, kind: Kind,
        areaID: String, name: String, isEntry: Bool
    ) {
        self.id = id
        self.time = time
        self.instant = instant
        self.unixTime = unixTime
        self.venueID = venueID
        self.kind = kind
        self.areaID = areaID
        self.name = name
        self.isEntry = isEntry
    }

    /// Creates the record of an event.
    ///
    /// - Parameter time: the time at which the session reports it, in seconds since 1970 (UTC).
    package init(_ event: LocalizationEvent, at time: Double) {
        let area: (kind: Kind, id: String, name: String) =
            switch event.kind {
            case .enterFence(let fence), .exitFence(let fence): (.fence, "\(fence.id)", fence.name)
            case .enterRoom(let room), .exitRoom(let room): (.room, "\(room.id)", room.name)
            case .enterGeofence(let fence), .exitGeofence(let fence): (.geofence, fence.id, fence.name)
            }
        self.init(
            time: time, instant: event.instant, unixTime: event.unixTime, venueID: event.venueID, kind: area.kind,
            areaID: area.id, name: area.name, isEntry: event.isEntry)
    }
}

/// A query for records of a geofence log. A condition that is nil matches all records.
public struct GeofenceQuery: Hashable, Sendable {
    /// The times of the records, in seconds since 1970 (UTC); the upper bound is excluded.
    package var times: Range<Double>?
    /// The venue of the records.
    package var venueID: VenueID?
    /// The kind of area that the device entered or left.
    package var kind: GeofenceRecord.Kind?
    /// The identifier of the area that the device entered or left.
    package var areaID: String?
    /// Whether the device entered the area; false if it left.
    package var isEntry: Bool?
    /// The maximum number of records; the newest ones are returned. Nil for all.
    package var limit: Int?

    /// Creates a query.
    public init(
        times: Range<Double>? = nil, venueID: VenueID? = nil, kind: GeofenceRecord.Kind? = nil, areaID: String? = nil,
        isEntry: Bool? = nil, limit: Int? = nil
    ) {
        self.times = times
        self.venueID = venueID
        self.kind = kind
        self.areaID = areaID
        self.isEntry = isEntry
        self.limit = limit
    }

    /// Returns a query for the events of a geofence of a venue packet.
    public static func fence(_ id: Int, of venue: VenueID, in times: Range<Double>? = nil) -> GeofenceQuery {
        GeofenceQuery(times: times, venueID: venue, kind: .fence, areaID: "\(id)")
    }

    /// The conditions in SQL, and the values of their parameters.
    var conditions: (sql: String, values: [SQLiteDatabase.Value]) {
        var parts: [(String, SQLiteDatabase.Value)] = []
        if let venueID { parts.append(("venue = ?", .integer(Int64(venueID.rawValue)))) }
        if let kind { parts.append(("kind = ?", .text(kind.rawValue))) }
        if let areaID { parts.append(("area = ?", .text(areaID))) }
        if let times { parts += [("time >= ?", .real(times.lowerBound)), ("time < ?", .real(times.upperBound))] }
        if let isEntry { parts.append(("is_entry = ?", .integer(isEntry ? 1 : 0))) }
        let sql = parts.isEmpty ? "" : " WHERE " + parts.map(\.0).joined(separator: " AND ")
        return (sql, parts.map(\.1))
    }
}

/// The limits of a geofence log.
public struct GeofenceLogSettings: Hashable, Sendable {
    /// The maximum number of records, at least 1. Each record beyond it replaces the oldest one.
    ///
    /// A record needs about 150 bytes with its indexes: 100,000 records are 15 MB.
    public var recordLimit = 100_000
    /// The maximum age of records; nil for no limit.
    ///
    /// The age is measured from the newest record, or from the device's clock if that is earlier. Setting the clock
    /// forward does not age records, because the log compares it with the time since the machine started. Across a
    /// restart of the machine, records age by the clock, but by at most 31 days.
    public var retention: Duration?
    /// The time limit for waiting for another program that writes to the same log, from 0 s.
    public var busyTimeout = Duration.seconds(5)

    /// Creates settings with the documented defaults.
    public init() {}
}

extension RetentionClock {
    /// Returns the clock that a log has stored, or a new one if there is none.
    fileprivate static func stored(
        in database: SQLiteDatabase, at now: DeviceMoment
    ) throws(GeofenceLogError) -> RetentionClock {
        if var clock = try RetentionClock.stored(in: database) {
            clock.advance(to: now)
            return clock
        }
        let latest = try database.run("SELECT time FROM record ORDER BY id DESC LIMIT 1").first?.first?.real
        return RetentionClock(from: latest, at: now)
    }
}

/// An error in opening, writing or reading a geofence log.
public struct GeofenceLogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    public enum Reason: Hashable, Sendable {
        /// The file cannot be opened or created.
        case cannotOpen
        /// The file is another kind of database, or not a database.
        case notALog
        /// A newer version of this package wrote the file. `found` is the version of the file, and `known` the latest
        /// one that this version of the package reads.
        case newerVersion(found: Int, known: Int)
        /// Another program has locked the file for longer than the time limit.
        case busy
        /// The disk is full.
        case full
        /// The file is damaged.
        case damaged
        /// The file or its folder is not writable.
        case readOnly
        /// The log was closed.
        case closed
        /// Another error, which the message describes.
        case failed
    }

    /// The kind of error.
    public var reason: Reason
    /// The path of the log.
    public var path: String
    /// The message from SQLite; empty if the error is not from SQLite.
    public var message: String
    /// SQLite's extended result code; 0 if the error is not from SQLite.
    public var code: Int

    /// Creates an error.
    package init(_ reason: Reason, path: String, message: String = "", code: Int = 0) {
        self.reason = reason
        self.path = path
        self.message = message
        self.code = code
    }

    public var description: String {
        let said = message.isEmpty ? "" : " (SQLite: \(message), code \(code))"
        return "\(path): \(what)\(said)"
    }

    private var what: String {
        switch reason {
        case .cannotOpen: "the log cannot be opened; check that its folder exists and is writable"
        case .notALog: "not a geofence log; use the path of another file"
        case .newerVersion(let found, let known):
            "the log has version \(found), but this package reads versions up to \(known); update the package"
        case .busy: "another program has locked the log; find out which program has it open"
        case .full: "the disk is full; free some space for the log, or keep fewer records"
        case .damaged: "the log is damaged; move it away, and the package creates a new one"
        case .readOnly: "the log is not writable; check the permissions of the file and its folder"
        case .closed: "the log was closed"
        case .failed: "the log could not be written or read; check the disk"
        }
    }
}

extension GeofenceLogError: SQLiteFileError {
    package init(sqlite reason: SQLiteReason, path: String, message: String, code: Int) {
        let reason: Reason =
            switch reason {
            case .cannotOpen: .cannotOpen
            case .foreign: .notALog
            case .newerVersion(let found, let known): .newerVersion(found: found, known: known)
            case .busy: .busy
            case .full: .full
            case .damaged: .damaged
            case .readOnly: .readOnly
            case .interrupted, .failed: .failed
            }
        self.init(reason, path: path, message: message, code: code)
    }
}
