import FoundationEssentials
import Glibc
import IndoorVocabulary
import VenueModel

/// Writes the folder that a venue server serves: packets, their plan images and tiles, and the catalogue.
///
///     catalogue.json                 what the server has; written last, in place of the old one
///     venues/7/3-1f8ac10f23c5.zip    the packet of version 3 of venue 7, with the digits its digest begins with
///     files/9b74c9897bac.png         a plan image or tile zip, by its digest
///
/// But for the catalogue, no file ever changes: a client in the middle of a download is not disturbed, and caches may keep
/// them for ever. Files that no catalogue names any more are left where they are; packets that none can have named, as a
/// process that was killed before it wrote the catalogue leaves them, are removed.
public struct VenuePublisher: Sendable {
    /// What became of a packet.
    public enum Change: String, Hashable, Sendable {
        /// The catalogue did not have the venue.
        case added
        /// The catalogue had an older version.
        case updated
        /// The catalogue had the same version, with the same content.
        case unchanged
    }

    private let folder: String
    private var work: WorkFolder { WorkFolder(path: folder + "/.publishing") }
    private var cataloguePath: String { folder + "/" + CatalogueDocument.fileName }

    /// Creates a publisher for a server's folder, which is created if need be.
    public init(folder: String) { self.folder = LocalPath.absolute(folder) }

    /// Adds packets to the folder, or newer versions of those that are there; none if one of them cannot be used.
    ///
    /// - Parameter packets: paths of packets, folders or zips.
    /// - Returns: each venue's summary, and what became of it, in the order of the packets.
    /// - Throws: `.brokenPacket` with all problems of a packet, or with one at `$.version` if it is not newer than a
    ///   different one that is published; `.brokenCatalogue` or `.storage` if the folder cannot be used.
    public func publish(
        _ packets: [String]
    ) throws(VenueRepositoryError) -> [(venue: VenueSummary, change: Change)] {
        var read: [VenuePacket] = []
        for path in packets {
            do throws(VenuePacketError) { read.append(try VenuePacketReader().read(path)) } catch {
                throw .brokenPacket(source: path, problems: error.problems)
            }
        }
        return try alone { () throws(VenueRepositoryError) in
            var entries = try publishedEntries()
            sweep(entries)
            var changes: [(venue: VenueSummary, change: Change)] = []
            var prepared: [PreparedPacket] = []
            for (path, packet) in zip(packets, read) {
                let new = try prepare(packet)
                let entry = new.entry
                changes.append((entry.summary, try change(from: entries[entry.summary.id], to: entry, path)))
                entries[entry.summary.id] = entry
                prepared.append(new)
            }
            // All of them can be used: only now does what is served change.
            for packet in prepared where entries[packet.entry.summary.id] == packet.entry { try place(packet) }
            if changes.contains(where: { $0.change != .unchanged }) || access(cataloguePath, F_OK) != 0 {
                try writeCatalogue(Array(entries.values))
            }
            return changes
        }
    }

    /// Takes venues out of the catalogue; their files stay for who is downloading them.
    ///
    /// Devices that have stored such a venue keep it.
    /// - Throws: `.brokenCatalogue` or `.storage` if the folder cannot be used, or if its catalogue does not have one of
    ///   them; then it keeps all.
    public func withdraw(_ ids: [VenueID]) throws(VenueRepositoryError) {
        guard access(cataloguePath, F_OK) == 0 else { throw .system(cataloguePath) }
        try alone { () throws(VenueRepositoryError) in
            var entries = try publishedEntries()
            for id in Set(ids).sorted() {
                guard entries.removeValue(forKey: id) != nil else {
                    throw .storage(path: cataloguePath, reason: "has no venue \(id); nothing was withdrawn")
                }
            }
            if !ids.isEmpty { try writeCatalogue(Array(entries.values)) }
        }
    }

    /// Runs the body while nobody else publishes in the folder.
    private func alone<Success>(
        _ body: () throws(VenueRepositoryError) -> Success
    ) throws(VenueRepositoryError) -> Success {
        try DiskFolder.create(folder)
        let lock = try OpenFile(folder, O_RDONLY | O_DIRECTORY)
        guard lock.lock() else {
            throw .storage(path: folder, reason: "somebody else is publishing there; try again later")
        }
        return try withExtendedLifetime(lock) { () throws(VenueRepositoryError) in
            // What a process that was killed has left is of no use.
            DiskFolder.remove(work.path)
            try DiskFolder.create(work.path)
            defer { DiskFolder.remove(work.path) }
            return try body()
        }
    }

    /// Removes packets that no catalogue can have named: a published version has one content, and none is newer.
    private func sweep(_ entries: [VenueID: CatalogueEntry]) {
        for entry in entries.values {
            let subfolder = Self.folder(of: entry.summary.id)
            for name in DiskFolder.names(in: folder + "/" + subfolder) {
                let parts = name.split(separator: "-", omittingEmptySubsequences: false)
                guard parts.count == 2, let version = Int(parts[0]), version >= entry.summary.version,
                    parts[1].count == 16, parts[1].hasSuffix(".zip"), subfolder + "/" + name != entry.packet.path
                else { continue }
                DiskFolder.remove(folder + "/" + subfolder + "/" + name)
            }
        }
    }

    private func publishedEntries() throws(VenueRepositoryError) -> [VenueID: CatalogueEntry] {
        guard access(cataloguePath, F_OK) == 0 else { return [:] }
        var parser = VenueParser()
        do throws(PacketFileError) {
            let bytes = try PacketFolder(path: folder).read(CatalogueDocument.fileName, limit: CatalogueDocument.limit)
            do throws(JSONSyntaxError) {
                if let content = parser.catalogue(try JSONTree(bytes)), parser.problems.isEmpty {
                    return content.entries
                }
            } catch {
                parser.report(.error, "$", error.message)
            }
        } catch {
            parser.report(.error, "$", error.message)
        }
        throw .brokenCatalogue(url: cataloguePath, problems: parser.problems)
    }

    private func change(
        from old: CatalogueEntry?, to new: CatalogueEntry, _ path: String
    ) throws(VenueRepositoryError) -> Change {
        guard let old else { return .added }
        if new.summary.version > old.summary.version { return .updated }
        if new.summary.version == old.summary.version, new.packet.digest == old.packet.digest, new.files == old.files {
            return .unchanged
        }
        throw .broken(
            path, "$.version",
            "is \(new.summary.version), but version \(old.summary.version) with other content is published; raise it")
    }

    private func writeCatalogue(_ entries: [CatalogueEntry]) throws(VenueRepositoryError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let bytes: [UInt8]
        do { bytes = [UInt8](try encoder.encode(CatalogueDocument.tree(entries))) + [10] } catch {
            throw .storage(path: cataloguePath, reason: "\(error)")
        }
        let file = try work.makeFile()
        try file.write(bytes)
        try file.setMode(0o644)
        // Servers make a file's tag of its size and the second in which it was written: two catalogues of one second would
        // have one tag, and clients would keep the first.
        let old = try? OpenFile(cataloguePath, O_RDONLY).modified()
        try file.setModified(max(try file.modified(), (old ?? 0) + 1))
        try file.synchronize()
        try DiskFolder.place(file.path, at: cataloguePath)
    }
}

/// A packet that can be published.
private struct PreparedPacket {
    /// What the catalogue is to say of it.
    var entry: CatalogueEntry
    /// Where its files are now.
    var sources: [(file: PublishedFile, path: String)]
}

// The files of one packet.
extension VenuePublisher {
    /// Where the packets of a venue are, below the server's folder.
    private static func folder(of id: VenueID) -> String { "venues/\(id)" }

    /// Makes a packet's files without putting them where they are served.
    private func prepare(_ packet: VenuePacket) throws(VenueRepositoryError) -> PreparedPacket {
        let made = try work.makeFolder().path
        let venue = packet.venue
        let apart = Set(venue.maps.flatMap { [$0.imagePath, $0.tilesPath] }.compactMap(\.self))
        let names = [VenuePacketReader.venueFile, packet.radioMapPath].compactMap(\.self)
        let source: String
        do throws(PacketFileError) {
            switch packet.storage {
            case .folder(let path): source = path
            case .zip(let path):
                source = made + "/packet"
                try PacketArchive(path: path).unpack(apart.union(names), into: source)
            }
            let zip = try ZipWriter(path: made + "/packet.zip")
            for name in names.sorted() where !apart.contains(name) {
                try zip.add(
                    name, bytes: try PacketFolder(path: source).read(name, limit: InputLimits.standard.radioMap))
            }
            try zip.finish()
        } catch {
            throw error.storage ?? .broken(origin(of: packet), error.path, error.message)
        }
        var sources: [(file: PublishedFile, path: String)] = []
        var files: [String: PublishedFile] = [:]
        for name in apart.sorted() {
            let path = source + "/" + name
            let file = try described(path, in: "files") { "\($0.prefix(32))\(Self.ending(of: name))" }
            files[name] = file
            sources.append((file, path))
        }
        let zip = try described(made + "/packet.zip", in: Self.folder(of: venue.id)) { digest in
            "\(venue.version)-\(digest.prefix(12)).zip"
        }
        sources.append((zip, made + "/packet.zip"))
        let entry = CatalogueEntry(summary: VenueSummary(of: venue), packet: zip, files: files)
        return PreparedPacket(entry: entry, sources: sources)
    }

    private func origin(of packet: VenuePacket) -> String {
        switch packet.storage {
        case .folder(let path), .zip(let path): path
        }
    }

    /// What the catalogue is to say of a file, whose digest names its place.
    private func described(
        _ source: String, in subfolder: String, name: (_ digest: String) -> String
    ) throws(VenueRepositoryError) -> PublishedFile {
        let digest = try FileDigest.sha256(of: source)
        let size = try OpenFile(source, O_RDONLY).size()
        return PublishedFile(path: subfolder + "/" + name(digest), size: size, digest: digest)
    }

    /// Copies a packet's files to their places; files that are there are left alone.
    private func place(_ packet: PreparedPacket) throws(VenueRepositoryError) {
        for (published, source) in packet.sources {
            let target = folder + "/" + published.path
            if let there = try? FileDigest.sha256(of: target), there == published.digest { continue }
            try DiskFolder.create(DiskFolder.parent(of: target))
            let file = try OpenFile(source, O_RDONLY)
            let copy = try work.makeFile()
            while let bytes = try file.read() { try copy.write(bytes) }
            try copy.setMode(0o644)
            try copy.synchronize()
            try DiskFolder.place(copy.path, at: target)
        }
    }

    /// The ending of a file's name, by which a server tells what the file is; empty if it is none of the usual.
    private static func ending(of name: String) -> String {
        guard let dot = name.lastIndex(of: "."), !name[dot...].contains("/") else { return "" }
        let ending = name[dot...].lowercased()
        let isPlain = ending.dropFirst().utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        return isPlain && (2...6).contains(ending.count) ? ending : ""
    }
}
