import IndoorVocabulary
import SQLiteFiles

/// A connection to a log's file.
typealias SQLiteDatabase = SQLiteFile<GeofenceLogError>

/// A history of fences and rooms in a file, which outlives the program, however that ends.
///
///     let log = try GeofenceLog(path: "geofences.db")
///     try await log.append([GeofenceRecord(event, at: time)])
///     for record in try await log.records(.fence(7, of: 1, in: yesterday..<today)) { print(record.time, record.isEntry) }
///
/// A record that `append` has returned for is in the file: it survives a kill of the program and, as far as the disk keeps
/// its word, a loss of power. Several programs may have the same log open; a reader never waits for a writer.
///
/// The file is an SQLite database in write-ahead mode, so that there are two more files beside it while it is open.
public actor GeofenceLog {
    /// The edition of the file's tables that is written.
    public static let version = 1
    /// Marks the file as a log of ours: "IFLG".
    private static let applicationID: Int64 = 0x4946_4C47

    /// The path of the file.
    public nonisolated let path: String
    private let settings: GeofenceLogSettings
    private let now: @Sendable () -> DeviceMoment
    private var database: SQLiteDatabase?

    /// Opens a log, which is begun if there is no such file.
    ///
    /// - Throws: `GeofenceLogError` if the file cannot be opened, or if it is no log or one of a later edition; then
    ///   nothing in it is changed.
    public init(path: String, settings: GeofenceLogSettings = GeofenceLogSettings()) throws(GeofenceLogError) {
        try self.init(path: path, settings: settings, now: DeviceMoment.now)
    }

    /// Opens a log whose retention counts from another clock than the device's.
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

    /// Writes records, all of them or none, and forgets what is beyond the limits.
    ///
    /// - Returns: the numbers of the records, in their order.
    /// - Throws: `GeofenceLogError` if they could not be written.
    @discardableResult public func append(_ records: [GeofenceRecord]) throws(GeofenceLogError) -> [Int64] {
        let database = try open
        guard !records.isEmpty else { return [] }
        var numbers: [Int64] = []
        try database.transaction { () throws(GeofenceLogError) in
            // Before the records: the first one must not tell how old the others are.
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

    /// The records that a query asks for, ordered by time and, where that is equal, by number.
    ///
    /// - Throws: `GeofenceLogError` if they could not be read.
    public func records(_ query: GeofenceQuery = GeofenceQuery()) throws(GeofenceLogError) -> [GeofenceRecord] {
        let (conditions, values) = query.conditions
        let sql =
            "SELECT id, time, instant, venue, kind, area, name, is_entry, unix_ms FROM record\(conditions) "
            + "ORDER BY time DESC, id DESC LIMIT ?"
        // SQLite takes a negative limit for none.
        let limit = query.limit.map { Int64(max(0, $0)) } ?? -1
        return try open.run(sql, values + [.integer(limit)]).compactMap(GeofenceRecord.init(row:)).reversed()
    }

    /// How many records are kept.
    ///
    /// - Throws: `GeofenceLogError` if they could not be counted.
    public var count: Int {
        get throws(GeofenceLogError) {
            Int(try open.run("SELECT count(*) FROM record").first?.first?.integer ?? 0)
        }
    }

    /// Forgets all records.
    ///
    /// - Throws: `GeofenceLogError` if that could not be written.
    public func removeAll() throws(GeofenceLogError) { try open.run("DELETE FROM record") }

    /// Closes the file; what is asked of the log after that is an error.
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

    /// Makes sure that the file is a log of this edition, and begins one in an empty file.
    private static func prepare(_ database: SQLiteDatabase) throws(GeofenceLogError) {
        try database.adopt(mark: applicationID, version: version, schema: schema)
        if try !tellsUnixTime(database) {
            try database.transaction { () throws(GeofenceLogError) in
                if try !tellsUnixTime(database) { try database.run("ALTER TABLE record ADD COLUMN unix_ms INTEGER") }
            }
        }
    }

    /// Whether records have a column for the source's wall clock, which logs of earlier programs do not have. Such a program
    /// can still write into a log that has it.
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
    /// The record's columns without its number.
    fileprivate var values: [SQLiteDatabase.Value] {
        [
            .real(time), .integer(instant.nanoseconds), .integer(Int64(venueID.rawValue)), .text(kind.rawValue),
            .text(areaID), .text(name), .integer(isEntry ? 1 : 0),
            unixTime.map { .integer($0.milliseconds) } ?? .null,
        ]
    }

    /// Reads a row; nil if its kind is one that this edition does not know.
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
