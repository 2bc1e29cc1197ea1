import IndoorVocabulary
import VenueModel

/// The beacons that several venues have, by which a session can't tell these venues apart.
package struct SharedBeacons: Hashable, Sendable, CustomStringConvertible {
    /// The number of venues that the description lists.
    private static let listed = 10

    /// The venues, in ascending order.
    package private(set) var venues: [VenueID]
    /// The number of regions that at least two venues have.
    package private(set) var count: Int
    /// One of these regions.
    package private(set) var example: BeaconRegion

    /// Finds the regions that several venues have; nil if there are none.
    package init?(among summaries: [VenueSummary]) {
        var owners: [BeaconRegion: VenueID] = [:]
        var (venues, shared): (Set<VenueID>, Set<BeaconRegion>) = ([], [])
        for summary in summaries {
            for region in summary.regions {
                guard let owner = owners.updateValue(summary.id, forKey: region), owner != summary.id else { continue }
                venues.formUnion([owner, summary.id])
                shared.insert(region)
            }
        }
        guard let example = shared.min(by: { Self.order($0) < Self.order($1) }) else { return nil }
        (self.venues, count, self.example) = (venues.sorted(), shared.count, example)
    }

    private static func order(_ region: BeaconRegion) -> (BeaconUUID, Int, Int) {
        (region.uuid, region.major.map(Int.init) ?? -1, region.minor.map(Int.init) ?? -1)
    }

    package var description: String {
        var places = venues.prefix(Self.listed).map(\.description).joined(separator: ", ")
        if venues.count > Self.listed { places += " and \(venues.count - Self.listed) more" }
        var name = "UUID \(example.uuid)"
        if let major = example.major { name += ", major \(major)" }
        if let minor = example.minor { name += ", minor \(minor)" }
        let others = count > 1 ? ", and \(count - 1) more" : ""
        return
            "the venues \(places) have the same beacons (\(name)\(others)), which don't tell them apart; give the beacons "
            + "of each venue identities of their own"
    }
}

extension LocalizationError {
    /// Returns the error for venues with the same beacons.
    static func sharedBeacons(_ beacons: SharedBeacons) -> LocalizationError {
        LocalizationError(code: .generic, message: beacons.description, kind: .badResponse)
    }
}
