import FoundationEssentials
import Glibc

/// An operation on a file or folder of this machine that failed.
struct FileSystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the file or folder.
    var path: String
    /// The reason, such as "No such file or directory".
    var reason: String

    var description: String { PrintableText.line("\(path): \(reason)") }

    /// The error that the system has just reported for a path, from `errno`.
    static func system(_ path: String) -> FileSystemError {
        FileSystemError(path: path, reason: String(cString: strerror(errno)))
    }
}

extension Error {
    /// The system's words where Foundation wraps an error of the system, such as "No such file or directory".
    ///
    /// What Foundation itself prints of such an error is its domain, its code and a dictionary, which help nobody.
    package var systemReason: String {
        if let error = self as? POSIXError { return String(cString: strerror(error.code.rawValue)) }
        return (self as? CocoaError)?.underlying?.systemReason ?? "\(self)"
    }

    /// The system's words where a file cannot be read.
    ///
    /// Foundation reads no devices, and says of each that it is not permitted.
    package func systemReason(reading path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0, [S_IFCHR, S_IFBLK].contains(status.st_mode & S_IFMT) else {
            return systemReason
        }
        return "it is a device; give a file"
    }
}
