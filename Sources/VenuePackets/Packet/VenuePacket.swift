import FoundationEssentials
import IndoorPositioning
import IndoorRouting
import IndoorVocabulary
import TextFormats
import VenueModel

/// A venue packet that was read: the venue, the location of its files, and warnings.
public struct VenuePacket: Hashable, Sendable {
    /// The container of the packet's files.
    package enum Storage: Hashable, Sendable {
        /// A folder, with its absolute path.
        case folder(String)
        /// A zip, with its absolute path.
        case zip(String)
    }

    /// The venue; its image and tile paths are relative to the packet, as written.
    public var venue: Venue
    /// The container of the packet's files.
    package var storage: Storage
    /// The path of the radio map within the packet; nil if there is none.
    package var radioMapPath: String?
    /// Probable mistakes that don't prevent the use of the packet.
    public var warnings: [VenueProblem]

    /// Returns the venue with paths of files that can be opened.
    ///
    /// The files of a folder get absolute paths. The image and tile files of a zip are unpacked into
    /// `unpackingFolder/ID-VERSION/`; without that folder, their paths are nil. The image of an interaction stays as
    /// written if it is an address, or a file that the packet lacks or that isn't unpacked.
    /// - Throws: `VenuePacketError` if a file cannot be unpacked.
    package func localVenue(unpackingInto unpackingFolder: String? = nil) throws(VenuePacketError) -> Venue {
        switch storage {
        case .folder(let path):
            return resolved(in: path)
        case .zip(let path):
            guard let unpackingFolder else { return resolved(in: nil) }
            let target = LocalPath.absolute(unpackingFolder) + "/\(venue.id)-\(venue.version)"
            do throws(PacketFileError) {
                try PacketArchive(path: path).unpack(venue.filePaths, into: target)
            } catch {
                throw VenuePacketError(file: path, message: error.message)
            }
            return resolved(in: target)
        }
    }

    private func resolved(in folder: String?) -> Venue {
        var venue = venue
        venue.maps = venue.maps.map { map in
            var map = map
            map.imagePath = map.imagePath.flatMap { path in folder.map { $0 + "/" + path } }
            map.tilesPath = map.tilesPath.flatMap { path in folder.map { $0 + "/" + path } }
            return map
        }
        venue.interactions = venue.interactions.map { interaction in
            var interaction = interaction
            interaction.contents = interaction.contents.map { $0.resolved(in: folder) }
            return interaction
        }
        return venue
    }
}

extension Interaction.Content {
    /// The path of the image within the packet, which may lack it; nil for an address, and for no image.
    fileprivate var imagePath: String? {
        guard let image, PacketPath.isInside(image), PacketPath.scheme(of: image) == nil else { return nil }
        return image == PacketPath.venueFile ? nil : image
    }

    /// Returns the content with the path of an image that can be opened, if the folder of the packet has it.
    ///
    /// An image that is neither an address nor a path within the packet is left out: no packet decides which other file
    /// of this machine is shown.
    fileprivate func resolved(in folder: String?) -> Interaction.Content {
        var content = self
        guard let image, !PacketPath.isAddress(image) else { return content }
        guard let imagePath else {
            content.image = nil
            return content
        }
        if let folder, PacketFolder(path: folder).contains(imagePath) { content.image = folder + "/" + imagePath }
        return content
    }
}

extension Venue {
    /// The paths within a packet of the images and tiles of the maps, without which a packet can't be used.
    var planPaths: Set<String> { Set(maps.flatMap { [$0.imagePath, $0.tilesPath] }.compactMap(\.self)) }

    /// The paths within a packet of the images of the interactions, which a packet may lack.
    var interactionImagePaths: Set<String> { Set(interactions.flatMap(\.contents).compactMap(\.imagePath)) }

    /// The paths within a packet of all files that a venue refers to, except the radio map.
    package var filePaths: Set<String> { planPaths.union(interactionImagePaths) }
}

extension VenuePacket {
    /// Copies the images and tiles of a venue's maps, and the images of its interactions, from this packet into a folder.
    ///
    /// Existing files are replaced, unless they are this packet's own files.
    /// - Throws: `VenuePacketError` if a file cannot be copied.
    public func copyPlans(of venue: Venue, toFolder folder: String) throws(VenuePacketError) {
        let names = venue.filePaths
        guard !names.isEmpty else { return }
        switch storage {
        case .zip(let path):
            do throws(PacketFileError) {
                try PacketArchive(path: path).unpack(names, into: LocalPath.absolute(folder), isPrivate: false)
            } catch {
                throw VenuePacketError(file: path, message: error.message)
            }
        case .folder(let path):
            let packet = PacketFolder(path: path)
            let required = venue.planPaths
            for name in names.sorted() where required.contains(name) || packet.contains(name) {
                try Self.copy(name, of: packet, to: LocalPath.absolute(folder) + "/" + name)
            }
        }
    }

    private static func copy(
        _ name: String, of packet: PacketFolder, to target: String
    ) throws(VenuePacketError) {
        let source: OpenFile
        do throws(PacketFileError) { source = try packet.open(name) } catch {
            throw VenuePacketError(file: packet.path, message: error.message)
        }
        if let there = try? OpenFile(regular: target), there.isSameFile(as: source) { return }
        if let size = try? source.size(), size > InputLimits.standard.image {
            throw VenuePacketError(file: source.path, message: "has \(size) bytes, more than a plan image may have")
        }
        do throws(FileSystemError) {
            try DiskFolder.create(DiskFolder.parent(of: target), mode: DiskFolder.openMode)
            try DiskFile.copy(source, to: target, mode: DiskFile.openMode)
        } catch {
            throw VenuePacketError(file: target, message: "cannot be written: \(error.reason)")
        }
    }
}

/// A reader that checks venue packets.
public struct VenuePacketReader: Sendable {
    /// Called with the size of each document in bytes before it is parsed.
    private let willParse: @Sendable (Int) -> Void

    /// Creates a reader.
    public init() { self.init { _ in } }

    /// Creates a reader that reports each document that it parses, so that a test can count them.
    package init(willParse: @escaping @Sendable (_ bytes: Int) -> Void) { self.willParse = willParse }

    /// Reads a packet: a folder, a zip of such a folder, or the `venue.json` in a folder.
    ///
    /// - Parameter radioMap: the path of a radio map on this machine that replaces the packet's own.
    /// - Throws: `VenuePacketError` with all problems if one of them is an error; problems of the given radio map have
    ///   the path `$.radioMap`.
    public func read(_ path: String, radioMap: String? = nil) throws(VenuePacketError) -> VenuePacket {
        let (packet, problems) = examine(path, radioMap: radioMap)
        return try Self.usable(packet, problems, file: path)
    }

    /// Returns all problems of a packet, errors and warnings: first those of the document in its order, then those of
    /// its files.
    ///
    /// If there is no error, the warnings also report a venue without beacons and radio map, and the rooms and points
    /// of interest that no path reaches on maps with paths.
    public func check(_ path: String) -> [VenueProblem] { checked(path).problems }

    /// Returns the result of `check(_:)`, and the venue; nil if there is an error.
    package func checked(_ path: String) -> (venue: Venue?, problems: [VenueProblem]) {
        Self.withAdvice(examine(path))
    }

    /// Returns the result of `checked(_:)` for a document that would replace the `venue.json` of a packet's folder.
    package func checked(
        _ document: [UInt8], inFolder folder: String
    ) -> (venue: Venue?, problems: [VenueProblem]) {
        Self.withAdvice(
            Self.packet(
                self.document(document), in: .folder(folder), PacketFolder(path: folder), radioMap: nil))
    }

    private static func withAdvice(
        _ examined: (packet: VenuePacket?, problems: [VenueProblem])
    ) -> (venue: Venue?, problems: [VenueProblem]) {
        let (packet, problems) = examined
        guard let venue = packet?.venue, !problems.contains(where: { $0.severity == .error }) else {
            return (nil, problems)
        }
        return (venue, problems + missingBeacons(of: venue) + unknownInterior(of: venue) + unreachedPlaces(of: venue))
    }

    /// Returns a warning if a venue has neither beacons, receivers, anchors nor a radio map.
    private static func missingBeacons(of venue: Venue) -> [VenueProblem] {
        guard venue.beacons.isEmpty, venue.receivers.isEmpty, venue.anchors.isEmpty, venue.radioMap == nil else {
            return []
        }
        let message =
            "there is none, and no radio map: no position can be estimated from beacons; add them, or survey the venue"
        return [VenueProblem(severity: .warning, path: "$.beacons", message: message)]
    }

    /// Returns a warning for each map with beacons of which nothing says where the inside is.
    private static func unknownInterior(of venue: Venue) -> [VenueProblem] {
        let unknown = Set(MapInterior.unknown(in: venue).map(\.id))
        let equipped = Set(venue.beacons.map(\.mapID))
        return venue.maps.enumerated().compactMap { index, map in
            guard unknown.contains(map.id), equipped.contains(map.id) else { return nil }
            let message =
                "nothing says where the inside of the building is; add rooms, walls or walkable areas, so that 'plot coverage' "
                + "proposes no beacon outside"
            return VenueProblem(severity: .warning, path: "$.maps[\(index)]", message: message)
        }
    }

    /// Checks a document without the files that it refers to.
    package static func parse(_ bytes: [UInt8]) -> (venue: Venue?, problems: [VenueProblem]) {
        let document = VenuePacketReader().document(bytes)
        return (document.venue, document.parser.problems)
    }

    /// A packet's `venue.json`, parsed.
    struct Document {
        let bytes: [UInt8]
        /// The venue without its radio map; nil if a field that every venue needs is invalid.
        var venue: Venue?
        /// The problems, and the files that the document refers to.
        var parser: VenueParser
    }

    /// Returns the names of the radio maps in a packet's folder if its document refers to none; empty for a zip.
    package func unusedRadioMaps(_ path: String) -> [String] {
        let folder = PacketFolder(path: LocalPath.absolute(path))
        guard let document = try? document(of: folder), document.parser.radioMapPath == nil else { return [] }
        return RadioMapFile.all(inFolder: folder.path).map(\.name)
    }

    /// Reads and parses the document of a packet, without the files that it refers to.
    func document(of files: any PacketFiles) throws(PacketFileError) -> Document {
        document(try files.read(PacketPath.venueFile, limit: InputLimits.standard.venueFile))
    }

    private func document(_ bytes: [UInt8]) -> Document {
        willParse(bytes.count)
        var parser = VenueParser()
        do {
            let venue = parser.venue(try JSONTree(bytes))
            return Document(bytes: bytes, venue: venue, parser: parser)
        } catch {
            parser.report(.error, "$", "\(PacketPath.venueFile) \(error.message)")
            return Document(bytes: bytes, venue: nil, parser: parser)
        }
    }

    private func examine(
        _ path: String, radioMap: String? = nil
    ) -> (packet: VenuePacket?, problems: [VenueProblem]) {
        do throws(PacketFileError) {
            let (storage, files) = try open(path)
            return Self.packet(try document(of: files), in: storage, files, radioMap: radioMap)
        } catch {
            return (nil, [VenueProblem(severity: .error, path: "$", message: error.message)])
        }
    }

    /// Returns the packet of a parsed document after a check of its files.
    ///
    /// - Throws: `VenuePacketError` as `read(_:radioMap:)`.
    static func packet(
        _ document: Document, inFolder folder: String
    ) throws(VenuePacketError) -> VenuePacket {
        let (packet, problems) = packet(document, in: .folder(folder), PacketFolder(path: folder), radioMap: nil)
        return try usable(packet, problems, file: folder)
    }

    private static func usable(
        _ packet: VenuePacket?, _ problems: [VenueProblem], file: String
    ) throws(VenuePacketError) -> VenuePacket {
        guard let packet, !problems.contains(where: { $0.severity == .error }) else {
            throw VenuePacketError(file: file, problems: problems)
        }
        return packet
    }

    private static func packet(
        _ document: Document, in storage: VenuePacket.Storage, _ files: any PacketFiles, radioMap given: String?
    ) -> (packet: VenuePacket?, problems: [VenueProblem]) {
        var (venue, parser) = (document.venue, document.parser)
        for reference in parser.fileReferences where !files.contains(reference.file) {
            let refusal = files.refusal(of: reference.file).map { "the packet's file \"\(reference.file)\" \($0)" }
            parser.report(
                reference.isRequired ? .error : .warning, reference.path,
                refusal ?? "the packet has no file \"\(reference.file)\"; add it or remove the field")
        }
        let radioMap = radioMap(from: files, given: given, known: Self.identities(of: venue), parser: &parser)
        venue?.radioMap = radioMap
        if let venue, let problem = ModelSize.problem(of: venue) {
            parser.report(.error, problem.path, problem.message)
        } else if let venue, !venue.receivers.isEmpty, let problem = ModelSize.problem(of: venue.forTags) {
            parser.report(.error, problem.path, problem.message)
        }
        guard let venue else { return (nil, parser.problems) }
        let packet = VenuePacket(
            venue: venue, storage: storage, radioMapPath: parser.radioMapPath, warnings: parser.problems)
        return (packet, parser.problems)
    }

    /// Returns the identities of all beacons and receivers.
    private static func identities(of venue: Venue?) -> Set<BeaconIdentity> {
        guard let venue else { return [] }
        return Set(venue.beacons.map(\.identity) + venue.receivers.map(\.identity))
    }

    /// Returns the given radio map or else the packet's own; nil if there is none or it is invalid.
    private static func radioMap(
        from files: any PacketFiles, given: String?, known: Set<BeaconIdentity>, parser: inout VenueParser
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
                    .error, "$.radioMap", "\(file) is for another venue: there is no map \(map); survey this venue")
            }
            if !known.isEmpty, !radioMap.beacons.isEmpty, known.isDisjoint(with: radioMap.beacons.map(\.identity)) {
                parser.report(
                    .warning, "$.radioMap", "\(file) has none of the venue's beacons; is it for another venue?")
            }
            return radioMap
        } catch {
            let place = error.path == "$" ? "" : error.path + ": "
            parser.report(.error, "$.radioMap", "\(file): \(place)\(error.message)")
            return nil
        }
    }

    /// Opens a packet's files, in a folder or a zip.
    func open(_ path: String) throws(PacketFileError) -> (VenuePacket.Storage, any PacketFiles) {
        guard !path.isEmpty else { throw PacketFileError(message: "the path is empty; give a packet's folder or zip") }
        var absolute = LocalPath.absolute(path)
        var isFolder = false
        guard FileManager.default.fileExists(atPath: absolute, isDirectory: &isFolder) else {
            if let refusal = LocalPath.refusal(absolute) { throw PacketFileError(message: refusal) }
            throw PacketFileError(message: "there is no \(absolute); give a packet's folder or zip")
        }
        if !isFolder, absolute.hasSuffix("/" + PacketPath.venueFile) {
            absolute.removeLast(PacketPath.venueFile.count + 1)
            isFolder = true
        }
        if isFolder { return (.folder(absolute), PacketFolder(path: absolute)) }
        guard !absolute.hasSuffix(".json") else {
            throw PacketFileError(
                message: "\(absolute) is not named \(PacketPath.venueFile); "
                    + "give a packet's folder or zip")
        }
        return (.zip(absolute), try PacketArchive(path: absolute))
    }
}

extension VenuePacketReader {
    /// Returns a warning for each room and point of interest that no path reaches, in a venue without errors.
    static func unreachedPlaces(of venue: Venue) -> [VenueProblem] {
        guard let coverage = PathCoverage(venue: venue) else { return [] }
        let rooms = venue.rooms.enumerated().compactMap { index, room in
            coverage.gap(of: room).map { problem("$.rooms[\(index)]", room.name, $0) }
        }
        let points = venue.pointsOfInterest.enumerated().compactMap { index, point in
            coverage.gap(of: point).map { problem("$.pois[\(index)]", point.name, $0) }
        }
        return rooms + points
    }

    private static func problem(_ path: String, _ name: String, _ gap: PathCoverage.Gap) -> VenueProblem {
        let reason =
            switch gap {
            case .noWay(let limit): "its map has none within \(Int(limit)) m; add one that leads there"
            case .behindWall: "a wall is in between; add one through the door, or open the wall there"
            case .apart: "the paths near it are not connected to the others; add an edge that connects them"
            }
        return VenueProblem(severity: .warning, path: path, message: "no path reaches \(name): \(reason)")
    }
}

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
    package static func write(_ bytes: [UInt8], to path: String) throws(VenuePacketError) {
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
