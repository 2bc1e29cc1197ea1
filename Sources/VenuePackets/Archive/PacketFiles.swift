import FoundationEssentials
import Glibc

/// The files of a packet, in a folder or a zip.
protocol PacketFiles: Sendable {
    /// Returns whether the packet contains a file.
    func contains(_ file: String) -> Bool
    /// Returns the reason why an entry of the packet can't be used as a file; nil if it can, or if there is no such
    /// entry.
    func refusal(of file: String) -> String?
    /// Returns the bytes of a file.
    ///
    /// - Throws: `PacketFileError` if the file cannot be read or is larger than `limit` bytes.
    func read(_ file: String, limit: Int) throws(PacketFileError) -> [UInt8]
}

extension PacketFiles {
    func refusal(of file: String) -> String? { nil }
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
        do throws(FileSystemError) { return try OpenFile.irregularity(of: file, below: path) == nil } catch {
            return false
        }
    }

    func refusal(of file: String) -> String? {
        do throws(FileSystemError) { return try OpenFile.irregularity(of: file, below: path)?.reason } catch {
            var status = stat()
            guard lstat(path + "/" + file, &status) != 0 else { return error.reason }
            return LocalPath.refusal(path + "/" + file)
        }
    }

    /// Opens a file.
    func open(_ file: String) throws(PacketFileError) -> OpenFile {
        do throws(FileSystemError) { return try OpenFile(file, below: path) } catch {
            throw PacketFileError(message: refusal(of: file).map { "\(file) \($0)" } ?? "\(error)")
        }
    }

    func read(_ file: String, limit: Int) throws(PacketFileError) -> [UInt8] {
        guard contains(file) else {
            if let refusal = LocalPath.refusal(path + "/" + file) { throw PacketFileError(message: refusal) }
            if let refusal = refusal(of: file) { throw PacketFileError(message: "\(file) \(refusal)") }
            throw PacketFileError(message: "there is no \(file); a packet is a folder or a zip with that file")
        }
        do throws(BoundedFileError) { return try BoundedFile.read(file, below: path, limit: limit) } catch {
            throw PacketFileError(message: "\(file) \(error)")
        }
    }
}

/// A file that the user named. Unlike a file of a packet, it may be a link, a pipe or a device.
enum GivenFile {
    /// Returns the bytes of a file up to the limit.
    ///
    /// - Parameter advice: the required kind of file, for an error.
    static func read(_ path: String, limit: Int, advice: String) throws(PacketFileError) -> [UInt8] {
        guard !path.isEmpty else { throw PacketFileError(message: "the path is empty; \(advice)") }
        let absolute = LocalPath.absolute(path)
        if let refusal = LocalPath.refusal(absolute) { throw PacketFileError(message: refusal) }
        var isFolder = false
        guard FileManager.default.fileExists(atPath: absolute, isDirectory: &isFolder) else {
            throw PacketFileError(message: "there is no \(absolute); \(advice)")
        }
        guard !isFolder else { throw PacketFileError(message: "is a folder; \(advice)") }
        do throws(BoundedFileError) { return try BoundedFile.read(absolute, limit: limit) } catch {
            throw PacketFileError(message: "\(URL(filePath: absolute).lastPathComponent) \(error)")
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
