/// A beacon whose readings contradict the venue, or a beacon that is missing.
///
/// The positioning engine tests each beacon against the position that the other beacons support. It reduces the weight
/// of a beacon that fails the test, and restores the weight when the beacon agrees again.
public struct BeaconFault: Hashable, Sendable {
    /// An estimated place of a beacon.
    public struct Place: Hashable, Sendable {
        /// The map.
        public var mapID: MapID
        /// The point on the map.
        public var point: MapPoint
        /// Standard deviation of `point` along each axis, in metres.
        public var deviation: Double

        /// Creates a place.
        package init(mapID: MapID, point: MapPoint, deviation: Double) {
            self.mapID = mapID
            self.point = point
            self.deviation = deviation
        }
    }

    /// The kinds of faults.
    public enum Kind: Hashable, Sendable {
        /// The readings fit another place: `place` fits best, `distance` metres from the venue's place; the distance is
        /// nil on another map.
        case moved(place: Place, distance: Double?)
        /// The readings fit the place of another beacon.
        case exchanged(with: BeaconIdentity)
        /// Two transmitters send the identity: readings of different strength arrive at the same time, or from two places.
        case duplicated
        /// One transmitter sends the identities of `count` beacons: they have the same level, and are received more often
        /// than the other beacons.
        case imitated(count: Int)
        /// The readings are `excess` dB stronger than the beacon can be at any place.
        case tooStrong(excess: Double)
        /// The power differs by this many dB from the expected power, such as after a change of the battery.
        case powerChanged(difference: Double)
        /// The device receives no reading where the beacon is expected.
        case silent
        /// The readings contradict the other beacons, for an unknown cause.
        case contradictory
    }

    /// The beacon.
    public var beacon: BeaconIdentity
    /// The most probable fault.
    public var kind: Kind
    /// The instant since which the fault is known.
    public var since: Instant

    /// Creates a fault.
    package init(beacon: BeaconIdentity, kind: Kind, since: Instant) {
        self.beacon = beacon
        self.kind = kind
        self.since = since
    }
}

extension BeaconFault.Kind {
    /// The name of the kind, a stable identifier: the name of the case.
    public var name: String {
        switch self {
        case .moved: "moved"
        case .exchanged: "exchanged"
        case .duplicated: "duplicated"
        case .imitated: "imitated"
        case .tooStrong: "tooStrong"
        case .powerChanged: "powerChanged"
        case .silent: "silent"
        case .contradictory: "contradictory"
        }
    }
}
