import IndoorVocabulary
import SQLiteFiles

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
        try database.transaction { () throws(GeofenceLogError) in
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
            try database.transaction { () throws(GeofenceLogError) in
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
