import FoundationEssentials
import Glibc

/// Paths on this machine.
enum LocalPath {
    /// Returns the absolute path, without `.`, `..` and a trailing slash.
    static func absolute(_ path: String) -> String {
        let full = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        var parts: [Substring] = []
        for part in full.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Returns the reason why the system doesn't report whether a file exists; nil if the file exists or is missing.
    static func refusal(_ path: String) -> String? {
        guard access(path, F_OK) != 0, errno != ENOENT, errno != ENOTDIR else { return nil }
        return "\(path) cannot be read: \(String(cString: strerror(errno))); check its permissions"
    }
}
