import Glibc

/// Operations on files that other processes see either completed or not at all.
package enum DiskFile {
    /// The access permissions of a file that describes a building, and not where somebody was: as the umask says.
    package static let openMode: mode_t = 0o666

    /// Creates a file, or replaces one, which keeps its access permissions. The content is on disk when this function
    /// returns.
    ///
    /// - Parameter mode: the access permissions of a new file, of which the umask removes some.
    /// - Throws: `FileSystemError`; then an earlier file stays.
    package static func replace(_ path: String, with bytes: [UInt8], mode: mode_t = openMode) throws(FileSystemError) {
        let temporary = "\(path).\(UInt64.random(in: .min ... .max)).unfinished"
        do throws(FileSystemError) {
            let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
            var earlier = stat()
            if stat(path, &earlier) == 0 { try file.setMode(earlier.st_mode & 0o777) }
            try file.write(bytes)
            try file.synchronize()
            guard try DiskFolder.place(temporary, at: path) else { throw .system(path) }
        } catch {
            unlink(temporary)
            throw FileSystemError(path: path, reason: error.reason)
        }
    }
}
