/// What went wrong with a database file, whatever it holds.
package enum SQLiteReason: Hashable, Sendable {
    /// The file cannot be opened or made.
    case cannotOpen
    /// The file is a database of something else, or none at all.
    case foreign
    /// The file was written by a later edition: its version, and the latest one that is known here.
    case newerVersion(found: Int, known: Int)
    /// Another program has locked the file for longer than can be waited.
    case busy
    /// There is no room left on the disk.
    case full
    /// The file is damaged.
    case damaged
    /// The file, or its folder, may not be written to.
    case readOnly
    /// Something else, of which the message tells.
    case failed
}

/// An error in the words of who owns the file.
package protocol SQLiteFileError: Error {
    /// Creates an error.
    ///
    /// - Parameters:
    ///   - message: what SQLite says of it; empty where SQLite was not asked.
    ///   - code: SQLite's extended result code; 0 where SQLite was not asked.
    init(sqlite reason: SQLiteReason, path: String, message: String, code: Int)
}
