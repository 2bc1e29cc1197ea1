import FoundationEssentials
import IndoorVocabulary
import TextFormats
import VenueModel

/// A writer of venue packets; the same venue gives identical output.
public struct VenuePacketWriter: Sendable {
    private static let radioMapFile = "radio-map.json.gz"

    /// Creates a writer.
    public init() {}

    /// The paths of the files within the packet that ``write(_:toFolder:)`` writes.
    package static func paths(of venue: Venue) -> [String] {
        [PacketPath.venueFile] + (venue.radioMap == nil ? [] : [radioMapFile])
    }

    /// Returns the bytes of `venue.json`: UTF-8, indented, with keys in alphabetical order.
    ///
    /// The document is parsed and checked before it is returned, so that it is always readable. Image and tile paths
    /// must be relative to the packet. A setting whose value is an object is read back as one setting per leaf.
    /// - Parameter radioMapPath: the path of the radio map within the packet; nil if there is none.
    /// - Throws: `VenuePacketError` with all problems of the venue.
    public func document(of venue: Venue, radioMapPath: String? = nil) throws(VenuePacketError) -> [UInt8] {
        let file = PacketPath.venueFile
        // The check finds a number that is not finite, with its path, because it is written as a string.
        let bytes = VenueDocument.tree(venue, radioMapPath: radioMapPath).lines()
        let problems = VenuePacketReader.parse(bytes).problems
        guard !problems.contains(where: { $0.severity == .error }) else {
            throw VenuePacketError(file: file, problems: problems)
        }
        return bytes
    }

    /// Writes `venue.json` and the radio map, if the venue has one, into a folder.
    ///
    /// The folder is created if it is missing; its other files stay unchanged.
    /// - Throws: `VenuePacketError` if the venue is invalid or a file cannot be written.
    public func write(_ venue: Venue, toFolder folder: String) throws(VenuePacketError) {
        let radioMapPath = venue.radioMap == nil ? nil : Self.radioMapFile
        var files = [(PacketPath.venueFile, try document(of: venue, radioMapPath: radioMapPath))]
        if let radioMap = venue.radioMap, let radioMapPath {
            do throws(PacketFileError) {
                files.append((radioMapPath, try RadioMapFile.bytes(of: radioMap, named: radioMapPath)))
            } catch {
                throw VenuePacketError(file: radioMapPath, message: "\(error.path): \(error.message)")
            }
        }
        for (name, bytes) in files { try Self.write(bytes, to: folder + "/" + name) }
    }

    /// Writes a file of a packet, with the folders above it.
    static func write(_ bytes: [UInt8], to path: String) throws(VenuePacketError) {
        do throws(FileSystemError) {
            try DiskFolder.create(URL(filePath: path).deletingLastPathComponent().path, mode: DiskFolder.openMode)
            try DiskFile.replace(path, with: bytes)
        } catch {
            throw VenuePacketError(
                file: error.path,
                message: "cannot be written: \(error.reason); check the folder, its permissions and the free space")
        }
    }

    /// Packs a packet's folder into a zip; the same folder gives identical output at any time and place.
    ///
    /// Files and folders whose names start with a dot are omitted.
    /// - Throws: `VenuePacketError` if the folder isn't a usable packet or the zip cannot be written.
    public func pack(folder: String, toZip zip: String) throws(VenuePacketError) {
        let packet = try VenuePacketReader().read(folder)
        guard case .folder(let path) = packet.storage else {
            throw VenuePacketError(file: folder, message: "is already a zip; give a folder")
        }
        do throws(PacketFileError) {
            let archive = try ZipWriter(path: LocalPath.absolute(zip))
            for file in try Self.files(in: path) {
                try archive.add(file, bytes: try PacketFolder(path: path).read(file, limit: InputLimits.standard.image))
            }
            try archive.finish()
        } catch {
            throw VenuePacketError(file: zip, message: error.message)
        }
    }

    /// Returns all files in a folder and its subfolders in byte order, independent of the file system's order.
    private static func files(in folder: String) throws(PacketFileError) -> [String] {
        do {
            let packet = PacketFolder(path: folder)
            return try FileManager.default.subpathsOfDirectory(atPath: folder)
                .filter { !$0.split(separator: "/").contains { $0.hasPrefix(".") } && packet.contains($0) }
                .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        } catch {
            throw PacketFileError(message: "\(folder) cannot be listed: \(error.systemReason)")
        }
    }
}
