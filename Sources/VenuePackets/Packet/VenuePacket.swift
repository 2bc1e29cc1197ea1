import FoundationEssentials
import IndoorVocabulary
import VenueModel

/// A venue packet that was read: the venue, the location of its files, and warnings.
public struct VenuePacket: Hashable, Sendable {
    /// The container of the packet's files.
    public enum Storage: Hashable, Sendable {
        /// A folder, with its absolute path.
        case folder(String)
        /// A zip, with its absolute path.
        case zip(String)
    }

    /// The venue; its image and tile paths are relative to the packet, as written.
    public var venue: Venue
    /// The container of the packet's files.
    public var storage: Storage
    /// The path of the radio map within the packet; nil if there is none.
    public var radioMapPath: String?
    /// Probable mistakes that don't prevent the use of the packet.
    public var warnings: [VenueProblem]

    /// Returns the venue with paths of files that can be opened.
    ///
    /// The files of a folder get absolute paths. The image and tile files of a zip are unpacked into
    /// `unpackingFolder/ID-VERSION/`; without that folder, their paths are nil.
    /// - Throws: `VenuePacketError` if a file cannot be unpacked.
    public func localVenue(unpackingInto unpackingFolder: String? = nil) throws(VenuePacketError) -> Venue {
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
                try PacketArchive(path: path).unpack(names, into: LocalPath.absolute(folder))
            } catch {
                throw VenuePacketError(file: path, message: error.message)
            }
        case .folder(let path):
            for name in names.sorted() {
                try Self.copy(path + "/" + name, to: LocalPath.absolute(folder) + "/" + name)
            }
        }
    }

    private static func copy(_ source: String, to target: String) throws(VenuePacketError) {
        let (from, to) = (URL(filePath: source), URL(filePath: target))
        guard from.resolvingSymlinksInPath().path != to.resolvingSymlinksInPath().path else { return }
        do {
            let folder = to.deletingLastPathComponent().path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let size = try FileManager.default.attributesOfItem(atPath: from.path)[.size] as? Int ?? 0
            guard size <= InputLimits.standard.image else {
                throw VenuePacketError(file: source, message: "has \(size) bytes, more than a plan image may have")
            }
            try Data(contentsOf: from, options: .mappedIfSafe).write(to: to, options: .atomic)
        } catch let error as VenuePacketError {
            throw error
        } catch {
            throw VenuePacketError(file: target, message: "cannot be written: \(error.systemReason)")
        }
    }
}
