import FoundationEssentials
import Glibc

/// Paths on this machine.
enum LocalPath {
    /// The path from the root, without `.` and `..` and without a slash at the end.
    static func absolute(_ path: String) -> String {
        let full = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        var parts: [Substring] = []
        for part in full.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Why the system does not let anybody see whether there is such a file; nil if it is just not there.
    static func refusal(_ path: String) -> String? {
        guard access(path, F_OK) != 0, errno != ENOENT, errno != ENOTDIR else { return nil }
        return "\(path) cannot be read: \(String(cString: strerror(errno))); check its permissions"
    }

    /// How a file is written so that a reader never finds half of it: aside, then put in its place.
    ///
    /// A pipe or a device is written into instead: put in its place, the file would replace it for everybody.
    static func writingOptions(for path: String) -> Data.WritingOptions {
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        return type == nil || type == .typeRegular ? .atomic : []
    }
}
