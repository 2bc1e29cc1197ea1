import IndoorVocabulary

/// A source of venue packets, such as a folder, a cache or a server.
public protocol VenueSource: Sendable {
    /// Returns the information to recognise each venue without its packet.
    ///
    /// - Throws: An error if the catalogue can't be read.
    func catalogue() async throws -> [VenueSummary]

    /// Returns the packet of a venue.
    ///
    /// - Parameters:
    ///   - id: The ID of the venue.
    ///   - progress: A closure called with the loaded fraction, from 0 to 1, never decreasing.
    /// - Throws: An error if the packet is unavailable.
    func packet(for id: VenueID, progress: @escaping @Sendable (Double) -> Void) async throws -> Venue

    /// Updates of earlier responses, from now on. Each access returns a separate stream.
    ///
    /// A source that responds from a cache reports later results from the server here. The default stream is empty.
    var updates: AsyncStream<VenueUpdate> { get }
}

extension VenueSource {
    public var updates: AsyncStream<VenueUpdate> { AsyncStream { $0.finish() } }
}

/// An update from a venue source.
public enum VenueUpdate: Hashable, Sendable {
    /// The new catalogue of venues.
    case catalogue([VenueSummary])
    /// A newer version of a venue is stored. A session uses it when it next enters the venue.
    case packet(Venue)
    /// An operation failed after the source had responded. If the error's code ends sessions, the session ends.
    case failure(LocalizationError)
}

/// The information to recognise a venue without its packet.
public struct VenueSummary: Hashable, Sendable {
    /// The ID of the venue.
    public var id: VenueID
    /// The display name.
    public var name: String
    /// The edition of the packet.
    public var version: Int
    /// The venue's centre; nil if it is not georeferenced.
    public var coordinate: Coordinate?
    /// The radius in metres around `coordinate` that contains the venue; nil if unknown.
    public var radius: Double?
    /// The beacons that are only in this venue, and its anchors.
    public var regions: Set<BeaconRegion>
    /// The beacons that are known by their device address, alone or in addition to their identity.
    public var addresses: [DeviceAddress: BeaconIdentity]

    /// Creates a summary.
    public init(
        id: VenueID, name: String, version: Int, coordinate: Coordinate? = nil, radius: Double? = nil,
        regions: Set<BeaconRegion>, addresses: [DeviceAddress: BeaconIdentity] = [:]
    ) {
        self.id = id
        self.name = name
        self.version = version
        self.coordinate = coordinate
        self.radius = radius
        self.regions = regions
        self.addresses = addresses
    }

    /// Creates the summary of a packet, with a region for each beacon and anchor of the packet and for each beacon of its
    /// radio map.
    package init(of venue: Venue) {
        let addressed = venue.beacons.compactMap { beacon in beacon.address.map { ($0, beacon.identity) } }
        let surveyed = venue.radioMap?.beacons.map(\.identity) ?? []
        let identities = venue.beacons.map(\.identity) + surveyed + venue.anchors.map(\.identity)
        self.init(
            id: venue.id, name: venue.name, version: venue.version, coordinate: venue.coordinate,
            radius: venue.radius, regions: Set(identities.map(BeaconRegion.init)),
            addresses: Dictionary(addressed) { first, _ in first })
    }
}

/// A venue source with packets in memory.
public struct VenueLibrary: VenueSource, Hashable {
    /// The venues, in the order of the catalogue.
    public let venues: [Venue]

    /// Creates a source of venues. If several have the same ID, the source uses the first.
    public init(_ venues: [Venue]) {
        var known: Set<VenueID> = []
        self.venues = venues.filter { known.insert($0.id).inserted }
    }

    public func catalogue() -> [VenueSummary] { venues.map(VenueSummary.init(of:)) }

    /// Returns the packet of a venue immediately.
    ///
    /// - Throws: `LocalizationError` with code `generic` if there is no such venue.
    public func packet(
        for id: VenueID, progress: @escaping @Sendable (Double) -> Void
    ) throws(LocalizationError) -> Venue {
        guard let venue = venues.first(where: { $0.id == id }) else {
            throw LocalizationError(
                code: .generic, message: "there is no packet of venue \(id); add it to the source's venues",
                kind: .contentUnavailable)
        }
        progress(1)
        return venue
    }
}
