/// The identity of a beacon: proximity UUID, major and minor.
public struct BeaconIdentity: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The proximity UUID, shared by the beacons of one operator.
    public var uuid: BeaconUUID
    /// The group within the UUID, often a building or a floor.
    public var major: UInt16
    /// The beacon within its group.
    public var minor: UInt16

    /// Creates an identity from its three parts.
    public init(uuid: BeaconUUID, major: UInt16, minor: UInt16) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
    }

    /// `UUID/major/minor`.
    public var description: String { "\(uuid)/\(major)/\(minor)" }

    public static func < (left: BeaconIdentity, right: BeaconIdentity) -> Bool {
        (left.uuid, left.major, left.minor) < (right.uuid, right.major, right.minor)
    }
}
