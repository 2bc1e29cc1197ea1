import FoundationEssentials
import Glibc

/// The staging folder, in which files and folders are created before they are renamed to their place.
///
/// Each user locks its files there, so a file without a lock is the leftover of a killed process.
struct WorkFolder: Sendable {
    let path: String

    /// Creates an empty folder that other users don't remove as long as the lock exists.
    func makeFolder() throws(FileSystemError) -> OpenFile {
        try make(flags: O_RDONLY | O_DIRECTORY) { name throws(FileSystemError) in
            guard mkdir(name, 0o700) == 0 else { throw .system(path) }
        }
    }

    /// Creates an empty file that other users don't remove as long as the lock exists.
    ///
    /// - Parameter mode: the access permissions, of which the umask removes some.
    func makeFile(mode: mode_t = 0o600) throws(FileSystemError) -> OpenFile {
        try make(flags: O_RDWR) { name throws(FileSystemError) in
            let descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
            guard descriptor >= 0 else { throw .system(path) }
            close(descriptor)
        }
    }

    private func make(
        flags: Int32, _ create: (_ path: String) throws(FileSystemError) -> Void
    ) throws(FileSystemError) -> OpenFile {
        // Before it is locked, another process may remove the new file as a leftover.
        for _ in 0..<100 {
            let made = "\(path)/new-\(String(UInt64.random(in: .min ... .max), radix: 36))"
            try create(made)
            do throws(FileSystemError) {
                let file = try OpenFile(made, flags)
                if file.lock(), file.isInPlace { return file }
            } catch {
                // Only a missing file was removed.
                var status = stat()
                if lstat(made, &status) == 0 {
                    DiskFolder.remove(made)
                    throw error
                }
            }
        }
        throw FileSystemError(path: path, reason: "another process keeps removing new files")
    }

    /// Writes a file elsewhere on the same disk: readers find either the old or the new bytes.
    func write(_ bytes: [UInt8], to target: String) throws(FileSystemError) {
        let file = try makeFile()
        try file.write(bytes)
        try file.synchronize()
        try DiskFolder.place(file.path, at: target)
    }

    /// Moves a folder out of its place in one step, and then removes it.
    func discard(_ folder: String) throws(FileSystemError) {
        let discarded = try makeFolder()
        // A folder can be renamed onto an empty folder.
        try DiskFolder.place(folder, at: discarded.path)
        DiskFolder.remove(discarded.path)
    }

    /// Removes the leftovers of killed processes, except the newest unfinished download.
    func sweep() {
        let resumable = PartialFile.newest(in: path)
        let names = Set(DiskFolder.names(in: path))
        for name in names where name != resumable {
            // The tag's file has no lock of its own; it is removed with its download.
            if let download = PartialFile.download(ofTag: name), names.contains(download) { continue }
            guard let file = try? OpenFile(path + "/" + name, O_RDONLY), file.lock() else { continue }
            DiskFolder.remove(file.path)
            DiskFolder.remove(path + "/" + PartialFile.tagName(of: name))
        }
    }
}
