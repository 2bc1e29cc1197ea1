import FoundationEssentials
import Glibc
import IndoorVocabulary
import TextFormats
import VenueModel

/// The folder of a packet that gets new editions with radio maps, each of which can be taken back.
///
/// An edition differs from the one before in its version and its radio map. The earlier document stays beside it, as
/// `venue-edition-VERSION.json`, and the name of the new radio map has the version of the earlier edition. The document is
/// replaced last, so that the packet is valid after a kill at any instant.
package struct SurveyedPacket: Sendable {
    /// A reason why the packet stays as it is.
    package enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// Another program is saving the packet.
        case isBusy
        /// The document isn't the one that is in use.
        case isChanged
        /// The edition that is in use isn't one with a radio map of a survey, or the one before it is missing.
        case hasNoEarlierEdition
        /// The packet with the radio map would be invalid.
        case isInvalid(String)
        /// A file can't be read.
        case isUnreadable(String)
        /// A file can't be written.
        case isUnwritable(FileSystemError)

        package var description: String {
            switch self {
            case .isBusy: "Another program is saving the packet. Try again."
            case .isChanged:
                "venue.json was changed by another program. Start this one again, so that it uses the change, and then try "
                    + "again."
            case .hasNoEarlierEdition: "There is no earlier edition of the packet to take back."
            case .isInvalid(let reason): "The packet would be invalid: \(reason)"
            case .isUnreadable(let reason): "The packet can't be read: \(reason)"
            case .isUnwritable(let error):
                "The packet can't be written: \(error). It is unchanged. Let the user of this program write the folder, or "
                    + "free some space on its disk, and then try again."
            }
        }
    }

    /// An edition of the packet.
    package struct Edition: Hashable, Sendable {
        /// The venue with its radio map.
        package var venue: Venue
        /// The version of the edition before; nil if there is none to take back.
        package var previous: Int?
        /// The hash of the document of a survey's radio map, by the name of its file; nil without such a map.
        package var mapHash: String?

        /// Creates an edition.
        package init(venue: Venue, previous: Int?, mapHash: String? = nil) {
            (self.venue, self.previous, self.mapHash) = (venue, previous, mapHash)
        }
    }

    private static let limit = InputLimits.standard.venueFile
    private static let mapStem = "survey-of-edition-"
    /// The maximum number of editions between the current one and the one before all surveys.
    private static let mostEditions = 1_000

    private let folder: String

    /// Creates the packet of a folder.
    package init(folder: String) { self.folder = folder }

    /// A document, parsed.
    private struct Document {
        let bytes: [UInt8]
        var fields: [String: JSONTree]

        /// The version of the edition before, by the name of the radio map; nil without a radio map of a survey.
        var previous: Int? { mapName.flatMap { Int($0.prefix { $0 != "-" }) } }

        var mapHash: String? {
            mapName.map { String($0.drop { $0 != "-" }.dropFirst().prefix { $0 != "." }) }
        }

        /// The name of a survey's radio map without what all have in common; nil without such a map.
        private var mapName: Substring? {
            guard case .string(let name) = fields["radioMap"], name.hasPrefix(mapStem) else { return nil }
            return name.dropFirst(mapStem.count)
        }

        /// What all editions of surveys have in common.
        var rest: [String: JSONTree] { fields.filter { !["radioMap", "version"].contains($0.key) } }

        init(_ bytes: [UInt8]) throws(Problem) {
            self.bytes = bytes
            guard case .object(let fields) = try? JSONTree(bytes) else {
                throw .isUnreadable("\(PacketPath.venueFile) is not a JSON object")
            }
            self.fields = fields
        }
    }

    private func document(_ name: String = PacketPath.venueFile) throws(Problem) -> Document {
        let bytes: [UInt8]
        do throws(BoundedFileError) { bytes = try BoundedFile.read(name, below: folder, limit: Self.limit) } catch {
            throw .isUnreadable("\(name) \(error)")
        }
        return try Document(bytes)
    }

    private static func name(ofEdition version: Int) -> String { "venue-edition-\(version).json" }

    private func venue(of document: Document) throws(Problem) -> Venue {
        let (venue, problems) = VenuePacketReader().checked(document.bytes, inFolder: folder)
        guard let venue else {
            throw .isInvalid(problems.first { $0.severity == .error }.map { "\($0.path) \($0.message)" } ?? "")
        }
        return venue
    }

    /// Returns the document before the survey to which a document belongs; nil without such a survey, or if the earlier
    /// document is missing or differs in more than its radio map.
    private func earlier(than document: Document) -> Document? {
        guard let version = document.previous, let found = try? self.document(Self.name(ofEdition: version)),
            found.rest == document.rest, found.fields["version"] == .number(Double(version))
        else { return nil }
        return found
    }

    /// The current edition.
    package var current: Edition {
        get throws(Problem) {
            let document = try document()
            return Edition(
                venue: try venue(of: document), previous: earlier(than: document) == nil ? nil : document.previous,
                mapHash: document.mapHash)
        }
    }

    /// The venue before all radio maps that this type has written; without a radio map if its edition is missing.
    package var unsurveyed: Venue {
        get throws(Problem) {
            var document = try document()
            for _ in 0..<Self.mostEditions {
                guard document.previous != nil else { break }
                guard let earlier = earlier(than: document) else {
                    document.fields["radioMap"] = nil
                    document = try Document(JSONTree.object(document.fields).lines())
                    break
                }
                document = earlier
            }
            return try venue(of: document)
        }
    }

    /// Writes an edition with a radio map.
    ///
    /// - Parameter used: the venue that is in use, of which this is the next edition.
    /// - Returns: the new edition.
    /// - Throws: `Problem`; then the packet is unchanged.
    package func adopt(_ map: RadioMap, after used: Venue) throws(Problem) -> Edition {
        try changing { [self] document, files throws(Problem) in
            guard try venue(of: document) == used else { throw .isChanged }
            let content: [UInt8]
            do throws(RadioMapFileError) { content = try Self.content(of: map) } catch { throw .isInvalid("\(error)") }
            let name = "\(Self.mapStem)\(used.version)-\(Self.hash(of: content)).json.gz"
            try write(content, to: name, &files)
            var next = document
            next.fields["radioMap"] = .string(name)
            next.fields["version"] = .number(Double(nextVersion(after: used.version)))
            return try Document(JSONTree.object(next.fields).lines())
        }
    }

    /// Returns the hash of a radio map's document; nil if no packet can have the map.
    package static func hash(of map: RadioMap) -> String? { (try? content(of: map)).map(hash(of:)) }

    private static func hash(of content: [UInt8]) -> String { String(FNVHash.hash(of: content), radix: 16) }

    private static func content(of map: RadioMap) throws(RadioMapFileError) -> [UInt8] {
        try RadioMapFile.document(of: map, named: "survey.json.gz")
    }

    /// Writes the edition before the current one again.
    ///
    /// - Parameter used: the venue that is in use.
    /// - Returns: the edition that is now the current one.
    /// - Throws: `Problem`; then the packet is unchanged.
    package func takeBack(from used: Venue) throws(Problem) -> Edition {
        try changing { [self] document, _ throws(Problem) in
            guard try venue(of: document) == used else { throw .isChanged }
            guard let earlier = earlier(than: document) else { throw .hasNoEarlierEdition }
            return earlier
        }
    }

    /// Replaces the document, and keeps it beside the new one.
    ///
    /// - Parameter next: returns the new document. It notes files that it writes.
    private func changing(
        _ next: (Document, inout PlacedFiles) throws(Problem) -> Document
    ) throws(Problem) -> Edition {
        let lock: OpenFile
        do throws(FileSystemError) { lock = try OpenFile(folder, O_RDONLY | O_DIRECTORY) } catch {
            throw .isUnreadable("its folder: \(error.reason)")
        }
        guard lock.lock() else { throw .isBusy }
        defer { withExtendedLifetime(lock) {} }
        let document = try document()
        var files = PlacedFiles()
        do throws(Problem) {
            let new = try next(document, &files)
            _ = try venue(of: new)
            if case .number(let version) = document.fields["version"], let number = Int(exactly: version) {
                try write(document.bytes, to: Self.name(ofEdition: number), &files)
            }
            try write(new.bytes, to: PacketPath.venueFile, &files)
        } catch {
            // After the replacement of the document, only its folder can have failed: then it refers to the files.
            if (try? self.document().bytes) == document.bytes { files.remove() }
            throw error
        }
        return try current
    }

    private func write(_ bytes: [UInt8], to name: String, _ files: inout PlacedFiles) throws(Problem) {
        let path = folder + "/" + name
        files.note(path)
        do throws(FileSystemError) { try DiskFile.replace(path, with: bytes) } catch {
            // Everyone in the network can see the page, which needn't have the paths of this machine.
            throw .isUnwritable(FileSystemError(path: name, reason: error.reason))
        }
    }

    /// Returns a version that no edition in the folder has.
    private func nextVersion(after version: Int) -> Int {
        let kept = DiskFolder.names(in: folder).compactMap { name -> Int? in
            let parts = name.split(separator: "-")
            guard parts.count == 3, parts[0] == "venue", parts[1] == "edition" else { return nil }
            return parts[2].hasSuffix(".json") ? Int(parts[2].dropLast(5)) : nil
        }
        return 1 + max(version, kept.max() ?? 0)
    }
}
