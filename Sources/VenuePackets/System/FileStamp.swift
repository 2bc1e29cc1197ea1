import Glibc

/// The metadata that changes with the content of a file: the file's identity, its size, and the times of its latest
/// changes.
package struct FileStamp: Hashable, Sendable {
    private let numbers: [Int]

    /// Reads the metadata of a file; nil if the file doesn't exist or can't be inspected.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        numbers = [
            Int(status.st_dev), Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
            status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
    }
}
