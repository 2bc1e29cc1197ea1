import FoundationEssentials
import Glibc
import IndoorVocabulary
import TextFormats
import VenueModel

/// A cache of packets on disk. Each version has its own folder, which other processes see either complete or not at
/// all.
///
///     catalogue.json            the server's latest catalogue
///     venues/7/3/stored.json    the cache's record of version 3 of venue 7
///     venues/7/3/packet/        the packet, unpacked
///     staging/                  files that are created, downloaded or removed
///
/// Any number of processes may share the cache. The users of a version share its lock, and removing a version requires
/// the exclusive lock. The modification time of a version's folder stores a counter that grows with each use instead of
/// a time, because clocks may be set back.
struct VenueCache: Sendable {
    /// The folder with the packet's files in a version's folder.
    static let packetFolder = "packet"
    private static let recordFile = "stored.json"

    /// The cache's folder.
    let path: String
    /// The largest total size of all versions in bytes; nil for no limit.
    let limit: Int?
    /// The reader of packets that are installed or returned.
    var reader = VenuePacketReader()

    var work: WorkFolder { WorkFolder(path: path + "/staging") }
    private var venuesFolder: String { path + "/venues" }

    private func folder(of id: VenueID) -> String { venuesFolder + "/\(id)" }
    private func folder(of id: VenueID, _ version: Int) -> String { folder(of: id) + "/\(version)" }

    /// Creates the folders, and removes what killed processes have left and what newer versions have replaced.
    func prepare() throws(FileSystemError) {
        try DiskFolder.create(venuesFolder)
        try DiskFolder.create(work.path)
        work.sweep()
        for id in venueIDs { removeReplaced(of: id) }
    }

    /// The venues that have a folder, in ascending order.
    var venueIDs: [VenueID] {
        DiskFolder.names(in: venuesFolder).compactMap(Int.init).sorted().map { VenueID(rawValue: $0) }
    }

    private func versions(of id: VenueID) -> [Int] {
        DiskFolder.names(in: folder(of: id)).compactMap(Int.init).sorted(by: >)
    }

    /// Returns the newest version of a venue; nil if there is none.
    func newest(of id: VenueID) -> StoredVersion? {
        // A version that disappears during the lookup was replaced by a newer one, so an older one isn't a fallback.
        for _ in 0..<100 {
            var wasReplaced = false
            for version in versions(of: id) {
                switch lookUp(id, version) {
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

    private enum Lookup {
        case stored(StoredVersion)
        /// The version has no readable record, because the disk failed.
        case broken
        /// Another user has just removed the version.
        case gone
    }

    private func lookUp(_ id: VenueID, _ version: Int) -> Lookup {
        let path = folder(of: id, version)
        guard let file = try? OpenFile(path, O_RDONLY | O_DIRECTORY) else {
            return DiskFolder.isFolder(path) ? .broken : .gone
        }
        // The exclusive lock is held only while a version is placed or removed, which doesn't take long.
        file.awaitSharedLock()
        guard file.isInPlace else { return .gone }
        guard
            let bytes = try? BoundedFile.read(
                file.path + "/" + Self.recordFile, limit: InputLimits.standard.venueFile),
            let record = StoredRecord(bytes), record.summary.id == id, record.summary.version == version
        else { return .broken }
        return .stored(StoredVersion(folder: file, record: record))
    }

    /// Records that a version was used now.
    func use(_ stored: StoredVersion) throws(FileSystemError) {
        try stored.folder.setModified(nextUse())
    }

    private func nextUse() -> Int { (allVersions().map(\.used).max() ?? 0) + 1 }

    /// Places a version unless another process has already placed it; older versions are removed.
    ///
    /// - Parameters:
    ///   - made: a locked folder in `staging` with the packet's files in `packet`.
    ///   - venue: the packet's venue, which the result keeps if `made` is the version that was placed.
    func place(_ made: OpenFile, _ record: StoredRecord, _ venue: Venue) throws(FileSystemError) -> StoredVersion {
        let (id, version) = (record.summary.id, record.summary.version)
        try work.write(record.tree.line(), to: made.path + "/" + Self.recordFile)
        try DiskFolder.synchronizeAll(made.path)
        try made.setModified(nextUse())
        try DiskFolder.create(folder(of: id))
        if try !DiskFolder.place(made.path, at: folder(of: id, version)), case .broken = lookUp(id, version) {
            try? remove(id, version)
            try DiskFolder.place(made.path, at: folder(of: id, version))
        }
        // The exclusive lock is kept until here: without a lock in `staging`, even for a moment, the folder would be
        // removed as a leftover. After the folder is placed, all users share its lock.
        made.awaitSharedLock()
        guard var stored = newest(of: id), stored.version >= version else {
            throw FileSystemError(path: folder(of: id, version), reason: "no longer exists; is the disk failing?")
        }
        // If another process has placed the folder, its files are parsed when the venue is returned.
        if stored.folder.isSameFile(as: made) { stored.installedVenue = venue }
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

    /// Removes a version unless it is in use.
    ///
    /// - Throws: `FileSystemError` if it is in use or cannot be removed.
    func remove(_ id: VenueID, _ version: Int) throws(FileSystemError) {
        let file = try OpenFile(folder(of: id, version), O_RDONLY | O_DIRECTORY)
        guard file.lock(), file.isInPlace else { throw FileSystemError(path: file.path, reason: "is in use") }
        try work.discard(file.path)
    }

    /// Removes unused versions that a newer one has replaced.
    func removeReplaced(of id: VenueID) {
        guard let newest = newest(of: id) else { return }
        for version in versions(of: id) where version < newest.version { try? remove(id, version) }
    }

    /// Removes unused versions, the least recently used first, until the total size is within the limit.
    func makeRoom(keeping kept: StoredVersion) {
        guard let limit else { return }
        let versions = allVersions().sorted { ($0.used, $0.id) < ($1.used, $1.id) }
        let sizes = versions.map { DiskFolder.size(folder(of: $0.id, $0.version)) }
        var total = sizes.reduce(0, +)
        for (usage, size) in zip(versions, sizes) where total > limit && usage.id != kept.id {
            // A version in use can't be removed, but the next one may be removable.
            if (try? remove(usage.id, usage.version)) != nil { total -= size }
        }
    }
}

extension VenueCache {
    /// The parts of a version.
    struct Parts {
        /// The path of the packet: a zip or a folder, which may lack the files below.
        var packet: String
        /// The paths of further files, by their path within the packet.
        var files: [String: String] = [:]
        /// The required venue.
        var id: VenueID
        /// The required version.
        var version: Int
        /// The name of the packet in errors.
        var source: String
        var packetPath: String?
        var tag: EntityTag?
        var digests: [String: String] = [:]
    }

    /// Checks a packet and stores it.
    ///
    /// - Throws: `.brokenPacket` with all problems, or `.storage`.
    func install(_ parts: Parts) throws(VenueRepositoryError) -> StoredVersion {
        let made = try VenueRepositoryError.storing(work.makeFolder)
        defer { DiskFolder.remove(made.path) }
        let packet = made.path + "/" + Self.packetFolder
        let document: VenuePacketReader.Document
        do throws(PacketFileError) {
            document = try unpack(parts, into: packet)
        } catch {
            throw error.storage.map(VenueRepositoryError.init) ?? .broken(parts.source, error.path, error.message)
        }
        try VenueRepositoryError.storing { () throws(FileSystemError) in try link(parts.files, into: packet) }
        let venue: Venue
        do throws(VenuePacketError) {
            venue = try VenuePacketReader.packet(document, inFolder: packet).venue
        } catch {
            throw .brokenPacket(source: parts.source, problems: error.problems)
        }
        guard venue.id == parts.id else {
            throw .broken(parts.source, "$.id", "is \(venue.id), not \(parts.id) as expected; publish it again")
        }
        guard venue.version == parts.version else {
            throw .broken(
                parts.source, "$.version", "is \(venue.version), not \(parts.version) as expected; publish it again")
        }
        let record = StoredRecord(
            summary: VenueSummary(of: venue), packetPath: parts.packetPath, tag: parts.tag, digests: parts.digests)
        return try VenueRepositoryError.storing { () throws(FileSystemError) in try place(made, record, venue) }
    }

    /// Unpacks or copies the document and the files that it refers to; other files are omitted.
    ///
    /// - Returns: the parsed document; the stored file consists of the bytes that were parsed.
    private func unpack(_ parts: Parts, into folder: String) throws(PacketFileError) -> VenuePacketReader.Document {
        let (storage, files) = try reader.open(parts.packet)
        let document = try reader.document(of: files)
        let names = document.parser.fileReferences.map(\.file)
        let wanted = Set(names.filter { files.contains($0) && parts.files[$0] == nil && $0 != PacketPath.venueFile })
        switch storage {
        case .zip(let path):
            try PacketArchive(path: path).unpack(wanted, into: folder, unpackedBefore: document.bytes.count)
        case .folder(let path):
            for name in wanted {
                let target = folder + "/" + name
                do throws(FileSystemError) {
                    try DiskFolder.create(DiskFolder.parent(of: target))
                    try DiskFile.copy(try OpenFile(name, below: path), to: target, mode: 0o600)
                } catch {
                    let reason = "cannot be copied: " + error.reason
                    throw PacketFileError(
                        message: "\(name) \(reason)", storage: FileSystemError(path: target, reason: reason))
                }
            }
        }
        do throws(FileSystemError) {
            try DiskFolder.create(folder)
            try DiskFile.replace(folder + "/" + PacketPath.venueFile, with: document.bytes, mode: 0o600)
        } catch {
            throw PacketFileError(message: "cannot be unpacked: \(error)", storage: error)
        }
        return document
    }

    /// Links files into a folder. Existing files are replaced, except the document, which is already checked.
    private func link(_ files: [String: String], into folder: String) throws(FileSystemError) {
        for (name, path) in files where name != PacketPath.venueFile {
            let target = folder + "/" + name
            try DiskFolder.create(DiskFolder.parent(of: target))
            // A link replaces only the name: the file in an older version stays unchanged.
            unlink(target)
            guard Glibc.link(path, target) == 0 else { throw .system(path) }
        }
    }
}

/// The record that the cache stores with a packet.
struct StoredRecord: Hashable, Sendable {
    /// The data by which a session recognizes the venue.
    var summary: VenueSummary
    /// The path of the packet's zip on the server; nil for a bundled packet.
    var packetPath: String?
    /// The entity tag of that zip.
    var tag: EntityTag?
    /// The digests of the files that were not in the zip, by their path within the packet.
    var digests: [String: String] = [:]

    /// The record as a document.
    var tree: JSONTree {
        var fields = CatalogueDocument.fields(summary)
        fields["packet"] = packetPath.map(JSONTree.string)
        fields["tag"] = tag.map { .string($0.text) }
        fields["digests"] = .object(digests.mapValues(JSONTree.string))
        return .object(fields)
    }

    init(summary: VenueSummary, packetPath: String? = nil, tag: EntityTag? = nil, digests: [String: String] = [:]) {
        self.summary = summary
        self.packetPath = packetPath
        self.tag = tag
        self.digests = digests
    }

    /// Parses a record; nil for any other document.
    init?(_ bytes: [UInt8]) {
        guard let document = try? JSONTree(bytes), case .object(let fields) = document else { return nil }
        var parser = VenueParser()
        let object = JSONObject(fields: fields, path: "$")
        let id = parser.integer("id", of: object, .identifier)
        guard let summary = parser.summary(of: object, id: id), parser.problems.isEmpty else { return nil }
        self.summary = summary
        if case .string(let path)? = object["packet"] { packetPath = path }
        if case .string(let text)? = object["tag"] { tag = EntityTag(text) }
        guard case .object(let digests)? = object["digests"] else { return }
        for (name, digest) in digests {
            if case .string(let text) = digest { self.digests[name] = text }
        }
    }
}

/// A packet in the cache, which isn't removed during the lifetime of this value.
struct StoredVersion: Sendable {
    /// The locked folder.
    let folder: OpenFile
    let record: StoredRecord
    /// The venue that was parsed when this packet was installed; nil if the packet was already stored.
    var installedVenue: Venue?

    var id: VenueID { record.summary.id }
    var version: Int { record.summary.version }
    /// The folder with the packet's files.
    var packetPath: String { folder.path + "/" + VenueCache.packetFolder }

    /// Returns the venue with paths of files that can be opened; a venue that was just installed isn't parsed again.
    ///
    /// - Throws: `.brokenPacket` if files were changed or removed.
    func venue(_ reader: VenuePacketReader) throws(VenueRepositoryError) -> Venue {
        do throws(VenuePacketError) {
            guard let installedVenue else { return try reader.read(packetPath).localVenue() }
            return try VenuePacket(venue: installedVenue, storage: .folder(packetPath), warnings: []).localVenue()
        } catch {
            throw .brokenPacket(source: packetPath, problems: error.problems)
        }
    }
}

/// The server's latest catalogue in the cache, for a start without a network.
struct CachedCatalogue {
    /// The URL of its server.
    var server: String
    /// The catalogue's entity tag.
    var tag: EntityTag?
    /// The catalogue's document.
    var document: JSONTree

    private static let format = "indoor-localization-cached-catalogue"

    /// Loads the catalogue of a server; nil if the cache doesn't have it.
    init?(of server: VenueServer, in cache: VenueCache) {
        guard let bytes = try? BoundedFile.read(Self.path(in: cache), limit: 2 * CatalogueDocument.limit),
            let tree = try? JSONTree(bytes), case .object(let fields) = tree,
            fields["format"] == .string(Self.format), fields["server"] == .string(server.url),
            let document = fields["catalogue"]
        else { return nil }
        self.server = server.url
        self.document = document
        if case .string(let text)? = fields["tag"] { tag = EntityTag(text) }
    }

    init(server: String, tag: EntityTag?, document: JSONTree) {
        self.server = server
        self.tag = tag
        self.document = document
    }

    private static func path(in cache: VenueCache) -> String { cache.path + "/" + VenueServer.catalogueFile }

    /// Stores the catalogue and replaces an earlier one.
    func store(in cache: VenueCache) throws(FileSystemError) {
        var fields: [String: JSONTree] = [
            "format": .string(Self.format), "server": .string(server), "catalogue": document,
        ]
        fields["tag"] = tag.map { .string($0.text) }
        try cache.work.write(JSONTree.object(fields).line(), to: Self.path(in: cache))
    }
}

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
        do throws(FileSystemError) {
            try file.write(bytes)
            try file.synchronize()
            try DiskFolder.place(file.path, at: target)
        } catch {
            unlink(file.path)
            throw error
        }
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
        for name in DiskFolder.names(in: path) where name != resumable {
            if let file = try? OpenFile(path + "/" + name, O_RDONLY) { remove(leftover: file) }
        }
    }

    /// Removes a file or folder that nobody uses, unless another one has taken its path since it was opened.
    func remove(leftover file: OpenFile) {
        guard file.lock(), file.isInPlace else { return }
        // A download doesn't lock its tag's file, which is removed together with the download.
        if let download = PartialFile.download(ofTag: file.path), access(download, F_OK) == 0 { return }
        // The tag first: as soon as the download is gone, the next one of the same file may have a tag.
        DiskFolder.remove(PartialFile.tagName(of: file.path))
        DiskFolder.remove(file.path)
    }
}
