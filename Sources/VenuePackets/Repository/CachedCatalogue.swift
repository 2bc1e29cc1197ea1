import FoundationEssentials

/// The server's latest catalogue, as the cache keeps it for a start without a network.
struct CachedCatalogue {
    /// The address of the server that it is of.
    var server: String
    /// The catalogue's tag on that server.
    var tag: EntityTag?
    /// Its document.
    var document: JSONTree

    private static let format = "indoor-localization-cached-catalogue"

    /// The catalogue of that server, if the cache has it.
    init?(of server: VenueServer, in cache: VenueCache) {
        guard let bytes = try? BoundedFile.read(Self.path(in: cache), limit: 2 * CatalogueDocument.limit),
            let tree = try? JSONTree(bytes), case .object(let fields) = tree,
            fields["format"] == .string(Self.format), fields["server"] == .string(server.url),
            let document = fields["catalogue"]
        else { return nil }
        self.server = server.url
        self.document = document
        if case .string(let text)? = fields["tag"] { tag = EntityTag(text) }
    }

    init(server: String, tag: EntityTag?, document: JSONTree) {
        self.server = server
        self.tag = tag
        self.document = document
    }

    private static func path(in cache: VenueCache) -> String { cache.path + "/" + VenueServer.catalogueFile }

    /// Puts it in the place of an earlier one.
    func store(in cache: VenueCache) throws(FileSystemError) {
        var fields: [String: JSONTree] = [
            "format": .string(Self.format), "server": .string(server), "catalogue": document,
        ]
        fields["tag"] = tag.map { .string($0.text) }
        let path = Self.path(in: cache)
        let bytes: [UInt8]
        do { bytes = [UInt8](try JSONEncoder().encode(JSONTree.object(fields))) } catch {
            throw FileSystemError(path: path, reason: "\(error)")
        }
        try cache.work.write(bytes, to: path)
    }
}
