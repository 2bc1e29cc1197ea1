import FoundationEssentials
import Glibc
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
    package init(_ bytes: [UInt8], named name: String) {
        self.bytes = bytes
        mediaType =
            PictureFormat(of: bytes)?.mediaType
            ?? (name.lowercased().hasSuffix(".svg") ? "image/svg+xml" : "application/octet-stream")
    }
}

/// The Deep Zoom image of a plan: a zip with tiles at `level/column/row`, whose edges touch.
///
/// Level 0 is a single pixel, and each level doubles width and height. The highest level has the size of the plan.
public struct PlanTiles: Sendable {
    private struct Place: Hashable, Sendable {
        var level: Int
        var column: Int
        var row: Int
    }

    /// The width of the whole image in pixels.
    public let width: Int
    /// The height of the whole image in pixels.
    public let height: Int
    /// The side of a tile in pixels; tiles at the right and bottom edges can be smaller.
    public let tileSize: Int
    /// The file name extension of the tiles, such as `png`.
    public let format: String
    private let archive: PacketArchive
    private let names: [Place: String]
    /// The file that the archive is read from.
    private let file: OpenFile

    /// Opens a zip with tiles. Only this file is read, even if it is renamed or replaced.
    init(_ file: OpenFile, width: Int, height: Int) throws(PacketFileError) {
        archive = try PacketArchive(path: file.openPath, marker: "0/0/0.png", named: file.path)
        self.file = file
        (self.width, self.height) = (width, height)
        var names: [Place: String] = [:]
        for name in archive.files { if let place = Self.place(of: name) { names[place] = name } }
        self.names = names
        var levels = 0
        while 1 << levels < max(width, height) { levels += 1 }
        let first = Place(level: levels, column: 0, row: 0)
        guard let name = names[first] else {
            let message =
                "has no tile \(levels)/0/0; a plan of \(width) × \(height) pixels needs the levels 0 to \(levels)"
            throw PacketFileError(message: message)
        }
        format = name.split(separator: ".").last.map(String.init) ?? ""
        // If a single tile covers the plan, the tile isn't larger than the plan.
        let isWide = names[Place(level: levels, column: 1, row: 0)] != nil
        let isHigh = names[Place(level: levels, column: 0, row: 1)] != nil
        guard isWide || isHigh else {
            tileSize = max(width, height)
            return
        }
        guard let size = PictureSize(of: try archive.read(name, limit: Self.limit)) else {
            throw PacketFileError(message: "\(name) is not a PNG, JPEG, GIF or WebP image")
        }
        tileSize = isWide ? size.width : size.height
    }

    /// The maximum size of a tile in bytes.
    private static let limit = 16 << 20

    /// Returns a tile; nil if the image has no such tile or it can't be read.
    public func tile(level: Int, column: Int, row: Int) -> PlanImage? {
        guard let name = names[Place(level: level, column: column, row: row)],
            let bytes = try? archive.read(name, limit: Self.limit)
        else { return nil }
        return PlanImage(bytes, named: name)
    }

    private static func place(of name: String) -> Place? {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let level = Int(parts[0]), let column = Int(parts[1]),
            let row = parts[2].split(separator: ".").first.flatMap({ Int($0) })
        else { return nil }
        return Place(level: level, column: column, row: row)
    }
}

extension OpenFile {
    /// Creates a file with this content in the folder for temporary files. It has no name, and the system deletes it
    /// when this object is destroyed.
    static func unnamed(_ bytes: [UInt8]) throws(PacketFileError) -> OpenFile {
        do throws(FileSystemError) {
            let path = "\(FileManager.default.temporaryDirectory.path)/plan-\(UInt64.random(in: .min ... .max))"
            let file = try OpenFile(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
            unlink(path)
            try file.write(bytes)
            return file
        } catch {
            throw PacketFileError(message: "cannot be copied: \(error.reason)")
        }
    }
}

/// A format of pictures that browsers show, by the first bytes of a file.
package enum PictureFormat: String, CaseIterable {
    case png, jpeg, gif, webp

    /// Recognizes the format of a picture; nil for another one.
    package init?(of bytes: [UInt8]) {
        switch bytes {
        case _ where bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]): self = .png
        case _ where bytes.starts(with: [0xFF, 0xD8, 0xFF]): self = .jpeg
        case _ where bytes.starts(with: Array("GIF8".utf8)): self = .gif
        case _ where bytes.starts(with: Array("RIFF".utf8)) && bytes.dropFirst(8).starts(with: Array("WEBP".utf8)):
            self = .webp
        default: return nil
        }
    }

    /// The media type, such as `image/png`.
    var mediaType: String { "image/" + rawValue }
    /// The usual ending of a file's name.
    package var ending: String { self == .jpeg ? "jpg" : rawValue }
}

/// The size of a PNG, JPEG, GIF or WebP picture in pixels, as a browser shows it.
///
/// Sources: W3C, *Portable Network Graphics*, 11.2.2 (IHDR); ITU-T T.81, B.2.2 (frame header); CIPA DC-008, *Exif*,
/// 4.6.4 (orientation); CompuServe, *Graphics Interchange Format 89a*, 18; RFC 9649, *WebP Image Format*, 2.
package struct PictureSize: Hashable, Sendable {
    package let width: Int
    package let height: Int

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Reads the size from a picture's header; nil for other formats, and for a header that is damaged.
    package init?(of bytes: [UInt8]) {
        let reader = PictureHeader(bytes: bytes)
        let size: PictureSize? =
            switch PictureFormat(of: bytes) {
            case .png: reader.sizeOfPNG()
            case .jpeg: reader.sizeOfJPEG()
            case .gif: reader.sizeOfGIF()
            case .webp: reader.sizeOfWebP()
            case nil: nil
            }
        guard let size, size.width > 0, size.height > 0 else { return nil }
        self = size
    }
}

/// Fields in the header of a picture; nil beyond its end.
private struct PictureHeader {
    let bytes: [UInt8]

    /// Returns a number whose most significant byte comes first.
    func big(_ first: Int, _ count: Int) -> Int? {
        guard first >= 0, first + count <= bytes.count else { return nil }
        return bytes[first..<first + count].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns a number whose least significant byte comes first.
    func little(_ first: Int, _ count: Int) -> Int? {
        guard first >= 0, first + count <= bytes.count else { return nil }
        return bytes[first..<first + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    func text(_ first: Int, _ count: Int) -> String? {
        guard first + count <= bytes.count else { return nil }
        return String(decoding: bytes[first..<first + count], as: UTF8.self)
    }

    private func size(_ width: Int?, _ height: Int?) -> PictureSize? {
        guard let width, let height else { return nil }
        return PictureSize(width: width, height: height)
    }

    func sizeOfPNG() -> PictureSize? { size(big(16, 4), big(20, 4)) }

    func sizeOfGIF() -> PictureSize? { size(little(6, 2), little(8, 2)) }

    /// Reads the first chunk: lossy, lossless, or extended.
    func sizeOfWebP() -> PictureSize? {
        switch text(12, 4) {
        case "VP8 ": size(little(26, 2).map { $0 & 0x3FFF }, little(28, 2).map { $0 & 0x3FFF })
        case "VP8L": little(21, 4).map { PictureSize(width: ($0 & 0x3FFF) + 1, height: ($0 >> 14 & 0x3FFF) + 1) }
        case "VP8X": size(little(24, 3).map { $0 + 1 }, little(27, 3).map { $0 + 1 })
        default: nil
        }
    }

    func sizeOfJPEG() -> PictureSize? {
        var place = 2
        var isTurned = false
        while big(place, 1) == 0xFF, let marker = big(place + 1, 1), let length = big(place + 2, 2) {
            // The frame headers SOF0 to SOF15, without DHT, JPG and DAC, which are in the same range.
            if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) {
                guard let size = size(big(place + 7, 2), big(place + 5, 2)) else { return nil }
                return isTurned ? PictureSize(width: size.height, height: size.width) : size
            }
            if marker == 0xE1, text(place + 4, 4) == "Exif" { isTurned = isTurnedByExif(at: place + 10) }
            place += 2 + max(2, length)
        }
        return nil
    }

    /// Returns whether the orientation of a photograph exchanges width and height: values 5 to 8.
    private func isTurnedByExif(at start: Int) -> Bool {
        let isLittle = text(start, 2) == "II"
        func number(_ offset: Int, _ count: Int) -> Int? {
            isLittle ? little(start + offset, count) : big(start + offset, count)
        }
        guard let directory = number(4, 4), let count = number(directory, 2) else { return false }
        for entry in 0..<count {
            let place = directory + 2 + 12 * entry
            guard let tag = number(place, 2) else { return false }
            if tag == 0x0112 { return number(place + 8, 2).map { (5...8).contains($0) } ?? false }
        }
        return false
    }
}
