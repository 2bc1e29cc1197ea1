/// A set of beacons: all with one UUID, all with one UUID and major, or a single beacon.
public struct BeaconRegion: Hashable, Sendable {
    /// The proximity UUID.
    public var uuid: BeaconUUID
    /// The major; nil matches every major.
    public var major: UInt16?
    /// The minor; nil matches every minor.
    public var minor: UInt16?

    /// Creates the region of all beacons with a UUID and, if given, a major and a minor.
    public init(uuid: BeaconUUID, major: UInt16? = nil, minor: UInt16? = nil) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
    }

    /// Creates the region of a single beacon.
    public init(_ identity: BeaconIdentity) {
        self.init(uuid: identity.uuid, major: identity.major, minor: identity.minor)
    }

    /// Returns whether the beacon belongs to the region.
    public func contains(_ identity: BeaconIdentity) -> Bool {
        uuid == identity.uuid && (major ?? identity.major) == identity.major
            && (minor ?? identity.minor) == identity.minor
    }
}
