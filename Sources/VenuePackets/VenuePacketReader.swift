import FoundationEssentials
import IndoorLocalization

/// Reads and checks venue packets.
public struct VenuePacketReader: Sendable {
    /// The name of the document at a packet's root.
    static let venueFile = "venue.json"

    /// Creates a reader.
    public init() {}

    /// Reads a packet: a folder, the same folder as a zip, or the `venue.json` within a folder.
    ///
    /// - Parameter radioMap: the path of a radio map on this machine that is used in place of the packet's own.
    /// - Throws: `VenuePacketError` with all problems found if one of them is an error; those of the given radio map
    ///   have the path `$.radioMap`.
    public func read(_ path: String, radioMap: String? = nil) throws(VenuePacketError) -> VenuePacket {
        let (packet, problems) = examine(path, radioMap: radioMap)
        guard let packet, !problems.contains(where: { $0.severity == .error }) else {
            throw VenuePacketError(file: path, problems: problems)
        }
        return packet
    }

    /// All problems of a packet, errors and warnings: those of the document in its order, then those of its files.
    ///
    /// Once there is no error, warnings also name rooms and points of interest that no path reaches, on maps with paths.
    /// None if the packet is flawless.
    public func check(_ path: String) -> [VenueProblem] {
        let (packet, problems) = examine(path)
        guard let packet, !problems.contains(where: { $0.severity == .error }) else { return problems }
        return problems + Self.unreachedPlaces(of: packet.venue)
    }

    /// The checks of a document alone, without the files that it names.
    package static func parse(_ bytes: [UInt8]) -> (venue: Venue?, problems: [VenueProblem]) {
        let (venue, parser) = walk(bytes)
        return (venue, parser.problems)
    }

    /// The walk through a document, with the files that it names.
    static func walk(_ bytes: [UInt8]) -> (venue: Venue?, parser: VenueParser) {
        var parser = VenueParser()
        do {
            let document = try JSONTree(bytes)
            return (parser.venue(document), parser)
        } catch {
            parser.report(.error, "$", "\(Self.venueFile) \(error.message)")
            return (nil, parser)
        }
    }

    private func examine(
        _ path: String, radioMap: String? = nil
    ) -> (packet: VenuePacket?, problems: [VenueProblem]) {
        do throws(PacketFileError) {
            let (storage, files) = try open(path)
            let bytes = try files.read(Self.venueFile, limit: PacketLimit.venueFile)
            var (venue, parser) = Self.walk(bytes)
            for reference in parser.fileReferences where !files.contains(reference.file) {
                parser.report(
                    .error, reference.path, "the packet has no file \"\(reference.file)\"; add it or remove the field")
            }
            venue?.radioMap = Self.radioMap(from: files, given: radioMap, parser: &parser)
            guard let venue else { return (nil, parser.problems) }
            let packet = VenuePacket(
                venue: venue, storage: storage, radioMapPath: parser.radioMapPath, warnings: parser.problems)
            return (packet, parser.problems)
        } catch {
            return (nil, [VenueProblem(severity: .error, path: "$", message: error.message)])
        }
    }

    /// The given radio map, else that which the document names; nil if there is none or it is wrong.
    private static func radioMap(
        from files: any PacketFiles, given: String?, parser: inout VenueParser
    ) -> RadioMap? {
        guard let file = given ?? parser.radioMapPath, given != nil || files.contains(file) else { return nil }
        do throws(PacketFileError) {
            let radioMap: RadioMap
            if let given {
                radioMap = try RadioMapFile.contents(of: given)
            } else {
                radioMap = try RadioMapFile.read(files.read(file, limit: PacketLimit.radioMap), named: file)
            }
            let maps = Set(radioMap.beacons.map(\.mapID) + radioMap.fingerprints.map(\.mapID))
            for map in maps.subtracting(parser.mapIDs).sorted() {
                parser.report(
                    .error, "$.radioMap", "\(file) is of another venue: there is no map \(map); survey this venue")
            }
            return radioMap
        } catch {
            parser.report(.error, "$.radioMap", "\(file): \(error.path): \(error.message)")
            return nil
        }
    }

    /// A packet's files: those of a folder, or of a zip.
    func open(_ path: String) throws(PacketFileError) -> (VenuePacket.Storage, any PacketFiles) {
        var absolute = LocalPath.absolute(path)
        var isFolder = false
        guard FileManager.default.fileExists(atPath: absolute, isDirectory: &isFolder) else {
            throw PacketFileError(message: "there is no \(absolute); give a packet's folder or zip")
        }
        if !isFolder, absolute.hasSuffix("/" + Self.venueFile) {
            absolute.removeLast(Self.venueFile.count + 1)
            isFolder = true
        }
        if isFolder { return (.folder(absolute), PacketFolder(path: absolute)) }
        return (.zip(absolute), try PacketArchive(path: absolute))
    }
}
