import Glibc

/// The metadata that changes with the content of a file: the file's identity, its size, and the times of its latest
/// changes.
struct FileStamp: Hashable, Sendable {
    private let numbers: [Int]

    /// Nil if the file doesn't exist or can't be inspected.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        numbers = [
            Int(status.st_dev), Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
            status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
    }
}
