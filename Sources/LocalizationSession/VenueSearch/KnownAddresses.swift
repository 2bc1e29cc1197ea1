import IndoorVocabulary
import VenueModel

/// Which beacons are known by the device address of their transmitter, beside their identity.
///
/// An identity that is heard and known counts more than the address: it is the beacon's own word.
package struct KnownAddresses: Hashable, Sendable {
    private var beacons: [UInt64: BeaconIdentity] = [:]
    /// Identities of the venue that the session is in.
    private var identities: Set<BeaconIdentity> = []

    /// Knows no address.
    package init() {}

    /// Knows the addresses of a venue's beacons; of two with one address, the first counts.
    package init(of venue: Venue) { learn(venue) }

    /// Whether no beacon is known by its address.
    package var isEmpty: Bool { beacons.isEmpty }

    /// Takes in the known venues, in place of those before.
    package mutating func learn(_ catalogue: [VenueSummary]) {
        self = KnownAddresses()
        for summary in catalogue.sorted(by: { $0.id < $1.id }) {
            for (address, beacon) in summary.addresses where beacons[address.rawValue] == nil {
                beacons[address.rawValue] = beacon
            }
        }
    }

    /// Takes in a venue, whose addresses count more than those of others.
    package mutating func learn(_ venue: Venue) {
        let addressed = venue.beacons.filter { $0.address != nil }
        guard !addressed.isEmpty || !isEmpty else { return }
        identities = Set(venue.beacons.map(\.identity))
        for beacon in addressed.reversed() {
            if let address = beacon.address { beacons[address.rawValue] = beacon.identity }
        }
    }

    /// The sighting with the identity that the transmitter's address stands for, if its own is unknown.
    ///
    /// - Parameter isKnown: whether a beacon of that identity is of a known venue.
    package func resolve(_ sighting: Sighting, isKnown: (BeaconIdentity) -> Bool) -> Sighting {
        guard let address = sighting.address, let beacon = beacon(at: address), beacon != sighting.beacon,
            !identities.contains(sighting.beacon), !isKnown(sighting.beacon)
        else { return sighting }
        var resolved = sighting
        resolved.beacon = beacon
        return resolved
    }

    /// The sighting that an advertisement without a known beacon's identity stands for; nil if its address is unknown or
    /// its RSSI no measurement.
    package func sighting(of advertisement: Advertisement) -> Sighting? {
        guard let beacon = beacon(at: advertisement.address), advertisement.hasMeasurement else { return nil }
        return Sighting(
            instant: advertisement.instant, beacon: beacon, rssi: advertisement.rssi, address: advertisement.address)
    }

    /// Whether a beacon is known by that address.
    package func knows(_ address: DeviceAddress?) -> Bool { address.flatMap(beacon) != nil }

    private func beacon(at address: DeviceAddress) -> BeaconIdentity? {
        guard !beacons.isEmpty, !address.isPrivate else { return nil }
        return beacons[address.rawValue]
    }
}

extension DeviceAddress {
    /// Whether the device changes it from time to time, so that it names nobody: a random one that is not static, by its two
    /// most significant bits (Bluetooth Core Specification 5.4, Vol 6 Part B, 1.3.2).
    fileprivate var isPrivate: Bool { kind == .random && rawValue >> 46 != 0b11 }
}
