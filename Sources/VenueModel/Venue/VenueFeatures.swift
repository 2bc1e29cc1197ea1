import IndoorVocabulary

/// A beacon of a venue with its place.
public struct VenueBeacon: Hashable, Sendable {
    /// The identity of the beacon.
    public var identity: BeaconIdentity
    /// The kind of name that the packet has for it.
    public var naming: BeaconNaming
    /// Its device address; nil if unknown.
    public var address: DeviceAddress?
    /// The map of the beacon.
    public var mapID: MapID
    /// The point on the map.
    public var point: MapPoint
    /// The height above the floor in metres; nil if unknown.
    public var z: Double?
    /// The signal strength at 1 m in dBm; nil if unknown.
    public var measuredPower: Double?
    /// The path-loss exponent (2 in free space); nil if unknown.
    public var pathLossExponent: Double?

    /// Creates a beacon from its parts without checking them.
    public init(
        identity: BeaconIdentity, naming: BeaconNaming = .uuid, address: DeviceAddress? = nil, mapID: MapID,
        point: MapPoint, z: Double? = nil, measuredPower: Double? = nil, pathLossExponent: Double? = nil
    ) {
        self.identity = identity
        self.naming = naming
        self.address = address
        self.mapID = mapID
        self.point = point
        self.z = z
        self.measuredPower = measuredPower
        self.pathLossExponent = pathLossExponent
    }
}

/// An area of a map.
public enum Area: Hashable, Sendable {
    /// All points within `radius` metres of `center`.
    case circle(center: MapPoint, radius: Double)
    /// The inside of a polygon; the last point is connected to the first.
    case polygon([MapPoint])

    /// Returns whether a point is inside or, for a circle, on the edge. The time is linear in the number of corners.
    public func contains(_ point: MapPoint) -> Bool {
        switch self {
        case .circle(let center, let radius):
            return center.distance(to: point) <= radius
        case .polygon(let corners):
            // Even-odd rule: a ray to the right crosses the outline an odd number of times.
            guard var previous = corners.last else { return false }
            var inside = false
            for corner in corners {
                if (corner.y > point.y) != (previous.y > point.y),
                    point.x < (previous.x - corner.x) * (point.y - corner.y) / (previous.y - corner.y) + corner.x
                {
                    inside.toggle()
                }
                previous = corner
            }
            return inside
        }
    }
}

/// A room. Its name labels the positions within it.
public struct Room: Hashable, Sendable {
    /// The ID of the room within its venue.
    public var id: Int
    /// The label of positions within the room.
    public var name: String
    /// The map of the room.
    public var mapID: MapID
    /// Its shape; nil if the room is known only from training.
    public var area: Area?

    /// Creates a room.
    public init(id: Int, name: String, mapID: MapID, area: Area? = nil) {
        self.id = id
        self.name = name
        self.mapID = mapID
        self.area = area
    }
}

/// A point of interest.
public struct PointOfInterest: Hashable, Sendable {
    /// The ID within its venue.
    public var id: Int
    /// The display name.
    public var name: String
    /// A longer text; nil if there is none.
    public var description: String?
    /// The map.
    public var mapID: MapID
    /// The point on the map.
    public var point: MapPoint
    /// Custom content of the venue's owner.
    public var payload: JSONValue?

    /// Creates a point of interest.
    public init(
        id: Int, name: String, description: String? = nil, mapID: MapID, point: MapPoint, payload: JSONValue? = nil
    ) {
        self.id = id
        self.name = name
        self.description = description
        self.mapID = mapID
        self.point = point
        self.payload = payload
    }
}

/// A geofence of a venue, with events for entry and exit.
public struct Fence: Hashable, Sendable {
    /// The ID within its venue.
    public var id: Int
    /// The display name.
    public var name: String
    /// The map.
    public var mapID: MapID
    /// Its shape.
    public var area: Area
    /// How long after an exit the session doesn't report entry; nil for the session's `fenceTimeout`.
    public var timeout: Duration?
    /// How long the device must be outside before the session reports the exit, from 0 s; nil for the session's
    /// `areaDwell`.
    public var exitDelay: Duration?
    /// The distance in metres outside the area within which the device remains inside, from 0; nil means 0.
    public var exitMargin: Double?
    /// Custom content of the venue's owner.
    public var payload: JSONValue?

    /// Creates a fence.
    public init(
        id: Int, name: String, mapID: MapID, area: Area, timeout: Duration? = nil, exitDelay: Duration? = nil,
        exitMargin: Double? = nil, payload: JSONValue? = nil
    ) {
        self.id = id
        self.name = name
        self.mapID = mapID
        self.area = area
        self.timeout = timeout
        self.exitDelay = exitDelay
        self.exitMargin = exitMargin
        self.payload = payload
    }
}

/// The graph of walkable paths across all floors.
public struct PathGraph: Hashable, Sendable {
    /// A place where paths meet or end.
    public struct Node: Hashable, Sendable {
        /// The ID of the node within its graph.
        public var id: Int
        /// The map.
        public var mapID: MapID
        /// The point on the map.
        public var point: MapPoint

        /// Creates a node.
        public init(id: Int, mapID: MapID, point: MapPoint) {
            self.id = id
            self.mapID = mapID
            self.point = point
        }
    }

    /// A path between two nodes.
    public struct Edge: Hashable, Sendable {
        /// The kind of path.
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            /// Level ground.
            case walk
            /// Stairs, up or down.
            case stairs
            /// An elevator, up or down.
            case elevator
            /// An escalator; `isOneWay` specifies its direction.
            case escalator
        }

        /// The ID of the start node.
        public var from: Int
        /// The ID of the end node.
        public var to: Int
        /// The cost in equivalent metres of walking; nil for the length.
        public var weight: Double?
        /// The kind of path.
        public var kind: Kind
        /// Whether users can walk only in the direction from `from` to `to`.
        public var isOneWay: Bool
        /// The tags by which routes include or exclude the edge, such as "inaccessible".
        public var tags: Set<String>

        /// Creates an edge.
        public init(
            from: Int, to: Int, weight: Double? = nil, kind: Kind = .walk, isOneWay: Bool = false,
            tags: Set<String> = []
        ) {
            self.from = from
            self.to = to
            self.weight = weight
            self.kind = kind
            self.isOneWay = isOneWay
            self.tags = tags
        }
    }

    /// The places where paths meet or end.
    public var nodes: [Node]
    /// The paths between nodes.
    public var edges: [Edge]

    /// Creates a graph without checking it.
    public init(nodes: [Node], edges: [Edge]) {
        self.nodes = nodes
        self.edges = edges
    }
}

extension Area {
    /// The size of the area in m². Parts of a self-intersecting polygon can cancel each other.
    package var squareMeters: Double {
        switch self {
        case .circle(_, let radius):
            return .pi * radius * radius
        case .polygon(let corners):
            // Shoelace formula relative to the first corner, so that large coordinates lose no precision.
            guard let origin = corners.first, var previous = corners.last else { return 0 }
            var twice = 0.0
            for corner in corners {
                let (a, b) = (previous - origin, corner - origin)
                twice += a.x * b.y - b.x * a.y
                previous = corner
            }
            return abs(twice) / 2
        }
    }

    /// Returns the distance in metres from the area to a point; 0 inside the area and infinite for a polygon without
    /// corners. The time is linear in the number of corners.
    public func distance(to point: MapPoint) -> Double {
        switch self {
        case .circle(let center, let radius):
            return max(0, center.distance(to: point) - radius)
        case .polygon(let corners):
            return contains(point) ? 0 : Self.distance(from: point, toOutline: corners)
        }
    }

    /// Returns the distance between a point and the outline of a polygon; infinite without corners.
    static func distance(from point: MapPoint, toOutline corners: [MapPoint]) -> Double {
        guard var previous = corners.last else { return .infinity }
        var nearest = Double.infinity
        for corner in corners {
            nearest = min(nearest, distance(from: point, toLineFrom: previous, to: corner))
            previous = corner
        }
        return nearest
    }

    /// Returns the distance between a point and a line segment.
    private static func distance(from point: MapPoint, toLineFrom start: MapPoint, to end: MapPoint) -> Double {
        let (along, offset) = (end - start, point - start)
        let squared = along.x * along.x + along.y * along.y
        guard squared > 0 else { return start.distance(to: point) }
        let share = min(max((offset.x * along.x + offset.y * along.y) / squared, 0), 1)
        return (start + along * share).distance(to: point)
    }
}

/// The kinds of name that a venue packet can have for a beacon.
///
/// A session matches beacons by their identity, regardless of the kind of name: the format of an advertisement isn't
/// part of the identity.
public enum BeaconNaming: String, Hashable, Sendable, CaseIterable {
    /// UUID, major and minor, as an iBeacon sends them.
    case uuid
    /// Namespace and instance, as a beacon sends them in Eddystone-UID frames.
    case eddystoneUID
    /// The ID of 20 bytes that an AltBeacon sends.
    case altBeacon
    /// The device address alone, regardless of the data that the transmitter sends.
    case address

    /// Returns whether a name of this kind can express an identity.
    package func expresses(_ identity: BeaconIdentity) -> Bool {
        switch self {
        case .uuid, .altBeacon: true
        case .eddystoneUID: identity.eddystoneNamespace != nil
        case .address: identity.derivedAddress != nil
        }
    }
}

extension VenueBeacon {
    /// Creates a beacon that is known by its device address alone, with the identity that is derived from the address.
    ///
    /// - Parameter address: a public or a static random address.
    public init(
        address: DeviceAddress, mapID: MapID, point: MapPoint, z: Double? = nil, measuredPower: Double? = nil,
        pathLossExponent: Double? = nil
    ) {
        self.init(
            identity: BeaconIdentity(address: address), naming: .address, address: address, mapID: mapID, point: point,
            z: z, measuredPower: measuredPower, pathLossExponent: pathLossExponent)
    }

    /// The name of the beacon for display: `UUID/major/minor`, `namespace/instance`, the 40 digits of an AltBeacon's
    /// ID, or the device address.
    public var name: String {
        switch validNaming {
        case .uuid: identity.description
        case .eddystoneUID: "\(identity.eddystoneNamespace ?? "")/\(identity.eddystoneInstance ?? "")"
        case .altBeacon: identity.altBeaconID
        case .address: address?.description ?? ""
        }
    }

    /// The kind of name of the beacon; `uuid` if the kind `naming` can't express the beacon.
    package var validNaming: BeaconNaming {
        guard naming.expresses(identity) else { return .uuid }
        return naming == .address && address?.rawValue != identity.derivedAddress?.rawValue ? .uuid : naming
    }
}

extension Venue {
    /// Returns the name of a beacon for display: its name in the packet, otherwise `UUID/major/minor`.
    ///
    /// The time is linear in the number of beacons.
    package func name(of identity: BeaconIdentity) -> String {
        beacons.first { $0.identity == identity }?.name ?? identity.description
    }
}

/// The beacons whose device address is known, alone or in addition to their identity.
///
/// A known identity that was received has priority over the address, because the beacon itself sends it.
package struct KnownAddresses: Hashable, Sendable {
    private var beacons: [UInt64: BeaconIdentity] = [:]
    /// The identities of the venue that the device is in, and of its radio map.
    private var identities: Set<BeaconIdentity> = []

    /// Creates an empty set of addresses.
    package init() {}

    /// Creates the addresses of a venue's beacons; of two beacons with one address, the first is used.
    package init(of venue: Venue) { learn(venue) }

    /// Whether no beacon is known by its address.
    package var isEmpty: Bool { beacons.isEmpty }

    /// Replaces the addresses by the addresses in a catalogue.
    package mutating func learn(_ catalogue: [VenueSummary]) {
        self = KnownAddresses()
        for summary in catalogue.sorted(by: { $0.id < $1.id }) {
            for (address, beacon) in summary.addresses where beacons[address.rawValue] == nil {
                beacons[address.rawValue] = beacon
            }
        }
    }

    /// Adds the addresses of a venue, which have priority over the addresses of other venues.
    package mutating func learn(_ venue: Venue) {
        let addressed = venue.beacons.filter { $0.address != nil }
        guard !addressed.isEmpty || !isEmpty else { return }
        identities = Set(venue.beacons.map(\.identity)).union(venue.radioMap?.beacons.map(\.identity) ?? [])
        for beacon in addressed.reversed() {
            if let address = beacon.address { beacons[address.rawValue] = beacon.identity }
        }
    }

    /// Returns the sighting with the identity that belongs to the transmitter's address, if the received identity is
    /// unknown; otherwise the unchanged sighting.
    ///
    /// - Parameter isKnown: returns whether an identity belongs to another known venue.
    package func resolve(_ sighting: Sighting, isKnown: (BeaconIdentity) -> Bool = { _ in false }) -> Sighting {
        guard let address = sighting.address, let beacon = beacon(at: address), beacon != sighting.beacon,
            !identities.contains(sighting.beacon), !isKnown(sighting.beacon)
        else { return sighting }
        var resolved = sighting
        resolved.beacon = beacon
        return resolved
    }

    /// Returns the sighting of the beacon with the address of an advertisement, for an advertisement without a known
    /// identity; nil if the address is unknown or the RSSI isn't a measurement.
    package func sighting(of advertisement: Advertisement) -> Sighting? {
        guard let beacon = beacon(at: advertisement.address), advertisement.hasMeasurement else { return nil }
        return Sighting(
            instant: advertisement.instant, beacon: beacon, rssi: advertisement.rssi, address: advertisement.address)
    }

    /// Returns whether a beacon is known by an address.
    package func knows(_ address: DeviceAddress?) -> Bool { address.flatMap(beacon) != nil }

    private func beacon(at address: DeviceAddress) -> BeaconIdentity? {
        guard !beacons.isEmpty, !address.isPrivate else { return nil }
        return beacons[address.rawValue]
    }
}

/// A fixed receiver of a venue, such as a gateway, which receives tags and reports their RSSI.
///
/// A tag is located from the places of receivers in the same way as a device from the places of beacons: the path loss
/// between two places doesn't depend on the direction. In a venue packet, a receiver is an entry of `beacons` with the
/// role `receiver`.
public struct VenueReceiver: Hashable, Sendable {
    /// The name of the receiver, unique in its venue.
    public var id: String
    /// The other names that gateways use for this receiver, such as its address.
    public var aliases: [String]
    /// The identity of the receiver in a radio map.
    public var identity: BeaconIdentity
    /// The map of the receiver.
    public var mapID: MapID
    /// The point on the map.
    public var point: MapPoint
    /// The height above the floor in metres; nil if unknown.
    public var z: Double?
    /// The RSSI in dBm that this receiver measures from a common tag at a distance of 1 m; nil if unknown.
    public var measuredPower: Double?
    /// The path-loss exponent (2 in free space); nil if unknown.
    public var pathLossExponent: Double?

    /// Creates a receiver from its parts without checking them.
    public init(
        id: String, aliases: [String] = [], identity: BeaconIdentity, mapID: MapID, point: MapPoint, z: Double? = nil,
        measuredPower: Double? = nil, pathLossExponent: Double? = nil
    ) {
        self.id = id
        self.aliases = aliases
        self.identity = identity
        self.mapID = mapID
        self.point = point
        self.z = z
        self.measuredPower = measuredPower
        self.pathLossExponent = pathLossExponent
    }

    /// Returns the identity of a receiver whose packet specifies none. The result depends only on the receiver's name.
    ///
    /// The UUID consists of two 64-bit FNV-1a hashes of the name in UTF-8, as a UUID of version 8 (RFC 9562); major and
    /// minor are 0.
    package static func identity(for id: String) -> BeaconIdentity {
        var high = FNVHash.hash(of: id.utf8)
        // The second hash continues from the first one, so that the halves differ.
        var low = FNVHash.hash(of: id.utf8, after: high)
        high = high & ~0xf000 | 0x8000
        low = low & ~(3 << 62) | 2 << 62
        return BeaconIdentity(uuid: BeaconUUID(high: high, low: low), major: 0, minor: 0)
    }

    /// The receiver as a beacon: locating a tag reverses the radio link.
    package var beacon: VenueBeacon {
        VenueBeacon(
            identity: identity, mapID: mapID, point: point, z: z, measuredPower: measuredPower,
            pathLossExponent: pathLossExponent)
    }
}

extension Venue {
    /// The venue for locating tags: its receivers replace the beacons.
    package var forTags: Venue {
        var venue = self
        venue.beacons = receivers.map(\.beacon)
        return venue
    }
}

/// An anchor of a venue: a fixed radio at a known place, to which a device can measure its distance.
public struct VenueAnchor: Hashable, Sendable {
    /// The identifier of the anchor in readings. It must be unique among all venues that a session knows.
    public var id: String
    /// The map of the anchor.
    public var mapID: MapID
    /// The point on the map.
    public var point: MapPoint
    /// The height above the floor in metres; nil for the height of the device.
    public var z: Double?

    /// Creates an anchor from its parts without checking them.
    public init(id: String, mapID: MapID, point: MapPoint, z: Double? = nil) {
        self.id = id
        self.mapID = mapID
        self.point = point
        self.z = z
    }

    /// The identity of the anchor in summaries of the venue. It depends only on the anchor's identifier.
    package var identity: BeaconIdentity { Self.identity(of: id) }

    /// Returns the identity of the anchor with the given identifier.
    package static func identity(of id: String) -> BeaconIdentity { VenueReceiver.identity(for: id) }
}

extension Venue {
    /// Returns the anchors of a map in the order of the packet.
    public func anchors(on map: MapID) -> [VenueAnchor] { anchors.filter { $0.mapID == map } }
}
