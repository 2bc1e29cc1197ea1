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
