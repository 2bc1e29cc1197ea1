import FoundationEssentials
import Glibc
import IndoorVocabulary
import TextFormats
import VenueModel

/// Writes the folder that a venue server serves: packets, their images and tiles, and the catalogue.
///
///     catalogue.json                 the server's venues; written last, replaces the old one
///     venues/7/3-1f8ac10f23c5.zip    the packet of version 3 of venue 7, with the first digits of its digest
///     files/9b74c9897bac.png         a plan image, a tile zip or an image of an interaction, named by its digest
///
/// Except for the catalogue, files never change: downloads in progress aren't disturbed, and caches may keep files
/// forever. Files that are no longer in the catalogue are kept. Packets that were never in a catalogue, because a
/// process was killed before it wrote the catalogue, are removed.
public struct VenuePublisher: Sendable {
    /// The change of a venue in the catalogue.
    public enum Change: String, Hashable, Sendable {
        /// The venue was added.
        case added
        /// A newer version replaced an older one.
        case updated
        /// The catalogue already had this version with the same content.
        case unchanged
    }

    private let folder: String
    private var work: WorkFolder { WorkFolder(path: folder + "/.publishing") }
    private var cataloguePath: String { folder + "/" + VenueServer.catalogueFile }

    /// Creates a publisher for a server's folder, which is created if it is missing.
    public init(folder: String) { self.folder = LocalPath.absolute(folder) }

    /// Adds packets or newer versions to the folder; if one of them cannot be used, none is added.
    ///
    /// - Parameter packets: the paths of packets, folders or zips.
    /// - Returns: each venue's summary and its change, in the order of the packets.
    /// - Throws: `.brokenPacket` with all problems of a packet, with a problem at `$.version` if the packet differs
    ///   from the published one without a higher version, or with a problem at `$.id` if another venue is published
    ///   under its id; `.brokenCatalogue` or `.storage` if the folder cannot be used.
    public func publish(
        _ packets: [String]
    ) throws(VenueRepositoryError) -> [(venue: VenueSummary, change: Change)] {
        var read: [VenuePacket] = []
        for path in packets {
            do throws(VenuePacketError) { read.append(try VenuePacketReader().read(path)) } catch {
                throw .brokenPacket(source: path, problems: error.problems)
            }
        }
        return try withExclusiveAccess { () throws(VenueRepositoryError) in
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
            // The served files change only after all packets have been checked.
            var placed = PlacedFiles()
            let earlier = try? FileDigest.sha256(of: cataloguePath)
            do throws(FileSystemError) {
                for packet in prepared where entries[packet.entry.summary.id] == packet.entry {
                    try place(packet, noting: &placed)
                }
                if changes.contains(where: { $0.change != .unchanged }) || access(cataloguePath, F_OK) != 0 {
                    try writeCatalogue(Array(entries.values))
                }
            } catch {
                // If the new catalogue is already in place, although perhaps not on disk yet, it names the files, so
                // they must stay.
                if (try? FileDigest.sha256(of: cataloguePath)) == earlier { placed.remove() }
                throw VenueRepositoryError(error)
            }
            return changes
        }
    }

    /// Removes venues from the catalogue; their files are kept for downloads in progress.
    ///
    /// Devices that have stored such a venue keep it.
    /// - Throws: `.brokenCatalogue` or `.storage` if the folder cannot be used, or if a venue is not in its catalogue;
    ///   then no venue is removed.
    public func withdraw(_ ids: [VenueID]) throws(VenueRepositoryError) {
        guard access(cataloguePath, F_OK) == 0 else { throw VenueRepositoryError(.system(cataloguePath)) }
        try withExclusiveAccess { () throws(VenueRepositoryError) in
            var entries = try publishedEntries()
            for id in Set(ids).sorted() {
                guard entries.removeValue(forKey: id) != nil else {
                    throw .storage(path: cataloguePath, reason: "has no venue \(id); nothing was withdrawn")
                }
            }
            guard !ids.isEmpty else { return }
            try VenueRepositoryError.storing { () throws(FileSystemError) in
                try writeCatalogue(Array(entries.values))
            }
        }
    }

    /// Returns the summaries of all venues in the folder's catalogue, in ascending order.
    ///
    /// - Throws: `.brokenCatalogue` if the catalogue cannot be used.
    package func summaries() throws(VenueRepositoryError) -> [VenueSummary] {
        try publishedEntries().values.map(\.summary).sorted { $0.id < $1.id }
    }

    /// Runs the body with exclusive access to the folder.
    private func withExclusiveAccess<Success>(
        _ body: () throws(VenueRepositoryError) -> Success
    ) throws(VenueRepositoryError) -> Success {
        let missing = DiskFolder.missing(folder)
        let lock = try VenueRepositoryError.storing { () throws(FileSystemError) in
            do throws(FileSystemError) { return try lockedFolder() } catch {
                DiskFolder.removeEmpty(missing)
                throw error
            }
        }
        guard let lock else {
            throw .storage(path: folder, reason: "another process is publishing there; try again later")
        }
        return try withExtendedLifetime(lock) { () throws(VenueRepositoryError) in
            // Removes the folder after an error, if it was created here and is empty.
            var isDone = false
            defer { if !isDone { DiskFolder.removeEmpty(missing) } }
            // Removes the leftovers of a killed process.
            DiskFolder.remove(work.path)
            try VenueRepositoryError.storing { () throws(FileSystemError) in
                try DiskFolder.create(work.path, mode: DiskFolder.openMode)
            }
            defer { DiskFolder.remove(work.path) }
            let result = try body()
            isDone = true
            return result
        }
    }

    /// Creates the folder if it is missing, and locks it; returns nil if another process has locked it.
    private func lockedFolder() throws(FileSystemError) -> OpenFile? {
        while true {
            try DiskFolder.create(folder, mode: DiskFolder.openMode)
            let lock = try OpenFile(folder, O_RDONLY | O_DIRECTORY)
            guard lock.lock() else { return nil }
            // Another process may have removed the folder after an error since it was opened.
            try DiskFolder.create(folder, mode: DiskFolder.openMode)
            if try OpenFile(folder, O_RDONLY | O_DIRECTORY).isSameFile(as: lock) { return lock }
        }
    }

    /// Removes packets that were never in a catalogue: those that are newer than the published version, and those with
    /// the same version but other content.
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
            let bytes = try PacketFolder(path: folder).read(VenueServer.catalogueFile, limit: CatalogueDocument.limit)
            do throws(JSONDocumentError) {
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
        if let distance = old.summary.distance(ofOtherVenue: new.summary) {
            let id = new.summary.id
            throw .broken(
                path, "$.id",
                "is \(id), but \"\(old.summary.name)\" is published under this id, which is "
                    + "\(Int((distance / 1_000).rounded())) km away and has other beacons; give each venue an id of its own, as "
                    + "equal names lead to equal ids, or withdraw venue \(id) first if it has moved (--withdraw \(id))")
        }
        if new.summary.version > old.summary.version { return .updated }
        if new.summary.version == old.summary.version, new.packet.digest == old.packet.digest, new.files == old.files {
            return .unchanged
        }
        throw .broken(
            path, "$.version",
            "is \(new.summary.version), but version \(old.summary.version) with different content is published; "
                + "increase it")
    }

    private func writeCatalogue(_ entries: [CatalogueEntry]) throws(FileSystemError) {
        let bytes = CatalogueDocument.tree(entries).line() + [10]
        let file = try work.makeFile(mode: DiskFile.openMode)
        try file.write(bytes)
        // Servers derive a file's entity tag from its size and its modification time in seconds: two catalogues written
        // in the same second would have the same tag, and clients would keep the first.
        let old = try? OpenFile(cataloguePath, O_RDONLY).modified()
        try file.setModified(max(try file.modified(), (old ?? 0) + 1))
        try file.synchronize()
        try DiskFolder.place(file.path, at: cataloguePath)
    }
}

extension VenueSummary {
    /// The largest error in metres of a coordinate that a person gives for a venue, such as that of its district.
    private static let coordinateError = 1_000.0

    /// Returns the distance in metres to the venue of a packet with the same id, if it is another venue: both have a
    /// place on Earth and beacons, their places are apart, and they have no beacon in common.
    ///
    /// A new version of a venue has its place, also if all beacons were exchanged, or its beacons, also if a wrong place
    /// was corrected. Without a place, two venues can't be told from one that was rebuilt.
    fileprivate func distance(ofOtherVenue new: VenueSummary) -> Double? {
        guard let coordinate, let place = new.coordinate, !regions.isEmpty, !new.regions.isEmpty else { return nil }
        let distance = coordinate.distance(to: place)
        guard distance > (radius ?? 0) + (new.radius ?? 0) + Self.coordinateError else { return nil }
        // A person may have shortened the regions in the catalogue.
        let isShared = new.regions.contains { region in
            regions.contains(region) || regions.contains(BeaconRegion(uuid: region.uuid, major: region.major))
                || regions.contains(BeaconRegion(uuid: region.uuid))
        }
        return isShared || addresses.keys.contains { new.addresses[$0] != nil } ? nil : distance
    }
}

/// A file below a folder, from which a published file is copied.
private struct SourcePlace {
    var folder: String
    var name: String

    func open() throws(FileSystemError) -> OpenFile { try OpenFile(name, below: folder) }
}

/// A packet that is ready to be published.
private struct PreparedPacket {
    /// Its entry in the catalogue.
    var entry: CatalogueEntry
    /// The current locations of its files.
    var sources: [(file: PublishedFile, place: SourcePlace)]
}

// The files of one packet.
extension VenuePublisher {
    /// Returns the folder of a venue's packets, below the server's folder.
    private static func folder(of id: VenueID) -> String { "venues/\(id)" }

    /// Creates a packet's files in the work folder.
    private func prepare(_ packet: VenuePacket) throws(VenueRepositoryError) -> PreparedPacket {
        let made = try VenueRepositoryError.storing(work.makeFolder).path
        let venue = packet.venue
        let names = [PacketPath.venueFile, packet.radioMapPath].compactMap(\.self)
        let source: String
        let apart: Set<String>
        do throws(PacketFileError) {
            switch packet.storage {
            case .folder(let path): source = path
            case .zip(let path):
                source = made + "/packet"
                try PacketArchive(path: path).unpack(venue.filePaths.union(names), into: source)
            }
            let files = PacketFolder(path: source)
            apart = venue.planPaths.union(venue.interactionImagePaths.filter { files.contains($0) })
            try Self.checkSizes(of: apart, in: files)
            let zip = try ZipWriter(path: made + "/packet.zip")
            for name in names.sorted() where !apart.contains(name) {
                try zip.add(name, bytes: try files.read(name, limit: InputLimits.standard.radioMap))
            }
            try zip.finish()
        } catch {
            throw error.storage.map(VenueRepositoryError.init) ?? .broken(origin(of: packet), error.path, error.message)
        }
        let (sources, files, zip) = try VenueRepositoryError.storing { () throws(FileSystemError) in
            try describe(venue, zip: SourcePlace(folder: made, name: "packet.zip"), apart: apart, in: source)
        }
        let entry = CatalogueEntry(summary: VenueSummary(of: venue), packet: zip, files: files)
        return PreparedPacket(entry: entry, sources: sources)
    }

    /// Throws if a file can't be in a catalogue, or is larger than readers of plans accept.
    private static func checkSizes(of names: Set<String>, in folder: PacketFolder) throws(PacketFileError) {
        let limit = InputLimits.standard.image
        for name in names.sorted() {
            guard let size = try? folder.open(name).size(), !(1...limit).contains(size) else { continue }
            throw PacketFileError(
                message: "\(name) has \(size) bytes, but an image or tiles must have 1 to \(limit); export it again")
        }
    }

    /// Returns the catalogue's description of a packet's zip and its separate files, and the current paths of all of
    /// them.
    private func describe(
        _ venue: Venue, zip: SourcePlace, apart: Set<String>, in source: String
    ) throws(FileSystemError) -> (
        sources: [(file: PublishedFile, place: SourcePlace)], files: [String: PublishedFile], zip: PublishedFile
    ) {
        var sources: [(file: PublishedFile, place: SourcePlace)] = []
        var files: [String: PublishedFile] = [:]
        for name in apart.sorted() {
            let place = SourcePlace(folder: source, name: name)
            let file = try described(place, in: "files") { "\($0.prefix(32))\(Self.ending(of: name))" }
            files[name] = file
            sources.append((file, place))
        }
        let packet = try described(zip, in: Self.folder(of: venue.id)) { "\(venue.version)-\($0.prefix(12)).zip" }
        sources.append((packet, zip))
        return (sources, files, packet)
    }

    private func origin(of packet: VenuePacket) -> String {
        switch packet.storage {
        case .folder(let path), .zip(let path): path
        }
    }

    /// Returns the catalogue's description of a file, whose path is derived from its digest.
    private func described(
        _ source: SourcePlace, in subfolder: String, name: (_ digest: String) -> String
    ) throws(FileSystemError) -> PublishedFile {
        let file = try source.open()
        let digest = try FileDigest.sha256(of: file)
        let size = try file.size()
        return PublishedFile(path: subfolder + "/" + name(digest), size: size, digest: digest)
    }

    /// Copies a packet's files to their places; existing files are kept.
    private func place(
        _ packet: PreparedPacket, noting placed: inout PlacedFiles
    ) throws(FileSystemError) {
        for (published, source) in packet.sources {
            let target = folder + "/" + published.path
            if let there = try? FileDigest.sha256(of: target), there == published.digest { continue }
            placed.note(target)
            try DiskFolder.create(DiskFolder.parent(of: target), mode: DiskFolder.openMode)
            let file = try source.open()
            let copy = try work.makeFile(mode: DiskFile.openMode)
            while let bytes = try file.read() { try copy.write(bytes) }
            try copy.synchronize()
            try DiskFolder.place(copy.path, at: target)
        }
    }

    /// Returns the extension of a file's name, from which a server derives the media type; empty if it is unusual.
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
