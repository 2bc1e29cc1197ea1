import FoundationEssentials
import IndoorVocabulary
import VenueModel

/// Writes venue packets: equal venues give equal bytes.
public struct VenuePacketWriter: Sendable {
    /// Creates a writer.
    public init() {}

    /// The bytes of `venue.json`: UTF-8, indented, keys in alphabetical order.
    ///
    /// What is written is read back and checked first, so a written packet is a readable one. Image and tile paths must
    /// be relative to the packet. Settings whose value is an object are read back as one setting per leaf.
    /// - Parameter radioMapPath: the path of the radio map within the packet; nil if there is none.
    /// - Throws: `VenuePacketError` with all that is wrong with the venue.
    public func document(of venue: Venue, radioMapPath: String? = nil) throws(VenuePacketError) -> [UInt8] {
        let file = VenuePacketReader.venueFile
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Written as a text, a number that is none is found by the check, with its path.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        let bytes: [UInt8]
        do {
            bytes = [UInt8](try encoder.encode(VenueDocument.tree(venue, radioMapPath: radioMapPath))) + [10]
        } catch {
            throw VenuePacketError(file: file, message: "the venue cannot be written as JSON: \(error)")
        }
        let problems = VenuePacketReader.parse(bytes).problems
        guard !problems.contains(where: { $0.severity == .error }) else {
            throw VenuePacketError(file: file, problems: problems)
        }
        return bytes
    }

    /// Writes `venue.json` and the radio map, if the venue has one, into a folder.
    ///
    /// The folder is created if need be; its other files are left alone.
    /// - Throws: `VenuePacketError` if the venue is wrong or a file cannot be written.
    public func write(_ venue: Venue, toFolder folder: String) throws(VenuePacketError) {
        let radioMapPath = venue.radioMap == nil ? nil : "radio-map.json.gz"
        var files = [(VenuePacketReader.venueFile, try document(of: venue, radioMapPath: radioMapPath))]
        if let radioMap = venue.radioMap, let radioMapPath {
            do throws(PacketFileError) {
                files.append((radioMapPath, try RadioMapFile.bytes(of: radioMap, named: radioMapPath)))
            } catch {
                throw VenuePacketError(file: radioMapPath, message: "\(error.path): \(error.message)")
            }
        }
        for (name, bytes) in files {
            do {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try Data(bytes).write(to: URL(filePath: folder + "/" + name), options: .atomic)
            } catch {
                throw VenuePacketError(file: folder + "/" + name, message: "cannot be written: \(error.systemReason)")
            }
        }
    }

    /// Packs a packet's folder into a zip: equal folders give equal bytes, whenever and wherever they are packed.
    ///
    /// Files and folders whose names start with a dot are left out.
    /// - Throws: `VenuePacketError` if the folder is no usable packet or the zip cannot be written.
    public func pack(folder: String, toZip zip: String) throws(VenuePacketError) {
        let packet = try VenuePacketReader().read(folder)
        guard case .folder(let path) = packet.storage else {
            throw VenuePacketError(file: folder, message: "is a zip already; give a folder")
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

    /// All files below a folder in alphabetical order of their bytes, whatever the file system's order.
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
