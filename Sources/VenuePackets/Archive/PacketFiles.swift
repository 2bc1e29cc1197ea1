import FoundationEssentials
import Glibc
import IndoorVocabulary

/// The files of a packet, in a folder or a zip.
package protocol PacketFiles: Sendable {
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
    package func refusal(of file: String) -> String? { nil }
}

/// An error in reading or writing a file of a packet.
package struct PacketFileError: Error, Hashable, Sendable {
    /// The problem and its remedy.
    package let message: String
    /// The path within the file's document.
    package var path: String
    /// The error of the file system, if the cause isn't the packet.
    var storage: FileSystemError?

    package init(message: String, path: String = "$", storage: FileSystemError? = nil) {
        self.message = message
        self.path = path
        self.storage = storage
    }
}

/// A packet stored as a folder.
package struct PacketFolder: PacketFiles {
    /// The folder's absolute path.
    let path: String

    package init(path: String) { self.path = path }

    package func contains(_ file: String) -> Bool {
        do throws(FileSystemError) { return try OpenFile.irregularity(of: file, below: path) == nil } catch {
            return false
        }
    }

    package func refusal(of file: String) -> String? {
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

    package func read(_ file: String, limit: Int) throws(PacketFileError) -> [UInt8] {
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
package enum GivenFile {
    /// Returns the bytes of a file up to the limit.
    ///
    /// - Parameter advice: the required kind of file, for an error.
    package static func read(_ path: String, limit: Int, advice: String) throws(PacketFileError) -> [UInt8] {
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
package enum PacketPath {
    /// The name of the document at a packet's root.
    package static let venueFile = "venue.json"

    /// Returns whether the path refers to a file inside the packet.
    package static func isInside(_ path: String) -> Bool {
        guard !path.isEmpty, !path.hasPrefix("/"), !path.contains("\\"), !path.utf8.contains(0) else { return false }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
    }

    /// Returns the scheme of an address, such as "https", in lower case; nil for a path.
    ///
    /// Source: RFC 3986, 3.1 and 4.2.
    static func scheme(of text: String) -> String? {
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        guard scheme.count < text.utf8.count, let first = scheme.first, isLetter(first) else { return nil }
        let isScheme = scheme.allSatisfy { byte in
            isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.".utf8.contains(byte)
        }
        return isScheme ? String(Substring(scheme)).lowercased() : nil
    }

    /// Returns whether a text is an address of the network. `file:` refers to any file of this machine.
    static func isAddress(_ text: String) -> Bool { scheme(of: text).map { $0 != "file" } ?? false }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

/// A packet stored as a zip, with its files at the top or in one top folder.
///
/// Files are unpacked only on request, and their size is measured during unpacking: the sizes that the zip declares
/// aren't trusted. Entries other than files, such as links, are ignored.
package struct PacketArchive: PacketFiles {
    /// The zip's absolute path.
    let path: String
    /// The path in errors.
    private let name: String
    /// The top folder with a slash, or empty.
    private let prefix: String
    /// The files in that folder.
    package let files: Set<String>
    /// The largest allowed total size of the unpacked files, in bytes.
    private let inflatedSize: Int
    private let limits: InputLimits

    /// Lists the zip.
    ///
    /// - Parameters:
    ///   - marker: a file that identifies the packet's folder: the top of the zip, or a folder in it.
    ///   - name: the path in errors; nil for `path`.
    /// - Throws: `PacketFileError` if the file isn't a zip, or is a malicious one.
    package init(
        path: String, marker: String = PacketPath.venueFile, named name: String? = nil, limits: InputLimits = .standard
    ) throws(PacketFileError) {
        self.name = name ?? path
        var status = stat()
        let size = stat(path, &status) == 0 ? Int(status.st_size) : 0
        inflatedSize = limits.inflatedSize(ofCompressed: size)
        self.limits = limits
        try ZipDirectory.check(path, named: self.name, limit: limits.zipDirectory)
        var names: Set<String> = []
        let archive = try ZipReader(path: path, name: self.name)
        while let entry = try archive.next() {
            guard entry.isFile else { continue }
            guard PacketPath.isInside(entry.name) else {
                throw PacketFileError(message: "the zip's entry \"\(entry.name)\" leaves the packet; pack it again")
            }
            guard names.insert(entry.name).inserted else {
                throw PacketFileError(message: "the zip has two entries \"\(entry.name)\"; pack it again")
            }
            guard names.count <= limits.zipEntries else {
                throw PacketFileError(message: "the zip has more than \(limits.zipEntries) files; is it a packet?")
            }
        }
        let prefix = Self.topFolder(of: names, with: marker)
        self.path = path
        self.prefix = prefix
        files = Set(names.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) })
    }

    /// Returns the one folder that contains the marker, with a slash, if the top doesn't contain it; otherwise "".
    private static func topFolder(of names: Set<String>, with marker: String) -> String {
        guard !names.contains(marker) else { return "" }
        let folders = names.filter { name in
            let parts = name.split(separator: "/")
            return parts.count == 2 && parts[1] == marker
        }
        guard folders.count == 1, let file = folders.first else { return "" }
        return String(file.dropLast(marker.count))
    }

    package func contains(_ file: String) -> Bool { files.contains(file) }

    package func read(_ file: String, limit: Int) throws(PacketFileError) -> [UInt8] {
        let limit = min(limit, inflatedSize)
        let archive = try ZipReader(path: path, name: self.name)
        while let entry = try archive.next() {
            guard entry.isFile, entry.name == prefix + file else { continue }
            var bytes: [UInt8] = []
            while let chunk = try archive.chunk() {
                bytes += chunk
                guard bytes.count <= limit else {
                    throw PacketFileError(message: "\(file) unpacks to more than the limit of \(limit) bytes")
                }
            }
            return bytes
        }
        throw PacketFileError(message: "there is no \(file); a packet is a folder or a zip with that file")
    }

    /// Unpacks some of the files in pieces into a folder, at their paths in the packet.
    ///
    /// - Parameters:
    ///   - isPrivate: whether only the owner has access to the unpacked files; otherwise, the umask decides.
    ///   - unpackedBefore: bytes already unpacked from this zip, which are part of the same limit.
    func unpack(
        _ wanted: Set<String>, into folder: String, isPrivate: Bool = true, unpackedBefore: Int = 0
    ) throws(PacketFileError) {
        let archive = try ZipReader(path: path, name: self.name)
        let limit = min(limits.unpacked, inflatedSize)
        var total = unpackedBefore
        while let entry = try archive.next() {
            guard entry.isFile, entry.name.hasPrefix(prefix) else { continue }
            let file = String(entry.name.dropFirst(prefix.count))
            guard wanted.contains(file) else { continue }
            let target = try Self.unpacking { () throws(FileSystemError) in
                let path = folder + "/" + file
                try DiskFolder.create(DiskFolder.parent(of: path), mode: isPrivate ? 0o700 : DiskFolder.openMode)
                return try FileDraft(of: path, mode: isPrivate ? 0o600 : DiskFile.openMode)
            }
            while let chunk = try archive.chunk() {
                total += chunk.count
                guard total <= limit else {
                    throw PacketFileError(message: "the zip unpacks to more than the limit of \(limit) bytes")
                }
                try Self.unpacking { () throws(FileSystemError) in try target.write(chunk) }
            }
            try Self.unpacking { () throws(FileSystemError) in try target.finish(isDurable: false) }
        }
    }

    private static func unpacking<Result>(
        _ body: () throws(FileSystemError) -> Result
    ) throws(PacketFileError) -> Result {
        do throws(FileSystemError) { return try body() } catch {
            throw PacketFileError(message: "cannot be unpacked: \(error)", storage: error)
        }
    }
}
