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

extension LocalizationError {
    /// Returns the error for a beacon whose readings contradict the venue. A session reports each fault once, reduces the
    /// weight of the beacon and continues.
    package static func beaconFault(_ fault: BeaconFault) -> LocalizationError {
        LocalizationError(
            code: .generic, message: "beacon \(fault.beacon) \(fault.kind.text)", reason: .beaconFault(fault),
            kind: .beaconFault)
    }
}

extension BeaconFault.Kind {
    /// The problem and its remedy as text that follows the name of the beacon.
    fileprivate var text: String {
        switch self {
        case .moved(let place, let distance?):
            "seems to stand \(Self.metres(distance)) m from its place, near \(Self.point(place)); move it back, or "
                + "correct its place in the packet"
        case .moved(let place, nil):
            "seems to stand on another floor, near \(Self.point(place)); move it back, or correct its place in the packet"
        case .exchanged(let other):
            "seems to stand at the place of beacon \(other); exchange the two beacons, or their places in the packet"
        case .duplicated:
            "seems to be sent by two transmitters; remove the transmitter that does not belong to the venue"
        case .imitated(let count):
            "seems to be sent by one transmitter that imitates \(count) beacons; remove that transmitter"
        case .tooStrong(let excess):
            "is \(Self.metres(excess)) dB stronger than it can be at any place; look for another transmitter with its "
                + "identity"
        case .powerChanged(let difference) where difference > 0:
            "is \(Self.metres(difference)) dB stronger than expected; look for another transmitter with its identity, check "
                + "its power setting, or make a new survey"
        case .powerChanged(let difference):
            "is \(Self.metres(-difference)) dB weaker than expected; check its battery and its power setting, or make a new "
                + "survey"
        case .silent: "is not received where it is expected; check its battery"
        case .contradictory: "contradicts the other beacons; check its place, its power and its identity"
        }
    }

    private static func metres(_ value: Double) -> String { value.isFinite ? "\(Int(value.rounded()))" : "many" }

    private static func point(_ place: BeaconFault.Place) -> String {
        "x \(metres(place.point.x)) m, y \(metres(place.point.y)) m on map \(place.mapID)"
    }
}
