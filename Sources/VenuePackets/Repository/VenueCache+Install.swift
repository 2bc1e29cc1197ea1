import FoundationEssentials
import Glibc
import IndoorVocabulary
import VenueModel

extension VenueCache {
    /// What a version is made of.
    struct Parts {
        /// The path of the packet: a zip or a folder, which may lack the files below.
        var packet: String
        /// Paths of further files, by their path within the packet.
        var files: [String: String] = [:]
        /// Of which venue it must be.
        var id: VenueID
        /// Which version it must be.
        var version: Int
        /// What errors call the packet.
        var source: String
        var packetPath: String?
        var tag: EntityTag?
        var digests: [String: String] = [:]
    }

    /// Checks a packet and stores it.
    ///
    /// - Throws: `.brokenPacket` with all problems, or `.storage`.
    func install(_ parts: Parts) throws(VenueRepositoryError) -> StoredVersion {
        let made = try work.makeFolder()
        defer { DiskFolder.remove(made.path) }
        let packet = made.path + "/" + Self.packetFolder
        do throws(PacketFileError) {
            try unpack(parts, into: packet)
        } catch {
            throw error.storage ?? .broken(parts.source, error.path, error.message)
        }
        for (name, path) in parts.files {
            try DiskFolder.create(DiskFolder.parent(of: packet + "/" + name))
            // A second name for the same bytes: an older version in use keeps its own.
            unlink(packet + "/" + name)
            guard link(path, packet + "/" + name) == 0 else { throw .system(path) }
        }
        let venue: Venue
        do throws(VenuePacketError) { venue = try VenuePacketReader().read(packet).venue } catch {
            throw .brokenPacket(source: parts.source, problems: error.problems)
        }
        guard venue.id == parts.id else {
            throw .broken(parts.source, "$.id", "is \(venue.id), not \(parts.id) as promised; publish it anew")
        }
        guard venue.version == parts.version else {
            throw .broken(
                parts.source, "$.version", "is \(venue.version), not \(parts.version) as promised; publish it anew")
        }
        let record = StoredRecord(
            summary: VenueSummary(of: venue), packetPath: parts.packetPath, tag: parts.tag, digests: parts.digests)
        return try place(made, record)
    }

    /// Unpacks or copies the document and the files that it names; others are left out.
    private func unpack(_ parts: Parts, into folder: String) throws(PacketFileError) {
        let (storage, files) = try VenuePacketReader().open(parts.packet)
        let document = try files.read(VenuePacketReader.venueFile, limit: InputLimits.standard.venueFile)
        let names = VenuePacketReader.walk(document).parser.fileReferences.map(\.file)
        let wanted = Set(names.filter { files.contains($0) && parts.files[$0] == nil } + [VenuePacketReader.venueFile])
        switch storage {
        case .zip(let path): try PacketArchive(path: path).unpack(wanted, into: folder)
        case .folder(let path):
            for name in wanted {
                let target = folder + "/" + name
                do {
                    try DiskFolder.create(DiskFolder.parent(of: target))
                    try FileManager.default.copyItem(atPath: path + "/" + name, toPath: target)
                } catch {
                    let reason = "cannot be copied: " + error.systemReason(reading: path + "/" + name)
                    throw PacketFileError(
                        message: "\(name) \(reason)", storage: .storage(path: target, reason: reason))
                }
            }
        }
    }
}

extension VenueRepositoryError {
    /// One thing that is wrong with a packet.
    static func broken(_ source: String, _ path: String, _ message: String) -> VenueRepositoryError {
        .brokenPacket(source: source, problems: [VenueProblem(severity: .error, path: path, message: message)])
    }
}
