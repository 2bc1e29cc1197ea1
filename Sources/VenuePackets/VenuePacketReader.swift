import FoundationEssentials
import IndoorPositioning
import IndoorVocabulary
import VenueModel

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
    /// Once there is no error, warnings also tell that a venue has nothing to hear, and name rooms and points of interest
    /// that no path reaches, on maps with paths. None if the packet is flawless.
    public func check(_ path: String) -> [VenueProblem] { checked(path).problems }

    /// What `check(_:)` gives, and the venue; nil if there is an error.
    package func checked(_ path: String) -> (venue: Venue?, problems: [VenueProblem]) {
        let (packet, problems) = examine(path)
        guard let venue = packet?.venue, !problems.contains(where: { $0.severity == .error }) else {
            return (nil, problems)
        }
        return (venue, problems + Self.silence(of: venue) + Self.unreachedPlaces(of: venue))
    }

    /// A warning if a device hears nothing in a venue that tells where it is.
    private static func silence(of venue: Venue) -> [VenueProblem] {
        guard venue.beacons.isEmpty, venue.radioMap == nil else { return [] }
        let message =
            "there is none, and no radio map: no position is found by what is heard; add beacons, or survey the venue"
        return [VenueProblem(severity: .warning, path: "$.beacons", message: message)]
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
            let bytes = try files.read(Self.venueFile, limit: InputLimits.standard.venueFile)
            var (venue, parser) = Self.walk(bytes)
            for reference in parser.fileReferences where !files.contains(reference.file) {
                parser.report(
                    .error, reference.path, "the packet has no file \"\(reference.file)\"; add it or remove the field")
            }
            let radioMap = Self.radioMap(
                from: files, given: radioMap, beacons: venue?.beacons ?? [], parser: &parser)
            venue?.radioMap = radioMap
            if let venue, let problem = ModelSize.problem(of: venue) {
                parser.report(.error, problem.path, problem.message)
            }
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
        from files: any PacketFiles, given: String?, beacons: [VenueBeacon], parser: inout VenueParser
    ) -> RadioMap? {
        guard let file = given ?? parser.radioMapPath, given != nil || files.contains(file) else { return nil }
        do throws(PacketFileError) {
            let radioMap: RadioMap
            if let given {
                radioMap = try RadioMapFile.contents(of: given)
            } else {
                radioMap = try RadioMapFile.read(files.read(file, limit: InputLimits.standard.radioMap), named: file)
            }
            let maps = Set(radioMap.beacons.map(\.mapID) + radioMap.fingerprints.map(\.mapID))
            for map in maps.subtracting(parser.mapIDs).sorted() {
                parser.report(
                    .error, "$.radioMap", "\(file) is of another venue: there is no map \(map); survey this venue")
            }
            let known = Set(beacons.map(\.identity))
            if !known.isEmpty, !radioMap.beacons.isEmpty, known.isDisjoint(with: radioMap.beacons.map(\.identity)) {
                parser.report(
                    .warning, "$.radioMap", "\(file) has none of the venue's beacons; is it of another venue?")
            }
            return radioMap
        } catch {
            let place = error.path == "$" ? "" : error.path + ": "
            parser.report(.error, "$.radioMap", "\(file): \(place)\(error.message)")
            return nil
        }
    }

    /// A packet's files: those of a folder, or of a zip.
    func open(_ path: String) throws(PacketFileError) -> (VenuePacket.Storage, any PacketFiles) {
        guard !path.isEmpty else { throw PacketFileError(message: "the path is empty; give a packet's folder or zip") }
        var absolute = LocalPath.absolute(path)
        var isFolder = false
        guard FileManager.default.fileExists(atPath: absolute, isDirectory: &isFolder) else {
            if let refusal = LocalPath.refusal(absolute) { throw refusal }
            throw PacketFileError(message: "there is no \(absolute); give a packet's folder or zip")
        }
        if !isFolder, absolute.hasSuffix("/" + Self.venueFile) {
            absolute.removeLast(Self.venueFile.count + 1)
            isFolder = true
        }
        if isFolder { return (.folder(absolute), PacketFolder(path: absolute)) }
        guard !absolute.hasSuffix(".json") else {
            throw PacketFileError(
                message: "\(absolute) is not called \(Self.venueFile), as the document of a packet is; "
                    + "give a packet's folder or zip")
        }
        return (.zip(absolute), try PacketArchive(path: absolute))
    }
}
