import FoundationEssentials

/// The files of a packet, in a folder or a zip.
protocol PacketFiles: Sendable {
    /// Returns whether the packet contains a file.
    func contains(_ file: String) -> Bool
    /// Returns the bytes of a file.
    ///
    /// - Throws: `PacketFileError` if the file cannot be read or is larger than `limit` bytes.
    func read(_ file: String, limit: Int) throws(PacketFileError) -> [UInt8]
}

/// An error in reading or writing a file of a packet.
struct PacketFileError: Error, Hashable, Sendable {
    /// The problem and its remedy.
    let message: String
    /// The path within the file's document.
    var path = "$"
    /// The error of the file system, if the cause isn't the packet.
    var storage: FileSystemError?
}

/// A packet stored as a folder.
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

/// Paths of files in a packet: relative, separated by `/`, and always inside the packet.
enum PacketPath {
    /// The name of the document at a packet's root.
    static let venueFile = "venue.json"

    /// Returns whether the path refers to a file inside the packet.
    static func isInside(_ path: String) -> Bool {
        guard !path.isEmpty, !path.hasPrefix("/"), !path.contains("\\"), !path.utf8.contains(0) else { return false }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
    }
}
