import FoundationEssentials
import TextFormats

/// The server's latest catalogue in the cache, for a start without a network.
struct CachedCatalogue {
    /// The URL of its server.
    var server: String
    /// The catalogue's entity tag.
    var tag: EntityTag?
    /// The catalogue's document.
    var document: JSONTree

    private static let format = "indoor-localization-cached-catalogue"

    /// Loads the catalogue of a server; nil if the cache doesn't have it.
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

    /// Stores the catalogue and replaces an earlier one.
    func store(in cache: VenueCache) throws(FileSystemError) {
        var fields: [String: JSONTree] = [
            "format": .string(Self.format), "server": .string(server), "catalogue": document,
        ]
        fields["tag"] = tag.map { .string($0.text) }
        try cache.work.write(JSONTree.object(fields).line(), to: Self.path(in: cache))
    }
}
