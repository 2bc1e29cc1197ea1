import FoundationEssentials
import Glibc

/// The staging folder, in which files and folders are created before they are renamed to their place.
///
/// Each user locks its files there, so a file without a lock is the leftover of a killed process.
struct WorkFolder: Sendable {
    let path: String

    /// Creates an empty folder that other users don't remove as long as the lock exists.
    func makeFolder() throws(FileSystemError) -> OpenFile {
        try make { template throws(FileSystemError) in
            guard let made = mkdtemp(template) else { throw .system(path) }
            return (String(cString: made), O_RDONLY | O_DIRECTORY)
        }
    }

    /// Creates an empty file that other users don't remove as long as the lock exists.
    func makeFile() throws(FileSystemError) -> OpenFile {
        try make { template throws(FileSystemError) in
            let descriptor = mkstemp(template)
            guard descriptor >= 0 else { throw .system(path) }
            close(descriptor)
            return (String(cString: template), O_RDWR)
        }
    }

    private func make(
        _ create: (UnsafeMutablePointer<CChar>) throws(FileSystemError) -> (path: String, flags: Int32)
    ) throws(FileSystemError) -> OpenFile {
        // Before it is locked, another process may remove the new file as a leftover.
        for _ in 0..<100 {
            var template = Array((path + "/new-XXXXXX").utf8CString)
            var made: (path: String, flags: Int32) = ("", 0)
            try template.withUnsafeMutableBufferPointer { buffer throws(FileSystemError) in
                guard let base = buffer.baseAddress else { return }
                made = try create(base)
            }
            do throws(FileSystemError) {
                let file = try OpenFile(made.path, made.flags)
                if file.lock(), file.isInPlace { return file }
            } catch {
                // Only a missing file was removed.
                var status = stat()
                if lstat(made.path, &status) == 0 {
                    DiskFolder.remove(made.path)
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

    /// Moves a folder out of its place at once, and then removes it.
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
