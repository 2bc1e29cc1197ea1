import SQLiteFiles

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
            case .failed: .failed
            }
        self.init(reason, path: path, message: message, code: code)
    }
}
