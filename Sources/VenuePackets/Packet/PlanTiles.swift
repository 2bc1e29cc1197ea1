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
    /// The file that the archive is read from, if it is a copy.
    private let copy: UnnamedFile?

    /// Opens a zip with tiles.
    ///
    /// - Parameter copy: the file at `path`, if it must be kept open.
    init(path: String, copy: UnnamedFile?, width: Int, height: Int) throws(PacketFileError) {
        archive = try PacketArchive(path: path, marker: "0/0/0.png")
        self.copy = copy
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
        // The tiles of a plan that one tile covers aren't larger than the plan.
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

/// A file without a name, which the system deletes when this object is destroyed.
///
/// A class because it owns the open descriptor.
final class UnnamedFile: Sendable {
    private let descriptor: Int32

    /// Creates a file with this content in the folder for temporary files.
    init(_ bytes: [UInt8]) throws(PacketFileError) {
        var template = Array((FileManager.default.temporaryDirectory.path + "/plan-XXXXXX").utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else {
            throw PacketFileError(message: "cannot be copied: \(String(cString: strerror(errno)))")
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(template)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw PacketFileError(message: "cannot be copied: \(String(cString: strerror(errno)))")
            }
            rest = rest.dropFirst(count)
        }
    }

    deinit { close(descriptor) }

    /// A path at which this process can open the file.
    var path: String { "/proc/self/fd/\(descriptor)" }
}
