import FoundationEssentials

/// The files of a packet, wherever they are kept.
protocol PacketFiles: Sendable {
    /// Whether there is such a file.
    func contains(_ file: String) -> Bool
    /// The bytes of a file.
    ///
    /// - Throws: `PacketFileError` if it cannot be read or has more than `limit` bytes.
    func read(_ file: String, limit: Int) throws(PacketFileError) -> [UInt8]
}

/// What keeps a file of a packet from being read or written.
struct PacketFileError: Error, Hashable, Sendable {
    /// What is wrong and what to do.
    let message: String
    /// Where it is within the file's document.
    var path = "$"
    /// What the disk says, if it is not the packet that is wrong.
    var storage: FileSystemError?
}

/// A packet kept as a folder.
struct PacketFolder: PacketFiles {
    /// The folder's absolute path.
    let path: String

    func contains(_ file: String) -> Bool {
        var isFolder = false
        return FileManager.default.fileExists(atPath: absolutePath(of: file), isDirectory: &isFolder) && !isFolder
    }

    func absolutePath(of file: String) -> String { path + "/" + file }

    func read(_ file: String, limit: Int) throws(PacketFileError) -> [UInt8] {
        let absolute = absolutePath(of: file)
        guard contains(file) else {
            if let refusal = LocalPath.refusal(absolute) { throw PacketFileError(message: refusal) }
            throw PacketFileError(message: "there is no \(file); a packet is a folder or a zip with that file")
        }
        do throws(BoundedFileError) { return try BoundedFile.read(absolute, limit: limit) } catch {
            throw PacketFileError(message: "\(file) \(error)")
        }
    }
}

/// Paths of files within a packet: relative, with `/`, and never out of the packet.
enum PacketPath {
    /// The name of the document at a packet's root.
    static let venueFile = "venue.json"

    /// Whether the path names a file within the packet, whatever the packet's place.
    static func isInside(_ path: String) -> Bool {
        guard !path.isEmpty, !path.hasPrefix("/"), !path.contains("\\"), !path.utf8.contains(0) else { return false }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
    }
}
