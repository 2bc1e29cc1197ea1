import SQLiteFiles

/// Records that wait for the network in a file, which outlives the program, however that ends.
///
///     let queue = try UploadQueue(path: "uploads.db", limit: 100_000)
///     try await queue.append(records)
///
/// A record that `append` has returned for is in the file until a server has confirmed it, or until there are more records
/// than the limit: then the oldest are dropped, and counted. A batch that was not confirmed is the same batch, with the
/// same identifier, when it is sent again, also by the next run of the program.
///
/// The file is an SQLite database in write-ahead mode, so that there are two more files beside it while it is open.
public actor UploadQueue {
    /// What a queue has counted since its file was begun.
    public struct Counts: Hashable, Sendable {
        /// Records that wait now.
        public var waiting = 0
        /// Records that a server has confirmed.
        public var sent = 0
        /// Records that were dropped, as there were more than the limit.
        public var dropped = 0
        /// Records that a server will never take.
        public var rejected = 0
    }

    /// The edition of the file's tables that is written.
    public static let version = 1
    /// Marks the file as a queue of ours: "IUPQ".
    private static let mark: Int64 = 0x4955_5051
    private static let schema = [
        "CREATE TABLE record (id INTEGER PRIMARY KEY AUTOINCREMENT, json TEXT NOT NULL)",
        // One row: the queue's name, its counts, and the batch that is on its way; 0 for none.
        """
        CREATE TABLE state (name TEXT NOT NULL, sent INTEGER NOT NULL, dropped INTEGER NOT NULL,
            rejected INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL)
        """,
        "INSERT INTO state VALUES (lower(hex(randomblob(8))), 0, 0, 0, 0, 0)",
    ]

    /// The path of the file.
    public nonisolated let path: String
    private var limit: Int
    private var database: SQLiteFile<UploadQueueError>?

    /// Opens a queue, which is begun if there is no such file.
    ///
    /// - Parameters:
    ///   - limit: how many records wait at most, from 1 on.
    ///   - busyTimeout: how long to wait for another program that writes to the same queue, from 0 s on.
    /// - Throws: `UploadQueueError` if the file cannot be opened, or if it is no queue or one of a later edition; then
    ///   nothing in it is changed.
    public init(
        path: String, limit: Int = 100_000, busyTimeout: Duration = .seconds(5)
    ) throws(UploadQueueError) {
        let database = try SQLiteFile<UploadQueueError>(path: path, waiting: busyTimeout)
        try database.adopt(mark: Self.mark, version: Self.version, schema: Self.schema)
        self.path = path
        self.limit = max(1, limit)
        self.database = database
    }

    /// Writes records, all of them or none, and drops what is beyond the limit.
    ///
    /// - Returns: the numbers of the records, in their order.
    /// - Throws: `UploadQueueError` if they could not be written.
    @discardableResult public func append(_ records: [UploadRecord]) throws(UploadQueueError) -> [Int64] {
        let database = try open
        guard !records.isEmpty else { return [] }
        var numbers: [Int64] = []
        try database.transaction { () throws(UploadQueueError) in
            for record in records {
                let rows = try database.run("INSERT INTO record (json) VALUES (?) RETURNING id", [.text(record.json)])
                numbers += rows.compactMap { $0.first?.integer }
            }
            try drop(in: database)
        }
        return numbers
    }

    /// Keeps at most so many records from now on, from 1 on.
    ///
    /// - Throws: `UploadQueueError` if what is beyond could not be dropped.
    public func setLimit(_ limit: Int) throws(UploadQueueError) {
        self.limit = max(1, limit)
        let database = try open
        try database.transaction { () throws(UploadQueueError) in try drop(in: database) }
    }

    /// The batch to send next: the one that was asked for before, if nobody has confirmed it, else the oldest records.
    ///
    /// - Parameters:
    ///   - size: records of a new batch at most.
    ///   - device: what the device is called.
    /// - Returns: nil if no record waits.
    /// - Throws: `UploadQueueError` if it could not be read, or noted.
    public func nextBatch(size: Int, device: String) throws(UploadQueueError) -> UploadBatch? {
        let database = try open
        var batch: UploadBatch?
        try database.transaction { () throws(UploadQueueError) in
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
    /// - Throws: `UploadQueueError` if that could not be written: then the batch is sent once more.
    public func confirm(_ batch: UploadBatch) throws(UploadQueueError) { try remove(batch, counting: "sent") }

    /// Removes a batch that a server will never take.
    ///
    /// - Throws: `UploadQueueError` if that could not be written.
    public func reject(_ batch: UploadBatch) throws(UploadQueueError) { try remove(batch, counting: "rejected") }

    /// Has the next batch made anew, as the one before was too large for the server.
    ///
    /// - Throws: `UploadQueueError` if that could not be written.
    public func divide() throws(UploadQueueError) { try open.run("UPDATE state SET last = 0") }

    /// What was counted.
    ///
    /// - Throws: `UploadQueueError` if it could not be read.
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

    /// How many records wait.
    ///
    /// - Throws: `UploadQueueError` if they could not be counted.
    public var waiting: Int {
        get throws(UploadQueueError) { try Self.waiting(in: open) }
    }

    /// Closes the file; what is asked of the queue after that is an error.
    public func close() { database = nil }

    private var open: SQLiteFile<UploadQueueError> {
        get throws(UploadQueueError) {
            guard let database else { throw UploadQueueError(.closed, path: path) }
            return database
        }
    }

    /// How many records wait. Their numbers have no gaps, as only the oldest go: to count them would read the whole file.
    private static func waiting(in database: SQLiteFile<UploadQueueError>) throws(UploadQueueError) -> Int {
        Int(
            try database.number(
                "SELECT (SELECT max(id) FROM record) - (SELECT min(id) FROM record) + 1"))
    }

    /// Within a transaction: forgets the oldest records beyond the limit, and counts them.
    private func drop(in database: SQLiteFile<UploadQueueError>) throws(UploadQueueError) {
        try database.run(
            "DELETE FROM record WHERE id <= (SELECT max(id) FROM record) - ?", [.integer(Int64(limit))])
        try database.run("UPDATE state SET dropped = dropped + changes()")
    }

    /// Records by what follows the table's name, which has one parameter.
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
        try database.transaction { () throws(UploadQueueError) in
            try database.run("DELETE FROM record WHERE id <= ?", [.integer(batch.last)])
            // Another program that sends from the same queue may have gone on to the next batch.
            try database.run(
                "UPDATE state SET \(column) = \(column) + changes(), last = CASE last WHEN ? THEN 0 ELSE last END",
                [.integer(batch.last)])
        }
    }
}
