import SQLiteFiles

/// Why a geofence log could not be opened, written or read.
public struct GeofenceLogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Reason: Hashable, Sendable {
        /// The file cannot be opened or made.
        case cannotOpen
        /// The file is a database of something else, or none at all.
        case notALog
        /// The file was written by a later edition of this package: its version, and the one that is known here.
        case newerVersion(found: Int, known: Int)
        /// Another program has locked the file for longer than can be waited.
        case busy
        /// There is no room left on the disk.
        case full
        /// The file is damaged.
        case damaged
        /// The file, or its folder, may not be written to.
        case readOnly
        /// The log was closed.
        case closed
        /// Something else, of which the message tells.
        case failed
    }

    /// What is wrong.
    public var reason: Reason
    /// The path of the log.
    public var path: String
    /// What SQLite says of it; empty where SQLite was not asked.
    public var message: String
    /// SQLite's extended result code; 0 where SQLite was not asked.
    public var code: Int

    /// Creates an error.
    public init(_ reason: Reason, path: String, message: String = "", code: Int = 0) {
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
        case .cannotOpen: "the log cannot be opened; see that its folder is there and may be written to"
        case .notALog: "this is no geofence log; give the path of another file"
        case .newerVersion(let found, let known):
            "the log has version \(found), which this edition (up to \(known)) does not know; use a later one"
        case .busy: "another program keeps the log locked; see who has it open"
        case .full: "there is no room left for the log; make some, or keep fewer records"
        case .damaged: "the log is damaged; move it away, and a new one is begun"
        case .readOnly: "the log may not be written to; see the rights of the file and its folder"
        case .closed: "the log was closed"
        case .failed: "the log could not be written or read"
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
