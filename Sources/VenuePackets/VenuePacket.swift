import FoundationEssentials
import Glibc
import VenueModel

/// A venue packet as it was read: the venue, where its files are, and what looks wrong with it.
public struct VenuePacket: Hashable, Sendable {
    /// What keeps the packet's files.
    public enum Storage: Hashable, Sendable {
        /// A folder, with its absolute path.
        case folder(String)
        /// A zip, with its absolute path.
        case zip(String)
    }

    /// The venue; its image and tile paths are relative to the packet, as written.
    public var venue: Venue
    /// What keeps the packet's files.
    public var storage: Storage
    /// The path of the radio map within the packet; nil if there is none.
    public var radioMapPath: String?
    /// What looks wrong but can be used.
    public var warnings: [VenueProblem]

    /// The venue with paths that can be opened.
    ///
    /// A folder's files have absolute paths. A zip's image and tile files are unpacked into
    /// `unpackingFolder/ID-VERSION/`; without that folder they have no path, and the maps' paths are nil.
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

/// Paths on this machine.
enum LocalPath {
    /// The path from the root, without `.` and `..` and without a slash at the end.
    static func absolute(_ path: String) -> String {
        let full = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        var parts: [Substring] = []
        for part in full.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Why the system does not let anybody see whether there is such a file; nil if it is just not there.
    static func refusal(_ path: String) -> PacketFileError? {
        guard access(path, F_OK) != 0, errno != ENOENT, errno != ENOTDIR else { return nil }
        return PacketFileError(
            message: "\(path) cannot be read: \(String(cString: strerror(errno))); check its permissions")
    }

    /// How a file is written so that a reader never finds half of it: aside, then put in its place.
    ///
    /// A pipe or a device is written into instead: put in its place, the file would replace it for everybody.
    static func writingOptions(for path: String) -> Data.WritingOptions {
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        return type == nil || type == .typeRegular ? .atomic : []
    }
}
