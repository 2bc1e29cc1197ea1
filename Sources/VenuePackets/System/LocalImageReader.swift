import FoundationEssentials
import Glibc
import IndoorVocabulary
import LocalizationSession

/// A reader of plan images in files on this machine, where venue sources store them.
public struct LocalImageReader: PlanImageReader {
    /// Creates a reader.
    public init() {}

    /// Returns the bytes of the image at a path, read in pieces.
    ///
    /// - Throws: `LocalizationError` with code `generic` if the file cannot be read or is larger than 512 MiB;
    ///   `CancellationError` when the task is cancelled.
    @concurrent public func image(
        at path: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> [UInt8] {
        do {
            let file = try OpenFile(regular: path)
            let size = try file.size()
            guard size <= InputLimits.standard.image else {
                throw FileSystemError(path: path, reason: "has \(size) bytes, more than a plan image may have")
            }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(size)
            progress(0)
            while let piece = try file.read() {
                try Task.checkCancellation()
                bytes += piece
                // If the file grows while it is read, the progress stays at 1.
                if size > 0 { progress(min(1, Double(bytes.count) / Double(size))) }
            }
            return bytes
        } catch let error as FileSystemError {
            throw LocalizationError(code: .generic, message: "the plan image cannot be read: \(error)", kind: .storage)
        }
    }
}

/// Paths on this machine.
package enum LocalPath {
    /// Returns the absolute path, without `.`, `..` and a trailing slash.
    package static func absolute(_ path: String) -> String {
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
