import IndoorVocabulary
import SQLiteFiles
import TagTracking

/// The alerts of a fleet on disk: which ones last, the latest events, and those that wait for the webhook.
///
/// One transaction stores what has happened to alerts, and that it is to be delivered: neither is lost or sent twice
/// after a crash. The file is an SQLite database that only its owner can read.
package actor AlertStore {
    /// The limits of the events that wait for the webhook. The oldest ones beyond them are dropped and counted.
    package struct Limits: Hashable, Sendable {
        /// The number of events.
        package var count = 10_000
        /// The age of an event.
        package var age = Duration.seconds(7 * 86_400)

        /// Creates the standard limits.
        package init() {}
    }

    /// The state at the start of a process.
    package struct Start: Sendable {
        /// The snapshot of the machine; nil in a new file.
        package var snapshot: [UInt8]?
        /// The JSON of the latest events, the oldest one first.
        package var latest: [[UInt8]]
    }

    /// An event that waits for the webhook.
    struct Delivery: Hashable, Sendable {
        let number: Int64
        /// The identifier of the event.
        let id: String
        let json: [UInt8]
    }

    /// The number of the latest events in the file.
    package static let latestCount = 1_000
    /// The version of the tables.
    private static let version = 1
    /// The application identifier that marks the file as one of alerts: "ITAL".
    private static let mark: Int64 = 0x4954_414C
    private static let schema = [
        "CREATE TABLE machine (id INTEGER PRIMARY KEY CHECK (id = 1), snapshot BLOB NOT NULL)",
        "CREATE TABLE event (number INTEGER PRIMARY KEY AUTOINCREMENT, json BLOB NOT NULL)",
        """
        CREATE TABLE delivery (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, time INTEGER NOT NULL, json BLOB NOT NULL)
        """,
    ]

    /// The path of the file.
    package nonisolated let path: String
    private nonisolated let executor = BlockingExecutor(label: "AlertStore")
    /// The limits of the events that wait.
    nonisolated let limits: Limits
    private let database: SQLiteFile<AlertStoreError>
    /// The number of events that were dropped because of the limits.
    private(set) var droppedCount = 0

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Opens a file, and creates it if it doesn't exist.
    ///
    /// - Parameter waiting: the longest time that a transaction waits for another program.
    /// - Throws: ``AlertStoreError`` if the file can't be opened, is another kind of file, or has a newer version.
    package init(
        path: String, limits: Limits = Limits(), waiting: Duration = .seconds(5)
    ) throws(AlertStoreError) {
        let database = try SQLiteFile<AlertStoreError>(path: path, waiting: waiting)
        try database.adopt(mark: Self.mark, version: Self.version, schema: Self.schema)
        (self.path, self.limits, self.database) = (path, limits, database)
    }

    /// Returns the state of earlier starts.
    ///
    /// - Throws: ``AlertStoreError`` if it can't be read.
    package func begin() throws(AlertStoreError) -> Start {
        let snapshot = try database.run("SELECT snapshot FROM machine").first?.first?.bytes
        let latest = try database.run(
            "SELECT json FROM (SELECT number, json FROM event ORDER BY number DESC LIMIT ?) ORDER BY number",
            [.integer(Int64(Self.latestCount))])
        return Start(snapshot: snapshot, latest: latest.compactMap { $0.first?.bytes })
    }

    /// Stores events and the state of the machine after them.
    ///
    /// - Parameter isDelivered: whether the events wait for the webhook.
    /// - Throws: ``AlertStoreError`` if they can't be written; then none of them is.
    package func add(_ events: [AlertEvent], _ snapshot: [UInt8], isDelivered: Bool) throws(AlertStoreError) {
        try database.transaction { database throws(AlertStoreError) in
            try database.run("INSERT OR REPLACE INTO machine VALUES (1, ?)", [.blob(snapshot)])
            for event in events {
                let json = SQLiteValue.blob(event.jsonBytes)
                try database.run("INSERT INTO event (json) VALUES (?)", [json])
                guard isDelivered else { continue }
                try database.run(
                    "INSERT OR IGNORE INTO delivery (id, time, json) VALUES (?, ?, ?)",
                    [.text(event.id), .integer(event.instant.nanoseconds / 1_000_000), json])
            }
            guard !events.isEmpty else { return }
            try database.run(
                "DELETE FROM event WHERE number <= (SELECT max(number) FROM event) - ?",
                [.integer(Int64(Self.latestCount))])
            try database.run(
                "DELETE FROM delivery WHERE number <= (SELECT max(number) FROM delivery) - ?",
                [.integer(Int64(limits.count))])
            droppedCount += Int(try database.number("SELECT changes()"))
        }
    }

    /// The number of events that wait.
    ///
    /// - Throws: ``AlertStoreError`` if they can't be counted.
    package var waiting: Int {
        get throws(AlertStoreError) { Int(try database.number("SELECT count(*) FROM delivery")) }
    }

    /// Returns the event to deliver next, after it has dropped those that are too old; nil if none waits.
    ///
    /// - Throws: ``AlertStoreError`` if it can't be read.
    func next(at now: Instant) throws(AlertStoreError) -> Delivery? {
        let oldest = now.advanced(by: .zero - limits.age).nanoseconds / 1_000_000
        try database.run("DELETE FROM delivery WHERE time < ?", [.integer(oldest)])
        droppedCount += Int(try database.number("SELECT changes()"))
        let row = try database.run("SELECT number, id, json FROM delivery ORDER BY number LIMIT 1").first ?? []
        guard row.count == 3, let number = row[0].integer, let id = row[1].text, let json = row[2].bytes else {
            return nil
        }
        return Delivery(number: number, id: id, json: json)
    }

    /// Removes an event that was delivered, or never will be.
    ///
    /// - Throws: ``AlertStoreError`` if the removal can't be written; then the event is delivered once more.
    func remove(_ delivery: Delivery) throws(AlertStoreError) {
        try database.run("DELETE FROM delivery WHERE number = ?", [.integer(delivery.number)])
    }
}

/// An error in opening, writing or reading the alerts on disk.
package struct AlertStoreError: Error, Hashable, Sendable, CustomStringConvertible, SQLiteFileError {
    private let reason: SQLiteReason
    private let path: String
    private let message: String

    package init(sqlite reason: SQLiteReason, path: String, message: String, code: Int) {
        self.reason = reason
        self.path = path
        self.message = message.isEmpty ? "" : " (SQLite: \(message), code \(code))"
    }

    package var description: String { "\(path): \(what)\(message)" }

    private var what: String {
        switch reason {
        case .cannotOpen: "the file of alerts can't be opened; check that its folder exists and is writable"
        case .foreign: "not a file of alerts; move it away, and the program creates a new one"
        case .newerVersion(let found, let known):
            "the file of alerts has version \(found), but this program reads versions up to \(known); update the program"
        case .busy: "another program has locked the file of alerts; find out which program has it open"
        case .full: "the disk is full; free some space"
        case .damaged: "the file of alerts is damaged; move it away, and the program creates a new one"
        case .readOnly: "the file of alerts isn't writable; check the permissions of the file and its folder"
        case .interrupted, .failed: "the file of alerts can't be written or read; check the disk"
        }
    }
}
