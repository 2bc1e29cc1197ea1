import IndoorVocabulary
import VenueModel

/// What the cache notes beside a packet.
struct StoredRecord: Hashable, Sendable {
    /// What is needed to recognise the venue.
    var summary: VenueSummary
    /// Where on a server the packet's zip was; nil for a bundled packet.
    var packetPath: String?
    /// The tag of that zip.
    var tag: EntityTag?
    /// Digests of the files that were not in the zip, by their path within the packet.
    var digests: [String: String] = [:]

    /// The note as a document.
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

    /// Reads a note; nil for anything else.
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

/// A packet in the cache, which nobody removes for as long as this value lives.
struct StoredVersion: Sendable {
    /// The lock that keeps it there.
    let folder: OpenFile
    let record: StoredRecord

    var id: VenueID { record.summary.id }
    var version: Int { record.summary.version }
    /// The folder with the packet's files.
    var packetPath: String { folder.path + "/" + VenueCache.packetFolder }

    /// The venue, with paths that can be opened.
    ///
    /// - Throws: `.brokenPacket` if files were changed or removed.
    func venue() throws(VenueRepositoryError) -> Venue {
        do throws(VenuePacketError) {
            return try VenuePacketReader().read(packetPath).localVenue()
        } catch {
            throw .brokenPacket(source: packetPath, problems: error.problems)
        }
    }
}
