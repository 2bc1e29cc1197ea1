import SQLiteFiles

/// A queue of records that wait for the network, in a file that persists when the program ends or crashes.
///
///     let queue = try UploadQueue(path: "uploads.db", limit: 100_000)
///     try await queue.append(records)
///
/// Once `append` returns, a record is in the file until a server confirms it, or until the file exceeds the limit and
/// the queue drops and counts the oldest records. An unconfirmed batch keeps its content and its identifier when it is
/// sent again, even by the next run of the program.
///
/// The file is an SQLite database in write-ahead mode, so it has two companion files while it is open.
public actor UploadQueue {
    /// The counts of a queue since its file was created.
    public struct Counts: Hashable, Sendable {
        /// The number of records that wait.
        public var waiting = 0
        /// The number of records that a server has confirmed.
        public var sent = 0
        /// The number of records dropped because of the limit.
        public var dropped = 0
        /// The number of records that no server will ever accept.
        public var rejected = 0
    }

    /// The version of the tables that this package writes.
    package static let version = 1
    /// The application identifier that marks the file as an upload queue: "IUPQ".
    private static let mark: Int64 = 0x4955_5051
    private static let schema = [
        "CREATE TABLE record (id INTEGER PRIMARY KEY AUTOINCREMENT, json TEXT NOT NULL)",
        // One row: the queue's name, its counts, and the batch that is being sent; 0 for none.
        """
        CREATE TABLE state (name TEXT NOT NULL, sent INTEGER NOT NULL, dropped INTEGER NOT NULL,
            rejected INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL)
        """,
        "INSERT INTO state VALUES (lower(hex(randomblob(8))), 0, 0, 0, 0, 0)",
    ]

    /// The path of the file.
    package nonisolated let path: String
    private nonisolated let executor = BlockingExecutor(label: "UploadQueue")
    private var limit: Int
    private var database: SQLiteFile<UploadQueueError>?

    /// Opens a queue, and creates the file if it does not exist.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of records that wait, from 1.
    ///   - busyTimeout: the time limit for waiting for another program that writes to the same queue, from 0 s.
    /// - Throws: `UploadQueueError` if the file cannot be opened, is not a queue, or has a newer version. In these
    ///   cases the file is not changed.
    public init(
        path: String, limit: Int = 100_000, busyTimeout: Duration = .seconds(5)
    ) throws(UploadQueueError) {
        let database = try SQLiteFile<UploadQueueError>(path: path, waiting: busyTimeout)
        try database.adopt(mark: Self.mark, version: Self.version, schema: Self.schema)
        self.path = path
        self.limit = max(1, limit)
        self.database = database
    }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Writes either all or none of the records, and drops the oldest ones beyond the limit.
    ///
    /// - Returns: the numbers of the records, in order.
    /// - Throws: `UploadQueueError` if they could not be written.
    @discardableResult package func append(_ records: [UploadRecord]) throws(UploadQueueError) -> [Int64] {
        let database = try open
        guard !records.isEmpty else { return [] }
        var numbers: [Int64] = []
        try database.transaction { database throws(UploadQueueError) in
            for record in records {
                let rows = try database.run("INSERT INTO record (json) VALUES (?) RETURNING id", [.text(record.json)])
                numbers += rows.compactMap { $0.first?.integer }
            }
            try drop(in: database)
        }
        return numbers
    }

    /// Sets the maximum number of records, from 1.
    ///
    /// - Throws: `UploadQueueError` if the records beyond the limit could not be dropped.
    package func setLimit(_ limit: Int) throws(UploadQueueError) {
        self.limit = max(1, limit)
        let database = try open
        try database.transaction { database throws(UploadQueueError) in try drop(in: database) }
    }

    /// Returns the batch to send next: the previous one until it is confirmed, then a new one with the oldest records.
    ///
    /// - Parameters:
    ///   - size: the maximum number of records in a new batch.
    ///   - device: the name of the device.
    /// - Returns: the batch; nil if no record waits.
    /// - Throws: `UploadQueueError` if it could not be read or stored.
    package func nextBatch(size: Int, device: String) throws(UploadQueueError) -> UploadBatch? {
        let database = try open
        var batch: UploadBatch?
        try database.transaction { database throws(UploadQueueError) in
            let state = try database.run("SELECT name, dropped, first, last FROM state").first ?? []
            guard state.count == 4, let name = state[0].text, let dropped = state[1].integer,
                var first = state[2].integer, var last = state[3].integer
            else { return }
            var records = last > 0 ? try Self.records("WHERE id <= ? ORDER BY id", last, in: database) : []
            if records.isEmpty {
                records = try Self.records("ORDER BY id LIMIT ?", Int64(max(1, size)), in: database)
                guard let oldest = records.first?.number, let newest = records.last?.number else { return }
                (first, last) = (oldest, newest)
                try database.run("UPDATE state SET first = ?, last = ?", [.integer(first), .integer(last)])
            }
            batch = UploadBatch(
                queue: name, range: min(first, last)...last, device: device, dropped: Int(dropped), records: records)
        }
        return batch
    }

    /// Removes a batch that a server has confirmed.
    ///
    /// - Throws: `UploadQueueError` if the removal could not be written; then the batch is sent once more.
    package func confirm(_ batch: UploadBatch) throws(UploadQueueError) { try remove(batch, counting: "sent") }

    /// Removes a batch that no server will ever accept.
    ///
    /// - Throws: `UploadQueueError` if the removal could not be written.
    package func reject(_ batch: UploadBatch) throws(UploadQueueError) { try remove(batch, counting: "rejected") }

    /// Divides the current batch, which was too large for the server: the next batch is a new one. Has no effect on a batch that
    /// isn't larger than that.
    ///
    /// - Parameter size: the maximum number of records in a new batch.
    /// - Throws: `UploadQueueError` if the change could not be written.
    package func divide(into size: Int) throws(UploadQueueError) {
        try open.run("UPDATE state SET last = 0 WHERE last - first >= ?", [.integer(Int64(size))])
    }

    /// The counts of the queue.
    ///
    /// - Throws: `UploadQueueError` if they could not be read.
    public var counts: Counts {
        get throws(UploadQueueError) {
            let database = try open
            let state = try database.run("SELECT sent, dropped, rejected FROM state").first ?? []
            let numbers = state.map { Int($0.integer ?? 0) }
            guard numbers.count == 3 else { return Counts() }
            return Counts(
                waiting: try Self.waiting(in: database), sent: numbers[0], dropped: numbers[1], rejected: numbers[2])
        }
    }

    /// The number of records that wait.
    ///
    /// - Throws: `UploadQueueError` if they could not be counted.
    package var waiting: Int {
        get throws(UploadQueueError) { try Self.waiting(in: open) }
    }

    /// Closes the file. Later calls throw `UploadQueueError`.
    public func close() { database = nil }

    private var open: SQLiteFile<UploadQueueError> {
        get throws(UploadQueueError) {
            guard let database else { throw UploadQueueError(.closed, path: path) }
            return database
        }
    }

    /// Returns the number of records that wait.
    ///
    /// Only the oldest records are removed, so their numbers have no gaps. Counting them would read the whole file.
    private static func waiting(in database: SQLiteFile<UploadQueueError>) throws(UploadQueueError) -> Int {
        Int(
            try database.number(
                "SELECT (SELECT max(id) FROM record) - (SELECT min(id) FROM record) + 1"))
    }

    /// Drops and counts the oldest records beyond the limit. The caller has begun a transaction.
    private func drop(in database: SQLiteFile<UploadQueueError>) throws(UploadQueueError) {
        try database.run(
            "DELETE FROM record WHERE id <= (SELECT max(id) FROM record) - ?", [.integer(Int64(limit))])
        try database.run("UPDATE state SET dropped = dropped + changes()")
    }

    /// Returns the records that a condition selects. The condition is the SQL text after the table's name, with one
    /// parameter.
    private static func records(
        _ condition: String, _ parameter: Int64, in database: SQLiteFile<UploadQueueError>
    ) throws(UploadQueueError) -> [(number: Int64, json: String)] {
        try database.run("SELECT id, json FROM record \(condition)", [.integer(parameter)]).compactMap { row in
            guard let number = row[0].integer, let json = row[1].text else { return nil }
            return (number, json)
        }
    }

    private func remove(_ batch: UploadBatch, counting column: String) throws(UploadQueueError) {
        let database = try open
        try database.transaction { database throws(UploadQueueError) in
            try database.run("DELETE FROM record WHERE id <= ?", [.integer(batch.last)])
            // Another program that sends from the same queue may have begun the next batch.
            try database.run(
                "UPDATE state SET \(column) = \(column) + changes(), last = CASE last WHEN ? THEN 0 ELSE last END",
                [.integer(batch.last)])
        }
    }
}

/// An error in opening, writing or reading an upload queue.
public struct UploadQueueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    public enum Reason: Hashable, Sendable {
        /// The file cannot be opened or created.
        case cannotOpen
        /// The file is another kind of database, or not a database.
        case notAQueue
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
        /// The queue was closed.
        case closed
        /// Another error, which the message describes.
        case failed
    }

    /// The kind of error.
    public var reason: Reason
    /// The path of the queue.
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
        case .cannotOpen: "the upload queue cannot be opened; check that its folder exists and is writable"
        case .notAQueue: "not an upload queue; use the path of another file"
        case .newerVersion(let found, let known):
            "the upload queue has version \(found), but this package reads versions up to \(known); update the package"
        case .busy: "another program has locked the upload queue; find out which program has it open"
        case .full: "the disk is full; free some space for the upload queue, or reduce upload.queueSize"
        case .damaged: "the upload queue is damaged; move it away, and the package creates a new one"
        case .readOnly: "the upload queue is not writable; check the permissions of the file and its folder"
        case .closed: "the upload queue was closed"
        case .failed: "the upload queue could not be written or read; check the disk"
        }
    }
}

extension UploadQueueError: SQLiteFileError {
    package init(sqlite reason: SQLiteReason, path: String, message: String, code: Int) {
        let reason: Reason =
            switch reason {
            case .cannotOpen: .cannotOpen
            case .foreign: .notAQueue
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
