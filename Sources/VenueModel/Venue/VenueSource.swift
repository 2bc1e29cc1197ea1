import IndoorVocabulary

/// Where venue packets come from: a folder, a cache, a server.
public protocol VenueSource: Sendable {
    /// What is needed to recognise each venue without having its packet.
    ///
    /// - Throws: whatever made the catalogue unreadable.
    func catalogue() async throws -> [VenueSummary]

    /// The packet of a venue.
    ///
    /// - Parameters:
    ///   - id: the venue's number.
    ///   - progress: called with the fraction that is there, from 0 to 1, never decreasing.
    /// - Throws: whatever made the packet unavailable.
    func packet(for id: VenueID, progress: @escaping @Sendable (Double) -> Void) async throws -> Venue

    /// What becomes known after an answer was given, from now on; each call gives a stream of its own.
    ///
    /// A source that answers from a cache tells here what the server says later. By default there is nothing.
    var updates: AsyncStream<VenueUpdate> { get }
}

extension VenueSource {
    public var updates: AsyncStream<VenueUpdate> { AsyncStream { $0.finish() } }
}

/// What a venue source tells without being asked.
public enum VenueUpdate: Hashable, Sendable {
    /// The venues that can be recognised from now on.
    case catalogue([VenueSummary])
    /// A newer version of a venue is stored: it counts from the next time that the venue is entered.
    case packet(Venue)
    /// Something failed although the source had an answer. An error that ends a session ends it.
    case failure(LocalizationError)
}

/// What is needed to recognise a venue without having its packet.
public struct VenueSummary: Hashable, Sendable {
    /// The number that names the venue.
    public var id: VenueID
    /// The name for people.
    public var name: String
    /// The edition of the packet.
    public var version: Int
    /// The venue's centre; nil if it is not georeferenced.
    public var coordinate: Coordinate?
    /// Radius in metres around `coordinate` that contains the venue; nil if unknown.
    public var radius: Double?
    /// Beacons that stand in this venue and nowhere else.
    public var regions: Set<BeaconRegion>
    /// Beacons that are known by the device address of their transmitter, too.
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

    /// The summary of a packet: each of its beacons, and each that its radio map knows, is a region of its own.
    public init(of venue: Venue) {
        let addressed = venue.beacons.compactMap { beacon in beacon.address.map { ($0, beacon.identity) } }
        let identities = venue.beacons.map(\.identity) + (venue.radioMap?.beacons.map(\.identity) ?? [])
        self.init(
            id: venue.id, name: venue.name, version: venue.version, coordinate: venue.coordinate,
            radius: venue.radius, regions: Set(identities.map(BeaconRegion.init)),
            addresses: Dictionary(addressed) { first, _ in first })
    }
}
