import FoundationEssentials
import Glibc
import IndoorVocabulary

/// An incomplete download: its bytes so far, and the entity tag of the file on the server.
///
/// A class because it owns the file's lock. A later process resumes the download that a killed process has left.
final class PartialFile: Sendable {
    private let file: OpenFile
    private let isShared: Bool

    /// The path of the downloaded bytes.
    var path: String { file.path }
    private var tagPath: String { file.path + Self.tagEnding }

    private static let ending = ".part"
    private static let tagEnding = ".tag"

    /// Returns the name of the tag's file for a download.
    static func tagName(of name: String) -> String { name + tagEnding }

    /// Returns the name of the download for a tag's file; nil for any other file.
    static func download(ofTag name: String) -> String? {
        name.hasSuffix(ending + tagEnding) ? String(name.dropLast(tagEnding.count)) : nil
    }

    /// Opens the incomplete download of a file with this digest, or a new one if another process uses it.
    init(of digest: String, in work: WorkFolder) throws(FileSystemError) {
        let file = try OpenFile(work.path + "/" + digest + Self.ending, O_RDWR | O_CREAT)
        isShared = file.lock() && file.isInPlace
        self.file = isShared ? file : try work.makeFile()
    }

    /// Returns the size and tag from which to resume; nil if the download begins from the start.
    func start() throws(FileSystemError) -> TransferRequest.Rest? {
        let size = try file.size()
        guard size > 0, let bytes = try? BoundedFile.read(tagPath, limit: InputLimits.standard.secret),
            let tag = EntityTag(String(decoding: bytes, as: UTF8.self)), tag.isStrong
        else {
            try clear()
            return nil
        }
        try file.truncate(to: size)
        return TransferRequest.Rest(offset: size, tag: tag)
    }

    /// Returns the number of bytes so far.
    func size() throws(FileSystemError) -> Int { try file.size() }

    /// Restarts the download for a file with this tag; without a strong tag, it cannot be resumed.
    func begin(_ tag: EntityTag?) throws(FileSystemError) {
        // The order matters: a process killed in between must not leave bytes of one file with the tag of another.
        try clear()
        guard let tag, tag.isStrong else { return }
        do {
            try Data(tag.text.utf8).write(to: URL(filePath: tagPath), options: .atomic)
        } catch {
            throw FileSystemError(path: tagPath, reason: error.systemReason)
        }
    }

    /// Appends bytes.
    func append(_ bytes: UnsafeRawBufferPointer) throws(FileSystemError) { try file.write(bytes) }

    private func clear() throws(FileSystemError) {
        try file.truncate(to: 0)
        unlink(tagPath)
    }

    /// Removes the download when it is used, or not usable.
    func remove() {
        unlink(tagPath)
        unlink(file.path)
    }

    /// Removes the download if it can't be resumed.
    func removeUnlessResumable() {
        if !isShared || access(tagPath, F_OK) != 0 { remove() }
    }

    deinit { removeUnlessResumable() }

    /// Returns the name of the resumable download that was modified last; nil if there is none.
    static func newest(in folder: String) -> String? {
        let names = Set(DiskFolder.names(in: folder))
        let resumable = names.filter { $0.hasSuffix(ending) && names.contains(tagName(of: $0)) }
        return resumable.max { age(folder + "/" + $0) < age(folder + "/" + $1) }
    }

    /// Returns the modification time of a file in seconds and nanoseconds.
    private static func age(_ path: String) -> (Int, Int) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return (0, 0) }
        return (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
}
