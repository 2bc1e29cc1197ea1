import IndoorVocabulary
import VenueModel

/// A venue source of packets on this machine, each a folder or a zip.
///
/// A packet is read when it is first needed, and then kept.
public actor LocalVenueSource: VenueSource {
    private let paths: [String]
    private let unpackingFolder: String?
    private var venues: [Venue]?

    /// Creates a source of the packets at these paths.
    ///
    /// - Parameter unpackingFolder: the folder for the unpacked images and tiles of zips; without it, these have no
    ///   path.
    public init(paths: [String], unpackingFolder: String? = nil) {
        self.paths = paths
        self.unpackingFolder = unpackingFolder
    }

    /// Returns the summary of each venue, in the order of the paths.
    ///
    /// - Throws: `LocalizationError` with code `critical` if a packet cannot be used or two packets have the same id: a
    ///   retry doesn't help with local files.
    public func catalogue() throws(LocalizationError) -> [VenueSummary] {
        try load().map(VenueSummary.init(of:))
    }

    /// Returns the packet of a venue.
    ///
    /// - Throws: `LocalizationError` with code `generic` if no packet is of this venue; otherwise as `catalogue()`.
    public func packet(
        for id: VenueID, progress: @escaping @Sendable (Double) -> Void
    ) throws(LocalizationError) -> Venue {
        progress(0)
        guard let venue = try load().first(where: { $0.id == id }) else {
            throw LocalizationError(
                code: .generic, message: "none of the packets \(paths.joined(separator: ", ")) is for venue \(id)",
                kind: .contentUnavailable)
        }
        progress(1)
        return venue
    }

    private func load() throws(LocalizationError) -> [Venue] {
        if let venues { return venues }
        var loaded: [Venue] = []
        for path in paths {
            let venue = try read(path)
            if let index = loaded.firstIndex(where: { $0.id == venue.id }) {
                throw LocalizationError(
                    code: .critical,
                    message: "\(paths[index]) and \(path) are both for venue \(venue.id); give each its own id",
                    kind: .badResponse)
            }
            loaded.append(venue)
        }
        venues = loaded
        return loaded
    }

    private func read(_ path: String) throws(LocalizationError) -> Venue {
        do throws(VenuePacketError) {
            return try VenuePacketReader().read(path).localVenue(unpackingInto: unpackingFolder)
        } catch {
            throw LocalizationError(
                code: .critical, message: "the venue packet \(path) cannot be used; correct it", cause: "\(error)",
                kind: error.kind)
        }
    }
}
