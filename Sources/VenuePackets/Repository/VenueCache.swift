import FoundationEssentials
import Glibc
import IndoorVocabulary
import VenueModel

/// Packets on disk, each version in a folder of its own, which appears whole and disappears at once.
///
///     catalogue.json            the server's latest catalogue
///     venues/7/3/stored.json    what the cache knows of version 3 of venue 7
///     venues/7/3/packet/        the packet, unpacked
///     staging/                  what is being made, downloaded or removed
///
/// Any number of processes may share it. A version in use is locked by its users, who share the lock; whoever removes it
/// wants it alone. When a version was last used stands in its folder's time of modification: not a time but a number
/// that grows with each use, as clocks are set back.
struct VenueCache: Sendable {
    /// The folder with the packet's files within a version's folder.
    static let packetFolder = "packet"
    private static let recordFile = "stored.json"

    /// The cache's folder.
    let path: String
    /// Bytes that all versions together may have; nil for any number.
    let limit: Int?

    var work: WorkFolder { WorkFolder(path: path + "/staging") }
    private var venuesFolder: String { path + "/venues" }

    private func folder(of id: VenueID) -> String { venuesFolder + "/\(id)" }
    private func folder(of id: VenueID, _ version: Int) -> String { folder(of: id) + "/\(version)" }

    /// Makes the folders, and removes what killed processes left and what newer versions have replaced.
    func prepare() throws(VenueRepositoryError) {
        try DiskFolder.create(venuesFolder)
        try DiskFolder.create(work.path)
        work.sweep()
        for id in venueIDs { removeReplaced(of: id) }
    }

    /// The venues of which there is something, in ascending order.
    var venueIDs: [VenueID] {
        DiskFolder.names(in: venuesFolder).compactMap(Int.init).sorted().map { VenueID(rawValue: $0) }
    }

    private func versions(of id: VenueID) -> [Int] {
        DiskFolder.names(in: folder(of: id)).compactMap(Int.init).sorted(by: >)
    }

    /// The newest version of a venue; nil if there is none.
    func newest(of id: VenueID) -> StoredVersion? {
        // One that disappears while it is looked at was replaced: the older one beside it is not what to fall back to.
        for _ in 0..<100 {
            var wasReplaced = false
            for version in versions(of: id) {
                switch look(id, version) {
                case .stored(let stored): return stored
                case .broken: continue
                case .gone: wasReplaced = true
                }
                break
            }
            if !wasReplaced { return nil }
        }
        return nil
    }

    private enum Look {
        case stored(StoredVersion)
        /// Without a record that can be read: a disk that failed has left it.
        case broken
        /// Somebody has removed it just now.
        case gone
    }

    private func look(_ id: VenueID, _ version: Int) -> Look {
        let path = folder(of: id, version)
        guard let file = try? OpenFile(path, O_RDONLY | O_DIRECTORY) else {
            return DiskFolder.isFolder(path) ? .broken : .gone
        }
        // Who has it alone puts it in its place or removes it, neither of which takes long.
        file.awaitSharedLock()
        guard file.isInPlace else { return .gone }
        guard
            let bytes = try? BoundedFile.read(
                file.path + "/" + Self.recordFile, limit: InputLimits.standard.venueFile),
            let record = StoredRecord(bytes), record.summary.id == id, record.summary.version == version
        else { return .broken }
        return .stored(StoredVersion(folder: file, record: record))
    }

    /// Notes that a version was used now.
    func use(_ stored: StoredVersion) throws(VenueRepositoryError) {
        try stored.folder.setModified(nextUse())
    }

    private func nextUse() -> Int { (allVersions().map(\.used).max() ?? 0) + 1 }

    /// Puts a version in its place, unless somebody else has put it there already; older ones are removed.
    ///
    /// - Parameter made: a locked folder in `staging` with the packet's files in `packet`.
    func place(_ made: OpenFile, _ record: StoredRecord) throws(VenueRepositoryError) -> StoredVersion {
        let (id, version) = (record.summary.id, record.summary.version)
        let bytes: [UInt8]
        do { bytes = [UInt8](try JSONEncoder().encode(record.tree)) } catch {
            throw .storage(path: made.path, reason: "the venue's regions cannot be written: \(error)")
        }
        try work.write(bytes, to: made.path + "/" + Self.recordFile)
        try DiskFolder.synchronizeAll(made.path)
        try made.setModified(nextUse())
        try DiskFolder.create(folder(of: id))
        if try !DiskFolder.place(made.path, at: folder(of: id, version)), case .broken = look(id, version) {
            try? remove(id, version)
            try DiskFolder.place(made.path, at: folder(of: id, version))
        }
        // Not before: those who sweep would take what is locked by nobody for a moment. In its place it is for everybody.
        made.awaitSharedLock()
        guard let stored = newest(of: id), stored.version >= version else {
            throw .storage(path: folder(of: id, version), reason: "is not there any more; is the disk failing?")
        }
        removeReplaced(of: id)
        makeRoom(keeping: stored)
        return stored
    }

    private struct Usage {
        var id: VenueID
        var version: Int
        var used: Int
    }

    private func allVersions() -> [Usage] {
        venueIDs.flatMap { id in
            versions(of: id).compactMap { version in
                let used = try? OpenFile(folder(of: id, version), O_RDONLY | O_DIRECTORY).modified()
                return used.map { Usage(id: id, version: version, used: $0) }
            }
        }
    }

    /// Removes a version unless somebody uses it.
    ///
    /// - Throws: `.storage` if it is used or cannot be removed.
    func remove(_ id: VenueID, _ version: Int) throws(VenueRepositoryError) {
        let file = try OpenFile(folder(of: id, version), O_RDONLY | O_DIRECTORY)
        guard file.lock(), file.isInPlace else { throw .storage(path: file.path, reason: "is in use") }
        try work.discard(file.path)
    }

    /// Removes versions that a newer one has replaced and that nobody uses.
    func removeReplaced(of id: VenueID) {
        guard let newest = newest(of: id) else { return }
        for version in versions(of: id) where version < newest.version { try? remove(id, version) }
    }

    /// Removes versions that nobody uses, the one that was not used for longest first, until the rest fits.
    func makeRoom(keeping kept: StoredVersion) {
        guard let limit else { return }
        let versions = allVersions().sorted { ($0.used, $0.id) < ($1.used, $1.id) }
        let sizes = versions.map { DiskFolder.size(folder(of: $0.id, $0.version)) }
        var total = sizes.reduce(0, +)
        for (usage, size) in zip(versions, sizes) where total > limit && usage.id != kept.id {
            // In use, it stays; the next one may do.
            if (try? remove(usage.id, usage.version)) != nil { total -= size }
        }
    }
}
