import FoundationEssentials
import Glibc

/// The folder beside the venues in which things are made, before they get their place with one renaming.
///
/// What is in use there is locked by its user. So what nobody has locked was left by a process that was killed.
struct WorkFolder: Sendable {
    let path: String

    /// A new empty folder that nobody else removes for as long as the lock lives.
    func makeFolder() throws(FileSystemError) -> OpenFile {
        try make { template throws(FileSystemError) in
            guard let made = mkdtemp(template) else { throw .system(path) }
            return (String(cString: made), O_RDONLY | O_DIRECTORY)
        }
    }

    /// A new empty file that nobody else removes for as long as the lock lives.
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
        // Between making and locking, somebody who sweeps may take it for a leftover.
        for _ in 0..<100 {
            var template = Array((path + "/new-XXXXXX").utf8CString)
            var made: (path: String, flags: Int32) = ("", 0)
            try template.withUnsafeMutableBufferPointer { buffer throws(FileSystemError) in
                guard let base = buffer.baseAddress else { return }
                made = try create(base)
            }
            guard let file = try? OpenFile(made.path, made.flags) else { continue }
            if file.lock(), file.isInPlace { return file }
        }
        throw FileSystemError(path: path, reason: "somebody keeps removing what is made there")
    }

    /// Writes a file elsewhere on the same disk: whoever reads it finds the old bytes or the new ones.
    func write(_ bytes: [UInt8], to target: String) throws(FileSystemError) {
        let file = try makeFile()
        try file.write(bytes)
        try file.synchronize()
        try DiskFolder.place(file.path, at: target)
    }

    /// Takes a folder from its place at once, and then removes it.
    func discard(_ folder: String) throws(FileSystemError) {
        let grave = try makeFolder()
        // An empty folder gives its name to another one.
        try DiskFolder.place(folder, at: grave.path)
        DiskFolder.remove(grave.path)
    }

    /// Removes what killed processes left, but the newest unfinished download.
    func sweep() {
        let resumable = PartialFile.newest(in: path)
        let names = Set(DiskFolder.names(in: path))
        for name in names where name != resumable {
            // The tag of a download goes with it: it has no lock of its own.
            if let download = PartialFile.download(ofTag: name), names.contains(download) { continue }
            guard let file = try? OpenFile(path + "/" + name, O_RDONLY), file.lock() else { continue }
            DiskFolder.remove(file.path)
            DiskFolder.remove(path + "/" + PartialFile.tagName(of: name))
        }
    }
}
