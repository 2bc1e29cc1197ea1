import IndoorVocabulary

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
