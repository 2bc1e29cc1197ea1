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
