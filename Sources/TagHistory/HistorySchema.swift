import IndoorVocabulary
import LocalizationSession
import TagTracking
import VenueModel

/// The tables of a fleet's positions.
///
/// The statements contain only constants; all values arrive as parameters or as lines of COPY. The names of the tables
/// have no schema, so that the connection's `search_path` selects it.
enum HistorySchema {
    /// The version of the tables that this program writes.
    static let version = 1

    /// The columns of a position, with their types.
    private static let position = """
        venue bigint, map bigint, x double precision, y double precision, radius double precision, area text,
        latitude double precision, longitude double precision, course double precision, speed double precision
        """
    private static let positionNames = [
        "position_time", "venue", "map", "x", "y", "radius", "area", "latitude", "longitude", "course", "speed",
    ]

    /// The statements that create the tables, each without effect if it was run before.
    private static let tables = [
        "CREATE TABLE IF NOT EXISTS indoorloc_schema (version integer NOT NULL)",
        // Leave space within the pages, so that an update needs no new entry in an index.
        """
        CREATE TABLE IF NOT EXISTS indoorloc_latest (
            tag text PRIMARY KEY, epoch bigint NOT NULL, sequence bigint NOT NULL, time timestamptz NOT NULL,
            type text NOT NULL, name text, position_time timestamptz, \(position)) WITH (fillfactor = 50)
        """,
        """
        CREATE TABLE IF NOT EXISTS indoorloc_history (
            tag text NOT NULL, epoch bigint NOT NULL, sequence bigint NOT NULL, time timestamptz NOT NULL,
            type text NOT NULL, name text, \(position), PRIMARY KEY (tag, epoch, sequence))
        """,
        "CREATE INDEX IF NOT EXISTS indoorloc_history_tag_time ON indoorloc_history (tag, time)",
        // Rows arrive almost in the order of time, so a small index of page ranges (BRIN) suffices.
        "CREATE INDEX IF NOT EXISTS indoorloc_history_time ON indoorloc_history USING brin (time)",
        "INSERT INTO indoorloc_schema SELECT \(version) WHERE NOT EXISTS (SELECT FROM indoorloc_schema)",
    ]

    /// The table of a batch, which belongs to a connection.
    static let batch = """
        CREATE TEMPORARY TABLE indoorloc_batch (
            tag text, epoch bigint, sequence bigint, nanoseconds bigint, type text, name text, \(position))
        ON COMMIT DELETE ROWS
        """

    /// The statement that receives the lines of a batch.
    static let copy = "COPY pg_temp.indoorloc_batch (\(HistoryRow.columns.joined(separator: ", "))) FROM STDIN"

    /// The time of a row of the batch, exact to the microsecond.
    private static func time(_ table: String) -> String {
        "timestamptz 'epoch' + (\(table).nanoseconds / 1000) * interval '1 microsecond'"
    }

    /// The statement that adds the batch to the history. Rows that the history contains are skipped.
    static let addToHistory = """
        INSERT INTO indoorloc_history (tag, epoch, sequence, time, type, name, \(names(of: "")))
        SELECT b.tag, b.epoch, b.sequence, \(time("b")), b.type, b.name, \(names(of: "b."))
        FROM pg_temp.indoorloc_batch b ON CONFLICT DO NOTHING
        """

    /// The statement that updates the latest state of each tag of the batch.
    ///
    /// The state is that of the greatest epoch and sequence. An output without a position or a trained room keeps the
    /// latest one.
    /// Updating the tags in a fixed order prevents a deadlock between two programs.
    static let updateLatest = """
        INSERT INTO indoorloc_latest AS l (tag, epoch, sequence, time, type, name, position_time, \(names(of: "")))
        SELECT s.tag, s.epoch, s.sequence, \(time("s")), s.type, s.name, \(time("p")), \(names(of: "p."))
        FROM (
            SELECT DISTINCT ON (tag) * FROM pg_temp.indoorloc_batch ORDER BY tag, epoch DESC, sequence DESC
        ) s LEFT JOIN (
            SELECT DISTINCT ON (b.tag) b.* FROM pg_temp.indoorloc_batch b LEFT JOIN indoorloc_latest o ON o.tag = b.tag
            WHERE b.type IN ('position', 'room') AND (o.tag IS NULL OR (b.epoch, b.sequence) > (o.epoch, o.sequence))
            ORDER BY b.tag, b.epoch DESC, b.sequence DESC
        ) p ON p.tag = s.tag
        ORDER BY s.tag
        ON CONFLICT (tag) DO UPDATE SET
            epoch = excluded.epoch, sequence = excluded.sequence, time = excluded.time, type = excluded.type,
            name = excluded.name, \(positionUpdates)
        WHERE (excluded.epoch, excluded.sequence) > (l.epoch, l.sequence)
        """

    private static func names(of table: String) -> String {
        positionNames.dropFirst().map { table + $0 }.joined(separator: ", ")
    }

    private static var positionUpdates: String {
        positionNames.map { name in
            "\(name) = CASE WHEN excluded.position_time IS NULL THEN l.\(name) ELSE excluded.\(name) END"
        }.joined(separator: ", ")
    }

    /// The statement that deletes some rows of the history that are older than a number of seconds.
    ///
    /// The parameters are the seconds and the largest number of rows. With a small number, the locks are short and the
    /// log stays small.
    static let deleteOld = """
        WITH deleted AS (
            DELETE FROM indoorloc_history WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM indoorloc_history
                WHERE time < now() - $1::double precision * interval '1 second' LIMIT $2::bigint))
            RETURNING 1)
        SELECT count(*) FROM deleted
        """

    /// Creates the tables, or adds what is missing, such as the geometry after an installation of PostGIS.
    static func create(in connection: PostgreSQLConnection) throws(HistoryError) {
        try connection.transaction { () throws(HistoryError) in
            // Two programs that create the tables at the same time wait for each other. The number is arbitrary.
            try connection.run("SELECT pg_advisory_xact_lock(1768846447)")
            if try isCreated(in: connection) { try checkVersion(in: connection) }
            for statement in tables { try connection.run(statement) }
            try addGeometry(in: connection)
        }
    }

    /// Adds the column `geom` if the database has the extension PostGIS.
    ///
    /// The database computes the column, so that all other statements are the same with and without PostGIS.
    private static func addGeometry(in connection: PostgreSQLConnection) throws(HistoryError) {
        let found = try connection.run(
            """
            SELECT quote_ident(nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
            WHERE e.extname = 'postgis'
            """)
        guard let schema = found.first?.first ?? nil else { return }
        for table in ["indoorloc_latest", "indoorloc_history"] {
            try connection.run(
                """
                ALTER TABLE \(table) ADD COLUMN IF NOT EXISTS geom \(schema).geometry(Point, 4326)
                GENERATED ALWAYS AS (\(schema).ST_SetSRID(\(schema).ST_MakePoint(longitude, latitude), 4326)) STORED
                """)
        }
    }

    private static func isCreated(in connection: PostgreSQLConnection) throws(HistoryError) -> Bool {
        try connection.run("SELECT to_regclass('indoorloc_schema') IS NOT NULL").first?.first == "t"
    }

    /// Checks that the tables exist and have the known version.
    static func check(in connection: PostgreSQLConnection) throws(HistoryError) {
        guard try isCreated(in: connection) else { throw HistoryError(.notCreated) }
        try checkVersion(in: connection)
    }

    private static func checkVersion(in connection: PostgreSQLConnection) throws(HistoryError) {
        let rows = try connection.run("SELECT version FROM indoorloc_schema")
        guard let text = rows.first?.first ?? nil, let found = Int(text) else { throw HistoryError(.notCreated) }
        guard found == version else { throw HistoryError(.otherVersion(found: found, known: version)) }
    }
}

/// An output of a fleet as a row of the tables.
package struct HistoryRow: Hashable, Sendable {
    /// The names of the columns of a batch, in the order of ``line``.
    static let columns = [
        "tag", "epoch", "sequence", "nanoseconds", "type", "name", "venue", "map", "x", "y", "radius", "area",
        "latitude", "longitude", "course", "speed",
    ]

    /// The row as a line of COPY's text format, with its line feed.
    let line: [UInt8]

    /// Creates the row of an output; nil if epoch or sequence exceeds the range of the type `bigint`.
    package init?(_ output: FleetOutput) {
        guard Int64(exactly: output.epoch) != nil, Int64(exactly: output.sequence) != nil else { return nil }
        var line = Line()
        line.add(output.tag.description)
        line.add(output.epoch)
        line.add(output.sequence)
        line.add(output.instant.nanoseconds)
        switch output.content {
        case .present: line.add("present", output.name)
        case .away: line.add("away", output.name)
        case .event(let event):
            line.add(event.kind.name, output.name)
            line.add(event.venueID.rawValue)
            line.add(event.kind.mapID?.rawValue)
            for _ in 0..<3 { line.addNull() }
            line.add(event.kind.area)
        case .position(let position):
            line.add("position", output.name)
            line.add(position)
        case .room(let room):
            line.add("room", output.name)
            line.add(TagRoom.venueID.rawValue)
            line.add(TagRoom.mapID.rawValue)
            for _ in 0..<3 { line.addNull() }
            line.add(room.label)
        }
        self.line = line.ended(columnCount: Self.columns.count)
    }
}

extension LocalizationEvent.Kind {
    /// The name of the case.
    fileprivate var name: String {
        switch self {
        case .enterFence: "enterFence"
        case .exitFence: "exitFence"
        case .enterRoom: "enterRoom"
        case .exitRoom: "exitRoom"
        case .enterGeofence: "enterGeofence"
        case .exitGeofence: "exitGeofence"
        }
    }

    /// The map of the room or fence; nil for a geofence.
    fileprivate var mapID: MapID? {
        switch self {
        case .enterFence(let fence), .exitFence(let fence): fence.mapID
        case .enterRoom(let room), .exitRoom(let room): room.mapID
        case .enterGeofence, .exitGeofence: nil
        }
    }

    /// The name of the room or fence.
    fileprivate var area: String {
        switch self {
        case .enterFence(let fence), .exitFence(let fence): fence.name
        case .enterRoom(let room), .exitRoom(let room): room.name
        case .enterGeofence(let fence), .exitGeofence(let fence): fence.name
        }
    }
}

/// A line of COPY's text format.
///
/// Source: *PostgreSQL 15 Documentation*, COPY, "Text Format", PostgreSQL Global Development Group 2022.
private struct Line {
    private var bytes: [UInt8] = []
    private var count = 0

    private mutating func separate() {
        if count > 0 { bytes.append(UInt8(ascii: "\t")) }
        count += 1
    }

    mutating func addNull() {
        separate()
        bytes += Array("\\N".utf8)
    }

    mutating func add(_ text: String?) {
        guard let text else { return addNull() }
        separate()
        for byte in text.utf8 {
            switch byte {
            // PostgreSQL's type `text` can't contain a NUL character.
            case 0: bytes += Array("\u{FFFD}".utf8)
            case UInt8(ascii: "\\"): bytes += Array("\\\\".utf8)
            case UInt8(ascii: "\n"): bytes += Array("\\n".utf8)
            case UInt8(ascii: "\r"): bytes += Array("\\r".utf8)
            case UInt8(ascii: "\t"): bytes += Array("\\t".utf8)
            default: bytes.append(byte)
            }
        }
    }

    mutating func add(_ kind: String, _ name: String?) {
        add(kind)
        add(name)
    }

    mutating func add(_ number: (some BinaryInteger)?) {
        guard let number else { return addNull() }
        separate()
        bytes += Array("\(number)".utf8)
    }

    mutating func add(_ number: Double?) {
        guard let number else { return addNull() }
        separate()
        bytes += Array("\(number)".utf8)
    }

    mutating func add(_ position: Position) {
        add(position.venueID.rawValue)
        add(position.mapID.rawValue)
        add(position.x)
        add(position.y)
        add(position.radius)
        add(position.label)
        add(position.coordinate?.latitude)
        add(position.coordinate?.longitude)
        add(position.course)
        add(position.speed)
    }

    /// Returns the line, with nulls in place of missing columns.
    mutating func ended(columnCount: Int) -> [UInt8] {
        while count < columnCount { addNull() }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}
