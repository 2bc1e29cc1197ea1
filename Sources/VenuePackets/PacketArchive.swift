import Glibc
import IndoorVocabulary

/// A packet kept as a zip, its files at the top or all within one top folder.
///
/// Nothing is unpacked unasked, and what is unpacked is counted while it comes: sizes that the zip tells are not
/// believed. Entries other than files are ignored, so a link in a zip leads nowhere.
struct PacketArchive: PacketFiles {
    /// The zip's absolute path.
    let path: String
    /// The top folder with a slash, or empty.
    private let prefix: String
    /// The files within that folder.
    let files: Set<String>
    /// The bytes that all files may unpack to.
    private let inflatedSize: Int

    /// Lists the zip.
    ///
    /// - Parameter marker: the file that tells which folder is the packet's: the top, or the one below it with it.
    /// - Throws: `PacketFileError` if it is not a zip, or a hostile one.
    init(path: String, marker: String = VenuePacketReader.venueFile) throws(PacketFileError) {
        var status = stat()
        let size = stat(path, &status) == 0 ? Int(status.st_size) : 0
        inflatedSize = InputLimits.standard.inflatedSize(ofCompressed: size)
        try ZipDirectory.check(path)
        var names: Set<String> = []
        let archive = try ZipReader(path: path)
        while let entry = try archive.next() {
            guard entry.isFile else { continue }
            guard PacketPath.isInside(entry.name) else {
                throw PacketFileError(message: "the zip's entry \"\(entry.name)\" leaves the packet; pack it anew")
            }
            guard names.insert(entry.name).inserted else {
                throw PacketFileError(message: "the zip has two entries \"\(entry.name)\"; pack it anew")
            }
            guard names.count <= InputLimits.standard.zipEntries else {
                throw PacketFileError(
                    message: "the zip has more than \(InputLimits.standard.zipEntries) files; is it a packet?")
            }
        }
        let prefix = Self.topFolder(of: names, with: marker)
        self.path = path
        self.prefix = prefix
        files = Set(names.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) })
    }

    /// The one folder that holds the marker when the top doesn't: "" or a name with a slash.
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
                    throw PacketFileError(message: "\(file) unpacks to more than the \(limit) bytes that it may have")
                }
            }
            return bytes
        }
        throw PacketFileError(message: "there is no \(file); a packet is a folder or a zip with that file")
    }

    /// Unpacks some of the files into a folder, under their paths within the packet, a piece at a time.
    func unpack(_ wanted: Set<String>, into folder: String) throws(PacketFileError) {
        let archive = try ZipReader(path: path)
        let limit = min(InputLimits.standard.unpacked, inflatedSize)
        var total = 0
        while let entry = try archive.next() {
            guard entry.isFile, entry.name.hasPrefix(prefix) else { continue }
            let file = String(entry.name.dropFirst(prefix.count))
            guard wanted.contains(file) else { continue }
            let target = try UnpackedFile(folder + "/" + file)
            while let chunk = try archive.chunk() {
                total += chunk.count
                guard total <= limit else {
                    throw PacketFileError(message: "the zip unpacks to more than the \(limit) bytes that it may")
                }
                try target.append(chunk)
            }
            try target.finish()
        }
    }
}

/// A file that is being unpacked: it has its name once it is whole.
///
/// A class, as it owns the open file and removes what never became whole.
private final class UnpackedFile {
    private let target: String
    private let file: OpenFile
    private var isFinished = false

    init(_ target: String) throws(PacketFileError) {
        self.target = target
        do throws(VenueRepositoryError) {
            try DiskFolder.create(DiskFolder.parent(of: target))
            file = try OpenFile(target + ".unfinished", O_WRONLY | O_CREAT | O_TRUNC)
        } catch {
            throw PacketFileError(message: "cannot be unpacked: \(error)", storage: error)
        }
    }

    deinit { if !isFinished { unlink(file.path) } }

    func append(_ bytes: [UInt8]) throws(PacketFileError) {
        do throws(VenueRepositoryError) {
            try file.write(bytes)
        } catch {
            throw PacketFileError(message: "cannot be unpacked: \(error)", storage: error)
        }
    }

    func finish() throws(PacketFileError) {
        guard rename(file.path, target) == 0 else {
            let failure = VenueRepositoryError.system(target)
            throw PacketFileError(message: "cannot be unpacked: \(failure)", storage: failure)
        }
        isFinished = true
    }
}
