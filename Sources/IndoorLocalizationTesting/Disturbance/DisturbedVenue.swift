import CMath
import IndoorLocalization

/// A venue with disturbances: the selected beacons, and the packet that a session receives.
///
/// The same venue, disturbances and seed give the same selection.
package struct DisturbedVenue: Sendable {
    /// The venue as its packet describes it: moved beacons have wrong places.
    package let venue: Venue
    /// The disturbances.
    package let disturbances: [Disturbance]
    /// The seed of all selections and of the random readings.
    package let seed: UInt64
    /// The beacons that were moved or exchanged, or have another power.
    package private(set) var changed: Set<BeaconIdentity> = []
    /// The beacons that send nothing.
    package private(set) var dead: Set<BeaconIdentity> = []
    /// The identity that a beacon sends after the exchange.
    private(set) var exchanges: [BeaconIdentity: BeaconIdentity] = [:]
    /// The change of each beacon's power in dB.
    private(set) var powers: [BeaconIdentity: Double] = [:]

    /// The number of attempts to find a direction in which a moved beacon stays on its map.
    private static let attempts = 16

    /// Selects the disturbed beacons of a venue.
    package init(_ venue: Venue, _ disturbances: [Disturbance], seed: UInt64) {
        self.disturbances = disturbances
        self.seed = seed
        var packet = venue
        for (place, disturbance) in disturbances.enumerated() {
            var generator = SeededGenerator.stream(seed, UInt64(place))
            switch disturbance {
            case .moved(let share, let distance):
                for index in Self.selection(share, of: venue, &generator) {
                    packet.beacons[index].point = Self.moved(
                        venue.beacons[index], by: distance, in: venue, &generator)
                    changed.insert(venue.beacons[index].identity)
                }
            case .exchanged(let share):
                let chosen = Self.selection(share, of: venue, &generator).map { venue.beacons[$0].identity }
                for pair in stride(from: 0, to: chosen.count - 1, by: 2) {
                    exchanges[chosen[pair]] = chosen[pair + 1]
                    exchanges[chosen[pair + 1]] = chosen[pair]
                }
                changed.formUnion(exchanges.keys)
            case .dead(let share):
                dead.formUnion(Self.selection(share, of: venue, &generator).map { venue.beacons[$0].identity })
            case .power(let difference, let share):
                for index in Self.selection(share, of: venue, &generator) {
                    powers[venue.beacons[index].identity, default: 0] += difference
                }
                changed.formUnion(powers.keys)
            case .clone, .replay, .flood: break
            }
        }
        self.venue = packet
    }

    /// Returns the indices of a random share of the beacons, in random order.
    private static func selection(
        _ share: Double, of venue: Venue, _ generator: inout SeededGenerator
    ) -> [Int] {
        let count = Int((share * Double(venue.beacons.count)).rounded())
        return Array(venue.beacons.indices.shuffled(using: &generator).prefix(count))
    }

    private static func moved(
        _ beacon: VenueBeacon, by distance: Double, in venue: Venue, _ generator: inout SeededGenerator
    ) -> MapPoint {
        let map = venue.map(beacon.mapID)
        var point = beacon.point
        for _ in 0..<attempts {
            let angle = generator.uniform() * 2 * .pi
            point = beacon.point + MapPoint(x: cmath_cos(angle), y: cmath_sin(angle)) * distance
            guard let map else { return point }
            if (0...map.width).contains(point.x), (0...map.height).contains(point.y) { return point }
        }
        return point
    }
}
