import FoundationEssentials
import Glibc
import IndoorVocabulary

/// A download that is not whole yet: its bytes so far, and the tag of the file on the server that they are of.
///
/// A class, as it owns the file's lock. What is here after the process was killed is where the next one goes on.
final class PartialFile: Sendable {
    private let file: OpenFile
    private let isShared: Bool

    /// The path of the bytes.
    var path: String { file.path }
    private var tagPath: String { file.path + Self.tagEnding }

    private static let ending = ".part"
    private static let tagEnding = ".tag"

    /// The name of the tag's file beside that of the bytes.
    static func tagName(of name: String) -> String { name + tagEnding }

    /// The name of the bytes whose tag a file holds; nil for any other file.
    static func download(ofTag name: String) -> String? {
        name.hasSuffix(ending + tagEnding) ? String(name.dropLast(tagEnding.count)) : nil
    }

    /// The download of a file with that digest, where an earlier one ended; a new one if somebody else is at it.
    init(of digest: String, in work: WorkFolder) throws(VenueRepositoryError) {
        let file = try OpenFile(work.path + "/" + digest + Self.ending, O_RDWR | O_CREAT)
        isShared = file.lock() && file.isInPlace
        self.file = isShared ? file : try work.makeFile()
    }

    /// Where to go on: how many bytes are there, and of which file; nil if it begins anew.
    func start() throws(VenueRepositoryError) -> TransferRequest.Rest? {
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

    /// Bytes so far.
    func size() throws(VenueRepositoryError) -> Int { try file.size() }

    /// Begins anew with a file of that tag; without a strong one, nobody can go on after an end in the middle.
    func begin(_ tag: EntityTag?) throws(VenueRepositoryError) {
        // In this order: a kill in between must not leave bytes of one file beside the tag of another.
        try clear()
        guard let tag, tag.isStrong else { return }
        do {
            try Data(tag.text.utf8).write(to: URL(filePath: tagPath), options: .atomic)
        } catch {
            throw .storage(path: tagPath, reason: error.systemReason)
        }
    }

    /// Adds the next bytes.
    func append(_ bytes: UnsafeRawBufferPointer) throws(VenueRepositoryError) { try file.write(bytes) }

    private func clear() throws(VenueRepositoryError) {
        try file.truncate(to: 0)
        unlink(tagPath)
    }

    /// Removes the download; called when it is whole and used, or of no use.
    func remove() {
        unlink(tagPath)
        unlink(file.path)
    }

    deinit {
        // What cannot be resumed is of no use to anybody.
        if !isShared || access(tagPath, F_OK) != 0 { remove() }
    }

    /// The name of the unfinished download that was written to last; nil if there is none that can be resumed.
    static func newest(in folder: String) -> String? {
        let names = Set(DiskFolder.names(in: folder))
        let resumable = names.filter { $0.hasSuffix(ending) && names.contains(tagName(of: $0)) }
        return resumable.max { age(folder + "/" + $0) < age(folder + "/" + $1) }
    }

    /// When a file was modified, seconds and nanoseconds.
    private static func age(_ path: String) -> (Int, Int) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return (0, 0) }
        return (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
}
