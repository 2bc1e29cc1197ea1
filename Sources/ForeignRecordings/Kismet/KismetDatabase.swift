import SQLiteFiles

/// A row of a log of Kismet.
package struct KismetRow: Hashable, Sendable {
    /// The content of a row, by its table.
    enum Content: Hashable, Sendable {
        /// A packet with its layout, a number of the registry of LINKTYPE values.
        case packet(linkType: UInt32, isDamaged: Bool, bytes: [UInt8])
        /// A report of an adapter or of an app in JSON.
        case report(type: String, json: [UInt8])
        /// The latest state of a device in JSON.
        case device(json: [UInt8])
        /// Rows of another kind, of which only the number is known.
        case other(kind: String, count: Int)
    }

    /// The number of the row in its table.
    var number: Int64
    /// The time in nanoseconds since 1970; nil out of range.
    var nanoseconds: Int64?
    /// The signal strength in dBm; nil if Kismet had none.
    var signal: Double?
    var content: Content

    /// The name of the row's table.
    var table: String {
        switch content {
        case .packet, .other: "packets"
        case .report: "data"
        case .device: "devices"
        }
    }
}

/// The rows of a log of Kismet that concern Bluetooth LE: packets and reports in the order of their times or, without
/// any of them, devices.
///
/// It holds a few rows of each table in memory.
///
/// Source: Kismet, kismetwireless.net/docs/dev/kismetdb, and github.com/kismetwireless/kismet, `kis_databaselogfile.cc`.
package final class KismetDatabase {
    /// The maximum number of bytes of a file that is compressed or a pipe.
    package static let maximumImage = 256 << 20
    /// The maximum number of bytes of a packet or an object.
    private static let maximumLength = ObjectBuffer.maximumLength
    /// The number of rows of a table in memory.
    private static let pageLength = 64
    /// The kinds of reports about Bluetooth: those of Linux' HCI, and those of apps.
    private static let reports = "'linuxbthci', 'BLUETOOTHSCAN'"

    /// A table that is read in pages.
    private struct Table {
        let sql: String
        let row: ([SQLiteValue]) -> KismetRow
        var latest = Int64.min
        var page: ArraySlice<KismetRow> = []
        var isFinished = false
    }

    private let file: SQLiteFile<KismetDatabaseError>
    private var tables: [Table] = []
    private var others: [KismetRow] = []
    /// What the rows are, in words.
    package private(set) var understood: [String] = []

    /// Opens a log.
    ///
    /// - Parameter image: the content of the file; nil reads the file at the path.
    package init(path: String, image: [UInt8]? = nil) throws(ForeignProblem) {
        do throws(KismetDatabaseError) {
            file = try SQLiteFile(reading: path, image: image)
            let names = try file.run("SELECT name FROM sqlite_master WHERE type = 'table'").compactMap(\.first?.text)
            guard names.contains("packets"), names.contains("data"), names.contains("devices") else {
                throw KismetDatabaseError(
                    problem: .unsupported(
                        "is a database of SQLite, but not a log of Kismet",
                        remedy: "Convert a .kismet file, or a CSV export of the database"))
            }
            try open()
        } catch {
            throw ForeignProblem(nil, error.problem, endsFile: true)
        }
    }

    private func open() throws(KismetDatabaseError) {
        let types = PacketContent.LinkType.allCases.map { "\($0.rawValue)" }.joined(separator: ", ")
        let columns = try file.run("SELECT name FROM pragma_table_info('data')").compactMap(\.first?.text)
        // Logs of older versions have no column with the signal strength of a report.
        let signal = columns.contains("signal") ? "signal" : "0"
        let limit = Self.maximumLength + 1
        let packets = Table(
            sql: "SELECT rowid, ts_sec, ts_usec, signal, dlt, error, substr(packet, 1, \(limit)) FROM packets "
                + "WHERE rowid > ?1 AND dlt IN (\(types)) ORDER BY rowid LIMIT \(Self.pageLength)",
            row: { values in
                Self.row(values, usec: 2) { value in
                    let linkType = value(4)?.integer.flatMap { UInt32(exactly: $0) } ?? 0
                    return .packet(
                        linkType: linkType, isDamaged: (value(5)?.integer ?? 0) != 0, bytes: value(6)?.bytes ?? [])
                }
            })
        let reports = Table(
            sql: "SELECT rowid, ts_sec, ts_usec, \(signal), type, substr(json, 1, \(limit)) FROM data "
                + "WHERE rowid > ?1 AND type IN (\(Self.reports)) ORDER BY rowid LIMIT \(Self.pageLength)",
            row: { values in
                Self.row(values, usec: 2) { value in
                    .report(type: value(4)?.text ?? "", json: value(5)?.bytes ?? [])
                }
            })
        for table in [packets, reports] {
            let table = try filled(table)
            if !table.page.isEmpty { tables.append(table) }
        }
        others = try file.run(
            "SELECT phyname, count(*) FROM packets WHERE dlt NOT IN (\(types)) GROUP BY phyname LIMIT 50"
        ).map { values in
            KismetRow(
                number: 0,
                content: .other(
                    kind: values.first?.text ?? "other radios", count: Int(values.last?.integer ?? 0)))
        }
        if tables.isEmpty {
            understood = ["rows: the latest reading of each device, because the log has no packets and reports"]
            let offset = "rowid > ?1 ORDER BY rowid LIMIT 8"
            tables = [
                try filled(
                    Table(
                        sql: "SELECT rowid, last_time, 0, 0, substr(device, 1, \(limit)) FROM devices WHERE \(offset)",
                        row: { values in
                            Self.row(values, usec: nil) { value in .device(json: value(4)?.bytes ?? []) }
                        }))
            ]
        } else {
            understood = ["rows: packets of Bluetooth LE, and reports of HCI and of apps"]
        }
    }

    /// Returns a row of values: the number, the seconds, the microseconds, the signal strength and the content.
    private static func row(
        _ values: [SQLiteValue], usec: Int?, content: ((Int) -> SQLiteValue?) -> KismetRow.Content
    ) -> KismetRow {
        func value(_ index: Int) -> SQLiteValue? { values.indices.contains(index) ? values[index] : nil }
        let seconds = value(1)?.integer ?? 0
        let micro = usec.flatMap { value($0)?.integer } ?? 0
        let isValid = (100_000_000..<7_000_000_000).contains(seconds) && (0..<1_000_000).contains(micro)
        // Kismet writes 0 if it has no signal strength.
        let signal = value(3)?.real.flatMap { $0 == 0 ? nil : $0 }
        return KismetRow(
            number: value(0)?.integer ?? 0, nanoseconds: isValid ? (seconds * 1_000_000 + micro) * 1000 : nil,
            signal: signal, content: content(value))
    }

    /// Returns a table with its next page.
    private func filled(_ table: Table) throws(KismetDatabaseError) -> Table {
        var table = table
        guard table.page.isEmpty, !table.isFinished else { return table }
        let rows = try file.run(table.sql, [.integer(table.latest)]).map(table.row)
        for row in rows {
            // A damaged index could give the same rows again and again.
            guard row.number > table.latest else {
                throw KismetDatabaseError(problem: .malformed("the rows of \(row.table) are not in order"))
            }
            table.latest = row.number
        }
        table.page = rows[...]
        table.isFinished = rows.isEmpty
        return table
    }

    /// Returns the next row; nil at the end.
    package func next() throws(ForeignProblem) -> KismetRow? {
        if let other = others.popLast() { return other }
        do throws(KismetDatabaseError) {
            for index in tables.indices { tables[index] = try filled(tables[index]) }
        } catch {
            throw ForeignProblem(nil, error.problem, endsFile: true)
        }
        let heads = tables.indices.compactMap { index in tables[index].page.first.map { (index, $0) } }
        // A row without a valid time comes first, so that it waits for nothing.
        let earliest = heads.min { ($0.1.nanoseconds ?? .min) < ($1.1.nanoseconds ?? .min) }
        guard let (index, row) = earliest else { return nil }
        tables[index].page.removeFirst()
        return row
    }
}

// Not Sendable: a database owns a connection, which one task uses at a time.
@available(*, unavailable)
extension KismetDatabase: Sendable {}

/// An error of a log of Kismet.
private struct KismetDatabaseError: SQLiteFileError {
    var problem: ForeignRecordingError.Problem

    init(problem: ForeignRecordingError.Problem) { self.problem = problem }

    init(sqlite reason: SQLiteReason, path: String, message: String, code: Int) {
        problem =
            switch reason {
            case .damaged, .foreign: .malformed("the database is damaged (\(message))")
            // A journal that Kismet left must be played back, which changes the file.
            case .readOnly, .busy:
                .unsupported(
                    "can't be read now: \(message)",
                    remedy: "End Kismet, or copy the file and its journal, and open the copy once with sqlite3")
            default: .unreadable(message)
            }
    }
}
