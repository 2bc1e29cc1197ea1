import VenueModel

/// The beacons of a venue with their path-loss parameters.
struct TransmitterList: Sendable {
    /// The surveyed beacons in the radio map's order, then the beacons that the survey did not detect.
    let beacons: [RadioMap.Beacon]
    /// The path-loss exponent of each beacon.
    let exponents: [Double]
    /// Whether the venue has a survey.
    let isSurveyed: Bool

    init(venue: Venue, model: SignalModel) {
        let surveyed = venue.radioMap?.beacons ?? []
        let heard = Set(surveyed.map(\.identity))
        var seen = heard
        let silent = venue.beacons.filter { seen.insert($0.identity).inserted }
        let known = Dictionary(venue.beacons.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
        // The mean error of the configured powers, estimated from the surveyed beacons.
        let shift =
            surveyed.isEmpty
            ? 0
            : surveyed.reduce(0) { $0 + $1.power - (known[$1.identity]?.measuredPower ?? model.defaultPower) }
                / Double(surveyed.count)
        beacons =
            surveyed
            + silent.map {
                RadioMap.Beacon(
                    identity: $0.identity, mapID: $0.mapID, point: $0.point, z: $0.z,
                    power: ($0.measuredPower ?? model.defaultPower) + shift)
            }
        let common = model.usualExponent(with: venue.radioMap)
        exponents = beacons.map { beacon in
            heard.contains(beacon.identity) ? common : known[beacon.identity]?.pathLossExponent ?? common
        }
        isSurveyed = !surveyed.isEmpty
    }

    /// The same beacons in the form that measurement models receive.
    var venueBeacons: [VenueBeacon] {
        zip(beacons, exponents).map { beacon, exponent in
            VenueBeacon(
                identity: beacon.identity, mapID: beacon.mapID, point: beacon.point, z: beacon.z,
                measuredPower: beacon.power, pathLossExponent: exponent)
        }
    }
}
