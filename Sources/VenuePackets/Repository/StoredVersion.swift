import IndoorVocabulary
import TextFormats
import VenueModel

/// The record that the cache stores with a packet.
struct StoredRecord: Hashable, Sendable {
    /// The data by which a session recognizes the venue.
    var summary: VenueSummary
    /// The path of the packet's zip on the server; nil for a bundled packet.
    var packetPath: String?
    /// The entity tag of that zip.
    var tag: EntityTag?
    /// The digests of the files that were not in the zip, by their path within the packet.
    var digests: [String: String] = [:]

    /// The record as a document.
    var tree: JSONTree {
        var fields = CatalogueDocument.fields(summary)
        fields["packet"] = packetPath.map(JSONTree.string)
        fields["tag"] = tag.map { .string($0.text) }
        fields["digests"] = .object(digests.mapValues(JSONTree.string))
        return .object(fields)
    }

    init(summary: VenueSummary, packetPath: String? = nil, tag: EntityTag? = nil, digests: [String: String] = [:]) {
        self.summary = summary
        self.packetPath = packetPath
        self.tag = tag
        self.digests = digests
    }

    /// Parses a record; nil for any other document.
    init?(_ bytes: [UInt8]) {
        guard let document = try? JSONTree(bytes), case .object(let fields) = document else { return nil }
        var parser = VenueParser()
        let object = JSONObject(fields: fields, path: "$")
        let id = parser.integer("id", of: object, .identifier)
        guard let summary = parser.summary(of: object, id: id), parser.problems.isEmpty else { return nil }
        self.summary = summary
        if case .string(let path)? = object["packet"] { packetPath = path }
        if case .string(let text)? = object["tag"] { tag = EntityTag(text) }
        guard case .object(let digests)? = object["digests"] else { return }
        for (name, digest) in digests {
            if case .string(let text) = digest { self.digests[name] = text }
        }
    }
}

/// A packet in the cache, which isn't removed during the lifetime of this value.
struct StoredVersion: Sendable {
    /// The locked folder.
    let folder: OpenFile
    let record: StoredRecord
    /// The venue that was parsed when this packet was installed; nil if the packet was already stored.
    var installedVenue: Venue?

    var id: VenueID { record.summary.id }
    var version: Int { record.summary.version }
    /// The folder with the packet's files.
    var packetPath: String { folder.path + "/" + VenueCache.packetFolder }

    /// Returns the venue with paths of files that can be opened; a venue that was just installed isn't parsed again.
    ///
    /// - Throws: `.brokenPacket` if files were changed or removed.
    func venue(_ reader: VenuePacketReader) throws(VenueRepositoryError) -> Venue {
        do throws(VenuePacketError) {
            guard let installedVenue else { return try reader.read(packetPath).localVenue() }
            return try VenuePacket(venue: installedVenue, storage: .folder(packetPath), warnings: []).localVenue()
        } catch {
            throw .brokenPacket(source: packetPath, problems: error.problems)
        }
    }
}
