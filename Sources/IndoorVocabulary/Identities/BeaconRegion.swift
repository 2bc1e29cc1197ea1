/// Beacons that belong together: all of one UUID, of one UUID and major, or a single one.
public struct BeaconRegion: Hashable, Sendable {
    /// The proximity UUID.
    public var uuid: BeaconUUID
    /// The group; nil means every group.
    public var major: UInt16?
    /// The beacon; nil means every beacon of the group.
    public var minor: UInt16?

    /// Creates the region of all beacons with that UUID or, where given, also that major and minor.
    public init(uuid: BeaconUUID, major: UInt16? = nil, minor: UInt16? = nil) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
    }

    /// Creates the region of a single beacon.
    public init(_ identity: BeaconIdentity) {
        self.init(uuid: identity.uuid, major: identity.major, minor: identity.minor)
    }

    /// Whether the beacon belongs to the region.
    public func contains(_ identity: BeaconIdentity) -> Bool {
        uuid == identity.uuid && (major ?? identity.major) == identity.major
            && (minor ?? identity.minor) == identity.minor
    }
}
