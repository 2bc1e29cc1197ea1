import FoundationEssentials
import Glibc
import IndoorVocabulary

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
