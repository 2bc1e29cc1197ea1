import IndoorVocabulary
import VenueModel

/// The images and Deep Zoom tiles of a venue's plans, in a packet or at absolute paths.
///
/// The packet's folder or zip must not change while this value is in use.
public struct PlanFiles: Sendable {
    private let storage: VenuePacket.Storage?

    /// Creates the files of a packet's maps, whose paths are relative to the packet.
    public init(_ packet: VenuePacket) { storage = packet.storage }

    /// Creates the files of a packet in a folder, given by its absolute path.
    package init(folder: String) { storage = .folder(folder) }

    /// Creates the files of venues whose maps have absolute paths, as venue sources return them.
    public init() { storage = nil }

    /// Returns the image of a map's plan; nil for a map without an image.
    ///
    /// - Throws: `VenuePacketError` if the file can't be read or has more than 512 MiB.
    public func image(of map: VenueMap) throws(VenuePacketError) -> PlanImage? {
        guard let path = map.imagePath else { return nil }
        return PlanImage(try bytes(path), named: path)
    }

    /// Returns the tiles of a map's plan; nil for a map without tiles, or whose image size is unknown.
    ///
    /// - Throws: `VenuePacketError` if the file can't be read or isn't a zip with tiles.
    public func tiles(of map: VenueMap) throws(VenuePacketError) -> PlanTiles? {
        guard let path = map.tilesPath, let width = map.widthPixels, let height = map.heightPixels else { return nil }
        return try reading(path) { () throws(PacketFileError) in
            let file: OpenFile
            switch storage {
            case .zip(let packet) where !path.hasPrefix("/"):
                let limit = InputLimits.standard.image
                file = try OpenFile.unnamed(try PacketArchive(path: packet).read(path, limit: limit))
            case .folder(let folder) where !path.hasPrefix("/"): file = try PacketFolder(path: folder).open(path)
            default:
                do throws(FileSystemError) { file = try OpenFile(regular: path) } catch {
                    throw PacketFileError(message: error.reason)
                }
            }
            return try PlanTiles(file, width: width, height: height)
        }
    }

    private func bytes(_ path: String) throws(VenuePacketError) -> [UInt8] {
        try reading(path) { () throws(PacketFileError) in
            let limit = InputLimits.standard.image
            switch storage {
            case .zip(let packet) where !path.hasPrefix("/"):
                return try PacketArchive(path: packet).read(path, limit: limit)
            case .folder(let folder) where !path.hasPrefix("/"):
                return try PacketFolder(path: folder).read(path, limit: limit)
            default:
                do throws(BoundedFileError) { return try BoundedFile.read(regular: path, limit: limit) } catch {
                    throw PacketFileError(message: "\(error)")
                }
            }
        }
    }

    private func reading<Result>(
        _ path: String, _ body: () throws(PacketFileError) -> Result
    ) throws(VenuePacketError) -> Result {
        do throws(PacketFileError) { return try body() } catch {
            throw VenuePacketError(file: path, message: error.message)
        }
    }
}

/// The image of a plan, or of a part of it.
public struct PlanImage: Hashable, Sendable {
    /// The content of the file.
    public let bytes: [UInt8]
    /// The media type, such as `image/png`.
    public let mediaType: String

    /// Creates an image; its content and the file's name determine the media type.
    init(_ bytes: [UInt8], named name: String) {
        self.bytes = bytes
        mediaType =
            PictureFormat(of: bytes)?.mediaType
            ?? (name.lowercased().hasSuffix(".svg") ? "image/svg+xml" : "application/octet-stream")
    }
}
