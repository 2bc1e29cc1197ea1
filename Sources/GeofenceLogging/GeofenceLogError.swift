import SQLiteFiles

/// An error in opening, writing or reading a geofence log.
public struct GeofenceLogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    public enum Reason: Hashable, Sendable {
        /// The file cannot be opened or created.
        case cannotOpen
        /// The file is another kind of database, or not a database.
        case notALog
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
        /// The log was closed.
        case closed
        /// Another error, which the message describes.
        case failed
    }

    /// The kind of error.
    public var reason: Reason
    /// The path of the log.
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
        case .cannotOpen: "the log cannot be opened; check that its folder exists and is writable"
        case .notALog: "not a geofence log; use the path of another file"
        case .newerVersion(let found, let known):
            "the log has version \(found), but this package reads versions up to \(known); update the package"
        case .busy: "another program has locked the log; find out which program has it open"
        case .full: "the disk is full; free some space for the log, or keep fewer records"
        case .damaged: "the log is damaged; move it away, and the package creates a new one"
        case .readOnly: "the log is not writable; check the permissions of the file and its folder"
        case .closed: "the log was closed"
        case .failed: "the log could not be written or read; check the disk"
        }
    }
}

extension GeofenceLogError: SQLiteFileError {
    package init(sqlite reason: SQLiteReason, path: String, message: String, code: Int) {
        let reason: Reason =
            switch reason {
            case .cannotOpen: .cannotOpen
            case .foreign: .notALog
            case .newerVersion(let found, let known): .newerVersion(found: found, known: known)
            case .busy: .busy
            case .full: .full
            case .damaged: .damaged
            case .readOnly: .readOnly
            case .failed: .failed
            }
        self.init(reason, path: path, message: message, code: code)
    }
}
