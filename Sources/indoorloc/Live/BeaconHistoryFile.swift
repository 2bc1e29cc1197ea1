import IndoorLocalization
import SQLiteFiles

/// A file with the levels of the beacons of venues over weeks, which sessions write and commands read.
///
/// Once `add` returns, the levels are on the disk. The file is an SQLite database in write-ahead mode, so that a command
/// can read it while a session writes, and a killed program leaves no half day. The levels of another version of a venue
/// are separate: they are differences from what that version expects.
actor BeaconHistoryFile {
    /// The application identifier that marks the file as a history of beacons: "IBHI".
    private static let mark: Int64 = 0x4942_4849
    private static let version = 1
    private static let schema = [
        """
        CREATE TABLE cell (venue INTEGER NOT NULL, edition INTEGER NOT NULL, day INTEGER NOT NULL, beacon BLOB NOT NULL,
            map INTEGER NOT NULL, place_column INTEGER NOT NULL, place_row INTEGER NOT NULL, looks REAL NOT NULL,
            heard REAL NOT NULL, readings REAL NOT NULL, sum REAL NOT NULL,
            PRIMARY KEY (venue, edition, day, beacon, map, place_column, place_row)) WITHOUT ROWID
        """
    ]
    /// What is followed of each beacon: files of the first sessions don't have it.
    private static let followedSchema = """
        CREATE TABLE IF NOT EXISTS followed (venue INTEGER NOT NULL, edition INTEGER NOT NULL, beacon BLOB NOT NULL,
            correction REAL NOT NULL, day INTEGER NOT NULL, PRIMARY KEY (venue, edition, beacon)) WITHOUT ROWID
        """
    /// The number of versions of a venue that the file keeps: the one that is written, and those with the most days.
    private static let mostEditions = 3
    /// The numbers that a session can have written.
    private static let (days, places): (ClosedRange<Int64>, ClosedRange<Int32>) = (0...100_000, -1_000_000...1_000_000)
    private static let busyTimeout = Duration.seconds(5)

    nonisolated let path: String
    private nonisolated let executor = BlockingExecutor(label: "BeaconHistoryFile")
    private let database: SQLiteFile<BeaconHistoryFileError>

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Opens a file, or creates it.
    ///
    /// - Throws: `BeaconHistoryFileError` if the file can't be opened, has other content, or is damaged. Then it isn't
    ///   changed.
    init(path: String) throws(BeaconHistoryFileError) {
        database = try SQLiteFile(path: path, waiting: Self.busyTimeout)
        try database.adopt(mark: Self.mark, version: Self.version, schema: Self.schema)
        if try database.number("SELECT count(*) FROM sqlite_master WHERE name = 'followed'") == 0 {
            try database.run(Self.followedSchema)
        }
        // A damaged page would otherwise be found only when it is read.
        guard try database.run("PRAGMA quick_check(1)").first?.first?.text == "ok" else {
            throw BeaconHistoryFileError(damaged: path)
        }
        self.path = path
    }

    /// Adds levels to those of a day.
    ///
    /// - Throws: `BeaconHistoryFileError` if they could not be written; then none of them was added.
    func add(_ new: VenueLevels, day: Int) throws(BeaconHistoryFileError) { try add([(new, day)]) }

    /// Adds the levels of several days.
    ///
    /// - Throws: `BeaconHistoryFileError` if they could not be written; then none of them was added.
    func add(_ parts: [(levels: VenueLevels, day: Int)]) throws(BeaconHistoryFileError) {
        try database.transaction { database throws(BeaconHistoryFileError) in
            for part in parts { try Self.add(part.levels, day: part.day, to: database) }
        }
    }

    private static func add(
        _ new: VenueLevels, day: Int, to database: SQLiteFile<BeaconHistoryFileError>
    ) throws(BeaconHistoryFileError) {
        let scope: [SQLiteValue] = [.integer(Int64(new.venueID.rawValue)), .integer(Int64(new.version))]
        for (key, cell) in new.levels.cells.sorted(by: { $0.key < $1.key }) {
            try database.run(
                """
                INSERT INTO cell VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO UPDATE SET
                    looks = looks + ?8, heard = heard + ?9, readings = readings + ?10, sum = sum + ?11
                """,
                scope + [
                    .integer(Int64(day)), .blob(key.beacon.bytes), .integer(Int64(key.place.mapID.rawValue)),
                    .integer(Int64(key.place.column)), .integer(Int64(key.place.row)), .real(cell.looks),
                    .real(cell.heard), .real(cell.readings), .real(cell.sum),
                ])
        }
        try database.run(
            """
            DELETE FROM cell WHERE venue = ?1 AND edition = ?2 AND day < (SELECT min(day) FROM (SELECT DISTINCT day
                FROM cell WHERE venue = ?1 AND edition = ?2 ORDER BY day DESC LIMIT \(BeaconHistory.mostDays)))
            """, scope)
        try database.run(
            """
            DELETE FROM cell WHERE venue = ?1 AND edition NOT IN (SELECT edition FROM cell WHERE venue = ?1
                GROUP BY edition ORDER BY edition = ?2 DESC, count(DISTINCT day) DESC, max(day) DESC, edition DESC
                LIMIT \(mostEditions))
            """, scope)
        try database.run(
            """
            DELETE FROM followed WHERE venue = ?1 AND edition NOT IN (SELECT edition FROM cell WHERE venue = ?1)
            """, [scope[0]])
    }

    /// Returns the history of a version of a venue.
    ///
    /// - Parameter last: the last day; later ones were written with a clock that was wrong.
    /// - Throws: `BeaconHistoryFileError` if it can't be read.
    func history(of venue: VenueID, version: Int, until last: Int = .max) throws(BeaconHistoryFileError)
        -> BeaconHistory
    {
        let rows = try database.run(
            """
            SELECT day, beacon, map, place_column, place_row, looks, heard, readings, sum FROM cell
                WHERE venue = ? AND edition = ? AND day <= ? ORDER BY day, beacon, map, place_column, place_row
            """, [.integer(Int64(venue.rawValue)), .integer(Int64(version)), .integer(Int64(last))])
        var days: [Int: BeaconLevels] = [:]
        for row in rows {
            guard row.count == 9, let day = row[0].integer, Self.days.contains(day),
                let beacon = row[1].bytes.flatMap(BeaconIdentity.init(bytes:)),
                let map = row[2].integer, let column = row[3].integer.flatMap(Int32.init(exactly:)),
                let line = row[4].integer.flatMap(Int32.init(exactly:)), Self.places.contains(column),
                Self.places.contains(line), let looks = row[5].real,
                let heard = row[6].real, let readings = row[7].real, let sum = row[8].real
            else { throw BeaconHistoryFileError(damaged: path) }
            let cell = BeaconLevels.Cell(looks: looks, heard: heard, readings: readings, sum: sum)
            guard cell.isValid else { throw BeaconHistoryFileError(damaged: path) }
            let place = BeaconLevels.Place(mapID: MapID(rawValue: Int(map)), column: column, row: line)
            days[Int(day), default: BeaconLevels()].cells[BeaconLevels.Key(beacon: beacon, place: place)] = cell
        }
        var history = BeaconHistory()
        for (day, levels) in days.sorted(by: { $0.key < $1.key }) { history.add(levels, day: day) }
        return history
    }

    /// Returns what is followed of the beacons of a version of a venue, as `follow` stored it.
    ///
    /// - Throws: `BeaconHistoryFileError` if it can't be read.
    func following(of venue: VenueID, version: Int) throws(BeaconHistoryFileError) -> LevelFollowing {
        let rows = try database.run(
            "SELECT beacon, correction, day FROM followed WHERE venue = ? AND edition = ?",
            [.integer(Int64(venue.rawValue)), .integer(Int64(version))])
        var entries: [BeaconIdentity: LevelFollowing.Entry] = [:]
        for row in rows {
            guard row.count == 3, let beacon = row[0].bytes.flatMap(BeaconIdentity.init(bytes:)),
                let correction = row[1].real, let day = row[2].integer
            else { throw BeaconHistoryFileError(damaged: path) }
            entries[beacon] = LevelFollowing.Entry(correction: correction, day: Int(day))
        }
        return LevelFollowing(entries: entries)
    }

    /// Follows the history of a version of a venue to a day, stores the result, and returns it.
    ///
    /// - Throws: `BeaconHistoryFileError` if the file can't be read or written.
    func follow(_ venue: VenueID, version: Int, until last: Int = .max) throws(BeaconHistoryFileError) -> LevelFollowing
    {
        var following = try following(of: venue, version: version)
        following.follow(try history(of: venue, version: version, until: last).trends())
        let entries = following.entries
        try database.transaction { database throws(BeaconHistoryFileError) in
            for (beacon, entry) in entries {
                try database.run(
                    "INSERT OR REPLACE INTO followed VALUES (?, ?, ?, ?, ?)",
                    [
                        .integer(Int64(venue.rawValue)), .integer(Int64(version)), .blob(beacon.bytes),
                        .real(entry.correction), .integer(Int64(entry.day)),
                    ])
            }
        }
        return following
    }

    /// Removes what the file knows of a beacon.
    ///
    /// - Throws: `BeaconHistoryFileError` if it can't be written.
    func forget(_ beacon: BeaconIdentity, of venue: VenueID) throws(BeaconHistoryFileError) {
        try database.transaction { database throws(BeaconHistoryFileError) in
            for table in ["cell", "followed"] {
                try database.run(
                    "DELETE FROM \(table) WHERE venue = ? AND beacon = ?",
                    [.integer(Int64(venue.rawValue)), .blob(beacon.bytes)])
            }
        }
    }

    /// The versions of a venue of which the file has levels, in ascending order.
    func versions(of venue: VenueID) throws(BeaconHistoryFileError) -> [Int] {
        try database.run(
            "SELECT DISTINCT edition FROM cell WHERE venue = ? ORDER BY edition", [.integer(Int64(venue.rawValue))]
        ).compactMap { $0.first?.integer.map { Int($0) } }
    }
}

extension BeaconIdentity {
    /// The 16 bytes of the UUID, major and minor, each with the highest byte first.
    fileprivate var bytes: [UInt8] {
        func split(_ number: some FixedWidthInteger) -> [UInt8] {
            stride(from: number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        return split(uuid.high) + split(uuid.low) + split(major) + split(minor)
    }

    fileprivate init?(bytes: [UInt8]) {
        guard bytes.count == 20 else { return nil }
        func number<Number: FixedWidthInteger>(_ range: Range<Int>) -> Number {
            bytes[range].reduce(0) { $0 << 8 | Number($1) }
        }
        self.init(
            uuid: BeaconUUID(high: number(0..<8), low: number(8..<16)), major: number(16..<18), minor: number(18..<20))
    }
}

/// An error in opening, writing or reading a history of beacons.
struct BeaconHistoryFileError: SQLiteFileError, Hashable, Sendable, CustomStringConvertible {
    var reason: SQLiteReason
    var path: String
    /// The message from SQLite; empty if the error isn't from SQLite.
    var message: String
    /// SQLite's extended result code; 0 if the error isn't from SQLite.
    var code: Int

    init(sqlite reason: SQLiteReason, path: String, message: String, code: Int) {
        (self.reason, self.path, self.message, self.code) = (reason, path, message, code)
    }

    /// Creates the error of a file whose content no session has written.
    fileprivate init(damaged path: String) { self.init(sqlite: .damaged, path: path, message: "", code: 0) }

    var description: String {
        "\(path): \(what)" + (message.isEmpty ? "" : " (SQLite: \(message), code \(code))")
    }

    private var what: String {
        switch reason {
        case .cannotOpen: "the history of the beacons can't be opened; check that its folder exists and is writable"
        case .foreign: "not a history of beacons; use the path of another file"
        case .newerVersion(let found, let known):
            "the history of the beacons has version \(found), but this package reads versions up to \(known); update "
                + "the package"
        case .busy: "another program has locked the history of the beacons; find out which program has it open"
        case .full: "the disk is full; free some space for the history of the beacons"
        case .damaged: "the history of the beacons is damaged; move it away, and a session creates a new one"
        case .readOnly: "the history of the beacons isn't writable; check the permissions of the file and its folder"
        case .interrupted, .failed: "the history of the beacons could not be written or read; check the disk"
        }
    }
}
