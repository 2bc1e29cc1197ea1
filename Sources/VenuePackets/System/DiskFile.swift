import Glibc

/// Operations on files that other processes see either completed or not at all.
package enum DiskFile {
    /// The access permissions, before the umask, of a file that describes a building but doesn't contain anyone's
    /// location.
    package static let openMode: mode_t = 0o666

    /// Creates a file, or replaces one, which keeps its access permissions. The content is on disk when this function
    /// returns.
    ///
    /// - Parameter mode: the access permissions of a new file, of which the umask removes some.
    /// - Throws: `FileSystemError`; then an earlier file stays.
    package static func replace(_ path: String, with bytes: [UInt8], mode: mode_t = openMode) throws(FileSystemError) {
        let draft = try FileDraft(of: path, mode: mode)
        try draft.write(bytes)
        try draft.finish()
    }

    /// Copies a file from its current position to its end.
    static func copy(_ source: OpenFile, to path: String, mode: mode_t) throws(FileSystemError) {
        let draft = try FileDraft(of: path, mode: mode)
        while let bytes = try source.read() { try draft.write(bytes) }
        try draft.finish()
    }

    /// Writes bytes to a path: into a pipe or a device directly, because replacing it would affect all its users;
    /// replaces any other file.
    static func write(_ bytes: [UInt8], to path: String) throws(FileSystemError) {
        var status = stat()
        guard stat(path, &status) == 0, [S_IFIFO, S_IFCHR, S_IFBLK, S_IFSOCK].contains(status.st_mode & S_IFMT) else {
            return try replace(path, with: bytes)
        }
        try OpenFile(path, O_WRONLY | O_NOCTTY).write(bytes)
    }
}

/// A file that is being written; it gets its name when it is complete.
///
/// A class because it owns the open file and removes an incomplete one. The file has an unpredictable name and never
/// existed before: in a folder that others can write, an existing file could be a link to a file of this user.
final class FileDraft {
    private let path: String
    private let file: OpenFile
    private var isFinished = false

    /// Creates the file beside its place.
    ///
    /// - Parameter mode: the access permissions, of which the umask removes some; an earlier file keeps its own.
    init(of path: String, mode: mode_t) throws(FileSystemError) {
        self.path = path
        let temporary = "\(path).\(UInt64.random(in: .min ... .max)).unfinished"
        do throws(FileSystemError) {
            file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
            var earlier = stat()
            if stat(path, &earlier) == 0, earlier.st_mode & S_IFMT == S_IFREG {
                try file.setMode(earlier.st_mode & 0o777)
            }
        } catch {
            throw FileSystemError(path: path, reason: error.reason)
        }
    }

    deinit { if !isFinished { unlink(file.path) } }

    /// The descriptor, for a library that writes to it.
    var descriptor: Int32 { file.descriptor }

    /// Appends bytes.
    func write(_ bytes: [UInt8]) throws(FileSystemError) {
        do throws(FileSystemError) { try file.write(bytes) } catch {
            throw FileSystemError(path: path, reason: error.reason)
        }
    }

    /// Gives the file its name.
    ///
    /// - Parameter isDurable: whether the content is on disk when this function returns.
    func finish(isDurable: Bool = true) throws(FileSystemError) {
        do throws(FileSystemError) {
            if isDurable {
                try file.synchronize()
                guard try DiskFolder.place(file.path, at: path) else { throw .system(path) }
            } else {
                guard rename(file.path, path) == 0 else { throw .system(path) }
            }
            isFinished = true
        } catch {
            throw FileSystemError(path: path, reason: error.reason)
        }
    }
}
