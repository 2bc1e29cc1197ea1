import FoundationEssentials
import Glibc

/// An operation on a file or folder of this machine that failed.
package struct FileSystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the file or folder.
    package var path: String
    /// The reason, such as "No such file or directory".
    package var reason: String

    /// Creates an error.
    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    package var description: String { PrintableText.line("\(path): \(reason)") }

    /// The error that the system has just reported for a path, from `errno`.
    static func system(_ path: String) -> FileSystemError {
        FileSystemError(path: path, reason: String(cString: strerror(errno)))
    }

    /// The error of a pipe, device or folder in place of a file.
    static func irregular(_ path: String) -> FileSystemError {
        FileSystemError(path: path, reason: "is not a regular file; replace it by one")
    }
}

extension Error {
    /// The system's message if Foundation wraps a system error, such as "No such file or directory".
    ///
    /// Foundation's own description of such an error is a domain, a code and a dictionary, which don't help a user.
    package var systemReason: String {
        if let error = self as? FileSystemError { return error.reason }
        if let error = self as? POSIXError { return String(cString: strerror(error.code.rawValue)) }
        return (self as? CocoaError)?.underlying?.systemReason ?? "\(self)"
    }

    /// Returns the system's message for a file that cannot be read.
    ///
    /// Foundation doesn't read devices and reports each of them as not permitted.
    package func systemReason(reading path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0, [S_IFCHR, S_IFBLK].contains(status.st_mode & S_IFMT) else {
            return systemReason
        }
        return "it is a device; give a file"
    }
}
