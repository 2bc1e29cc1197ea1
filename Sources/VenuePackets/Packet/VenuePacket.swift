import FoundationEssentials
import IndoorVocabulary
import VenueModel

/// A venue packet that was read: the venue, the location of its files, and warnings.
public struct VenuePacket: Hashable, Sendable {
    /// The container of the packet's files.
    package enum Storage: Hashable, Sendable {
        /// A folder, with its absolute path.
        case folder(String)
        /// A zip, with its absolute path.
        case zip(String)
    }

    /// The venue; its image and tile paths are relative to the packet, as written.
    public var venue: Venue
    /// The container of the packet's files.
    package var storage: Storage
    /// The path of the radio map within the packet; nil if there is none.
    package var radioMapPath: String?
    /// Probable mistakes that don't prevent the use of the packet.
    public var warnings: [VenueProblem]

    /// Returns the venue with paths of files that can be opened.
    ///
    /// The files of a folder get absolute paths. The image and tile files of a zip are unpacked into
    /// `unpackingFolder/ID-VERSION/`; without that folder, their paths are nil.
    /// - Throws: `VenuePacketError` if a file cannot be unpacked.
    package func localVenue(unpackingInto unpackingFolder: String? = nil) throws(VenuePacketError) -> Venue {
        switch storage {
        case .folder(let path):
            return resolved { path + "/" + $0 }
        case .zip(let path):
            guard let unpackingFolder else { return resolved { _ in nil } }
            let target = LocalPath.absolute(unpackingFolder) + "/\(venue.id)-\(venue.version)"
            do throws(PacketFileError) {
                let files = venue.maps.flatMap { [$0.imagePath, $0.tilesPath] }.compactMap(\.self)
                try PacketArchive(path: path).unpack(Set(files), into: target)
            } catch {
                throw VenuePacketError(file: path, message: error.message)
            }
            return resolved { target + "/" + $0 }
        }
    }

    private func resolved(_ path: (String) -> String?) -> Venue {
        var venue = venue
        venue.maps = venue.maps.map { map in
            var map = map
            map.imagePath = map.imagePath.flatMap(path)
            map.tilesPath = map.tilesPath.flatMap(path)
            return map
        }
        return venue
    }
}

extension VenuePacket {
    /// Copies the images and tiles of a venue's maps from this packet into a folder.
    ///
    /// Existing files are replaced, unless they are this packet's own files.
    /// - Throws: `VenuePacketError` if a file cannot be copied.
    public func copyPlans(of venue: Venue, toFolder folder: String) throws(VenuePacketError) {
        let names = Set(venue.maps.flatMap { [$0.imagePath, $0.tilesPath] }.compactMap(\.self))
        guard !names.isEmpty else { return }
        switch storage {
        case .zip(let path):
            do throws(PacketFileError) {
                try PacketArchive(path: path).unpack(names, into: LocalPath.absolute(folder), isPrivate: false)
            } catch {
                throw VenuePacketError(file: path, message: error.message)
            }
        case .folder(let path):
            for name in names.sorted() {
                try Self.copy(name, of: PacketFolder(path: path), to: LocalPath.absolute(folder) + "/" + name)
            }
        }
    }

    private static func copy(
        _ name: String, of packet: PacketFolder, to target: String
    ) throws(VenuePacketError) {
        let source: OpenFile
        do throws(PacketFileError) { source = try packet.open(name) } catch {
            throw VenuePacketError(file: packet.path, message: error.message)
        }
        if let there = try? OpenFile(regular: target), there.isSameFile(as: source) { return }
        if let size = try? source.size(), size > InputLimits.standard.image {
            throw VenuePacketError(file: source.path, message: "has \(size) bytes, more than a plan image may have")
        }
        do throws(FileSystemError) {
            try DiskFolder.create(DiskFolder.parent(of: target), mode: DiskFolder.openMode)
            try DiskFile.copy(source, to: target, mode: DiskFile.openMode)
        } catch {
            throw VenuePacketError(file: target, message: "cannot be written: \(error.reason)")
        }
    }
}
