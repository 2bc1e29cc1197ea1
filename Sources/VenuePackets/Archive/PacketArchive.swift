import Glibc
import IndoorVocabulary

/// A packet stored as a zip, with its files at the top or in one top folder.
///
/// Files are unpacked only on request, and their size is measured during unpacking: the sizes that the zip declares
/// aren't trusted. Entries other than files, such as links, are ignored.
struct PacketArchive: PacketFiles {
    /// The zip's absolute path.
    let path: String
    /// The top folder with a slash, or empty.
    private let prefix: String
    /// The files in that folder.
    let files: Set<String>
    /// The largest allowed total size of the unpacked files, in bytes.
    private let inflatedSize: Int
    private let limits: InputLimits

    /// Lists the zip.
    ///
    /// - Parameter marker: a file that identifies the packet's folder: the top of the zip, or a folder in it.
    /// - Throws: `PacketFileError` if the file isn't a zip, or is a malicious one.
    init(
        path: String, marker: String = PacketPath.venueFile, limits: InputLimits = .standard
    ) throws(PacketFileError) {
        var status = stat()
        let size = stat(path, &status) == 0 ? Int(status.st_size) : 0
        inflatedSize = limits.inflatedSize(ofCompressed: size)
        self.limits = limits
        try ZipDirectory.check(path, limit: limits.zipDirectory)
        var names: Set<String> = []
        let archive = try ZipReader(path: path)
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

    func contains(_ file: String) -> Bool { files.contains(file) }

    func read(_ file: String, limit: Int) throws(PacketFileError) -> [UInt8] {
        let limit = min(limit, inflatedSize)
        let archive = try ZipReader(path: path)
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
    /// - Parameter unpackedBefore: bytes already unpacked from this zip, which are part of the same limit.
    func unpack(
        _ wanted: Set<String>, into folder: String, unpackedBefore: Int = 0
    ) throws(PacketFileError) {
        let archive = try ZipReader(path: path)
        let limit = min(limits.unpacked, inflatedSize)
        var total = unpackedBefore
        while let entry = try archive.next() {
            guard entry.isFile, entry.name.hasPrefix(prefix) else { continue }
            let file = String(entry.name.dropFirst(prefix.count))
            guard wanted.contains(file) else { continue }
            let target = try UnpackedFile(folder + "/" + file)
            while let chunk = try archive.chunk() {
                total += chunk.count
                guard total <= limit else {
                    throw PacketFileError(message: "the zip unpacks to more than the limit of \(limit) bytes")
                }
                try target.append(chunk)
            }
            try target.finish()
        }
    }
}

/// A file that is being unpacked; it gets its name when it is complete.
///
/// A class because it owns the open file and removes an incomplete one.
private final class UnpackedFile {
    private let target: String
    private let file: OpenFile
    private var isFinished = false

    init(_ target: String) throws(PacketFileError) {
        self.target = target
        do throws(FileSystemError) {
            try DiskFolder.create(DiskFolder.parent(of: target))
            file = try OpenFile(target + ".unfinished", O_WRONLY | O_CREAT | O_TRUNC)
        } catch {
            throw PacketFileError(message: "cannot be unpacked: \(error)", storage: error)
        }
    }

    deinit { if !isFinished { unlink(file.path) } }

    func append(_ bytes: [UInt8]) throws(PacketFileError) {
        do throws(FileSystemError) {
            try file.write(bytes)
        } catch {
            throw PacketFileError(message: "cannot be unpacked: \(error)", storage: error)
        }
    }

    func finish() throws(PacketFileError) {
        guard rename(file.path, target) == 0 else {
            let failure = FileSystemError.system(target)
            throw PacketFileError(message: "cannot be unpacked: \(failure)", storage: failure)
        }
        isFinished = true
    }
}
