import CSQLite
import Dispatch
import Glibc

/// A connection to one database file. Its owner must not call it concurrently.
///
/// The file's owner defines the type of the errors, so that each message names the kind of file.
package final class SQLiteFile<Failure: SQLiteFileError> {
    /// One value of a row or a parameter.
    package typealias Value = SQLiteValue

    private let handle: OpaquePointer
    package let path: String
    private var statements: [String: OpaquePointer] = [:]
    private let deadline = StatementDeadline()

    /// Opens a file, or creates it with access for its owner only, because it reveals where a person was.
    package init(path: String, waiting: Duration) throws(Failure) {
        // SQLite would make a new file readable by all users. Its journals get the mode of the file. SQLite reports any
        // error below.
        if !path.isEmpty, path != ":memory:" {
            let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if file >= 0 { close(file) }
        }
        handle = try Self.opened(path, named: path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        self.path = path
        wait(for: waiting)
    }

    /// Opens a file of another program for reading. The methods that write throw an error.
    ///
    /// - Parameters:
    ///   - path: the path of the file; if `image` has its content, only the name for errors.
    ///   - image: the content of the file; nil reads the file.
    ///   - waiting: the longest time that a statement waits for another program.
    package init(reading path: String, image: [UInt8]? = nil, waiting: Duration = .zero) throws(Failure) {
        handle =
            if let image {
                try Self.opened(":memory:", named: path, SQLITE_OPEN_READWRITE) {
                    csqlite_read($0, image, Int64(image.count))
                }
            } else if Self.isAtRest(path) {
                try Self.opened(Self.immutable(path), named: path, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
            } else { try Self.opened(path, named: path, SQLITE_OPEN_READONLY) }
        self.path = path
        wait(for: waiting)
        // The schema of a file from elsewhere calls no function, and its cells are checked.
        try run("PRAGMA trusted_schema = OFF")
        try run("PRAGMA cell_size_check = ON")
    }

    private func wait(for time: Duration) {
        let (seconds, attoseconds) = time.components
        sqlite3_busy_timeout(handle, Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }

    /// Returns the path to which symbolic links lead, beside which SQLite has its journals.
    package static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Returns whether SQLite must not look for other programs that use a file: there are none, and it would have to
    /// create a file for the exchange with them in a folder that isn't writable.
    ///
    /// Only a file with a write-ahead log needs such a file. Source: sqlite.org, *Database File Format*, section 1.3.
    private static func isAtRest(_ path: String) -> Bool {
        let file = resolved(path)
        let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
        guard access(folder, W_OK) != 0, access(file + "-wal", F_OK) != 0, access(file + "-journal", F_OK) != 0,
            let stream = fopen(file, "re")
        else { return false }
        defer { fclose(stream) }
        var versions = [UInt8](repeating: 0, count: 2)
        return fseek(stream, 18, SEEK_SET) == 0 && fread(&versions, 1, 2, stream) == 2 && versions == [2, 2]
    }

    /// Returns the URI of a file that no program changes. Source: sqlite.org, *Uniform Resource Identifiers*.
    private static func immutable(_ path: String) -> String {
        let name = path.map { "%?#".contains($0) ? $0.utf8.map { "%" + String($0, radix: 16) }.joined() : String($0) }
        return (path.hasPrefix("/") ? "file://" : "file:") + name.joined() + "?immutable=1"
    }

    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - name: the path for errors.
    ///   - prepare: prepares the connection; returns a result code.
    private static func opened(
        _ path: String, named name: String, _ flags: Int32, _ prepare: (OpaquePointer) -> Int32 = { _ in SQLITE_OK }
    ) throws(Failure) -> OpaquePointer {
        var handle: OpaquePointer?
        var code = sqlite3_open_v2(path, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        if code == SQLITE_OK, let handle { code = prepare(handle) }
        guard code == SQLITE_OK, let handle else {
            let message = handle.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
            sqlite3_close_v2(handle)
            throw Failure(sqlite: .cannotOpen, path: name, message: message ?? "out of memory", code: Int(code))
        }
        return handle
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Ends each later statement that runs for longer than a time; it then throws an error of the kind `interrupted`.
    package func endStatements(after time: Duration) {
        deadline.limit = time
        deadline.watch(handle)
    }

    /// Runs a statement and returns its rows. Parameters are numbered from 1. Each statement is prepared only once.
    @discardableResult package func run(_ sql: String, _ parameters: [Value] = []) throws(Failure) -> [[Value]] {
        let statement = try prepare(sql)
        deadline.begin()
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in parameters.enumerated() { try bind(value, to: Int32(index + 1), of: statement) }
        var rows: [[Value]] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: rows.append(row(of: statement))
            case SQLITE_DONE: return rows
            default: throw failure()
            }
        }
    }

    /// Runs statements in one transaction: either all of them take effect, or none.
    ///
    /// - Parameter body: Gets the file, because Swift 6.2 refuses a closure of an actor that captures both the actor and
    ///   a local variable with the file.
    package func transaction(_ body: (SQLiteFile) throws(Failure) -> Void) throws(Failure) {
        // With `IMMEDIATE`, SQLite waits for another writer here and not during the work.
        try run("BEGIN IMMEDIATE")
        do throws(Failure) {
            try body(self)
            try run("COMMIT")
        } catch {
            // After some errors SQLite has already rolled back, and this statement fails.
            _ = try? run("ROLLBACK")
            throw error
        }
    }

    private func prepare(_ sql: String) throws(Failure) -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else { throw failure() }
        statements[sql] = statement
        return statement
    }

    private func bind(
        _ value: Value, to index: Int32, of statement: OpaquePointer
    ) throws(Failure) {
        let code =
            switch value {
            case .null: sqlite3_bind_null(statement, index)
            case .integer(let integer): sqlite3_bind_int64(statement, index, integer)
            case .real(let real): sqlite3_bind_double(statement, index, real)
            case .text(let text): csqlite_bind_text(statement, index, text, Int32(clamping: text.utf8.count))
            case .blob(let bytes): csqlite_bind_blob(statement, index, bytes, Int32(clamping: bytes.count))
            }
        guard code == SQLITE_OK else { throw failure() }
    }

    private func row(of statement: OpaquePointer) -> [Value] {
        (0..<sqlite3_column_count(statement)).map { column in
            switch sqlite3_column_type(statement, column) {
            case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, column))
            case SQLITE_FLOAT: .real(sqlite3_column_double(statement, column))
            case SQLITE_NULL: .null
            case SQLITE_BLOB: .blob(blob(of: statement, column))
            default: .text(text(of: statement, column))
            }
        }
    }

    private func text(of statement: OpaquePointer, _ column: Int32) -> String {
        // Read the text first, because this call can change the number of bytes.
        let start = sqlite3_column_text(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    private func blob(of statement: OpaquePointer, _ column: Int32) -> [UInt8] {
        let start = sqlite3_column_blob(statement, column)
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// Returns the error of the last call.
    private func failure() -> Failure {
        let code = sqlite3_extended_errcode(handle)
        let reason: SQLiteReason =
            switch code & 0xFF {
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            case SQLITE_FULL: .full
            case SQLITE_CORRUPT: .damaged
            case SQLITE_NOTADB: .foreign
            case SQLITE_READONLY: .readOnly
            case SQLITE_INTERRUPT: .interrupted
            case SQLITE_CANTOPEN: .cannotOpen
            default: .failed
            }
        let message = sqlite3_errmsg(handle).map { String(cString: $0) } ?? ""
        return Failure(sqlite: reason, path: path, message: message, code: Int(code))
    }
}

/// The time at which the present statement of a connection ends.
private final class StatementDeadline {
    /// The number of instructions of SQLite between two looks at the clock, some tens of microseconds.
    private static let instructions: Int32 = 1_000

    var limit: Duration?
    private var end: ContinuousClock.Instant?

    func begin() { end = limit.map { .now + $0 } }

    /// Ends the statements of a connection at the time. The connection must not be used after this object's end.
    func watch(_ handle: OpaquePointer) {
        sqlite3_progress_handler(
            handle, Self.instructions,
            { context in
                guard let context else { return 0 }
                return Unmanaged<StatementDeadline>.fromOpaque(context).takeUnretainedValue().isReached ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private var isReached: Bool { end.map { ContinuousClock.now >= $0 } ?? false }
}

extension SQLiteFile {
    /// Checks that the file has this kind and a known version, and creates the tables in an empty file.
    ///
    /// - Parameters:
    ///   - mark: the SQLite application identifier that distinguishes files of this kind from others.
    ///   - version: the latest known version, which is also the one that is written.
    ///   - schema: the statements that create the tables; the method writes mark and version after them.
    package func adopt(mark: Int64, version: Int, schema: [String]) throws(Failure) {
        if try !isAdopted(mark, version) {
            try transaction { _ throws(Failure) in
                // Another program may have created the tables in the meantime.
                guard try !isAdopted(mark, version) else { return }
                for statement in schema { try run(statement) }
                try run("PRAGMA application_id = \(mark)")
                try run("PRAGMA user_version = \(version)")
            }
        }
        try run("PRAGMA journal_mode = WAL")
        // Each commit is on the disk before it returns.
        try run("PRAGMA synchronous = FULL")
        try run("PRAGMA journal_size_limit = 1048576")
    }

    /// Checks that the file has this kind and a known version. An empty file has none.
    package func check(mark: Int64, version: Int) throws(Failure) {
        guard try isAdopted(mark, version) else { throw Failure(sqlite: .foreign, path: path, message: "", code: 0) }
    }

    /// Returns whether the file has this kind; false if it is empty.
    private func isAdopted(_ mark: Int64, _ version: Int) throws(Failure) -> Bool {
        let found = try number("PRAGMA application_id")
        let edition = try number("PRAGMA user_version")
        let tables = try number("SELECT count(*) FROM sqlite_master")
        if found == 0, edition == 0, tables == 0 { return false }
        guard found == mark, edition > 0 else { throw Failure(sqlite: .foreign, path: path, message: "", code: 0) }
        guard edition <= version else {
            throw Failure(sqlite: .newerVersion(found: Int(edition), known: version), path: path, message: "", code: 0)
        }
        return true
    }

    /// Returns the whole number that a statement returns; 0 if it returns none.
    package func number(_ sql: String) throws(Failure) -> Int64 { try run(sql).first?.first?.integer ?? 0 }
}

/// One value of a row or a parameter.
package enum SQLiteValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// The whole number; nil if the value has another type.
    package var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
    /// The text; nil if the value has another type.
    package var text: String? { if case .text(let text) = self { text } else { nil } }
    /// The number, including a whole one; nil if the value has another type.
    package var real: Double? {
        switch self {
        case .real(let real): real
        case .integer(let integer): Double(integer)
        case .null, .text, .blob: nil
        }
    }

    /// The bytes of a blob or of a text in UTF-8; nil if the value has another type.
    package var bytes: [UInt8]? {
        switch self {
        case .blob(let bytes): bytes
        case .text(let text): Array(text.utf8)
        case .null, .integer, .real: nil
        }
    }
}

/// The beginning of a database file.
package enum SQLiteHeader {
    /// The first bytes of each file. Source: sqlite.org, *Database File Format*, 1.3.
    package static let identification = Array("SQLite format 3\0".utf8)

    /// Returns whether a path names a regular file that begins as a database does.
    package static func isDatabase(path: String) -> Bool {
        // A pipe without a writer would block, and its bytes can be read only once.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        var start = [UInt8](repeating: 0, count: identification.count)
        guard pread(file, &start, start.count, 0) == start.count else { return false }
        return start == identification
    }
}

/// The kinds of error in a database file, independent of its content.
package enum SQLiteReason: Hashable, Sendable {
    /// The file cannot be opened or created.
    case cannotOpen
    /// The file is another kind of database, or not a database.
    case foreign
    /// A newer version of the package wrote the file. `found` is the version of the file, and `known` the latest one
    /// that this version of the package reads.
    case newerVersion(found: Int, known: Int)
    /// Another program has locked the file for longer than the time limit.
    case busy
    /// The disk is full.
    case full
    /// The file is damaged.
    case damaged
    /// The file or its folder is not writable.
    case readOnly
    /// A statement took longer than the limit of the connection.
    case interrupted
    /// Another error, which the message describes.
    case failed
}

/// An error type that the owner of the file defines.
package protocol SQLiteFileError: Error {
    /// Creates an error.
    ///
    /// - Parameters:
    ///   - message: the message from SQLite; empty if the error is not from SQLite.
    ///   - code: SQLite's extended result code; 0 if the error is not from SQLite.
    init(sqlite reason: SQLiteReason, path: String, message: String, code: Int)
}

/// An executor for an actor that waits for a disk or for a lock of another program.
///
/// The tasks of a program share a few threads, one for each processor. These threads must not wait. Each actor that
/// owns a database file has its own executor, so that a slow disk delays only that actor.
package final class BlockingExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// Creates an executor whose thread has a name in debuggers.
    package init(label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
