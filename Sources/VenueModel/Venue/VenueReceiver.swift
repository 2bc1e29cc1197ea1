import IndoorVocabulary

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
