import IndoorVocabulary
import VenueModel

/// The beacons whose place in a venue no longer agrees with the survey from which the venue's radio map was learned.
package struct SurveyChanges: Hashable, Sendable {
    /// The names of beacons that were moved, in the order of the venue.
    package var moved: [String]
    /// The names of beacons that were removed or renamed, in the order of the earlier venue.
    package var removed: [String]

    /// Compares two editions of a venue; nil if the radio map still agrees, or there is none.
    ///
    /// - Parameters:
    ///   - old: the edition before the change.
    ///   - new: the edition after the change, with its radio map.
    package init?(from old: Venue, to new: Venue) {
        guard let radioMap = new.radioMap else { return nil }
        let surveyed = Set(radioMap.beacons.map(\.identity))
        let places = Dictionary(Self.places(in: old)) { first, _ in first }
        let present = Self.places(in: new)
        let kept = Set(present.map(\.0))
        moved = present.compactMap { identity, place in
            guard surveyed.contains(identity), let earlier = places[identity], earlier != place else { return nil }
            return place.name
        }
        removed = Self.places(in: old).compactMap { identity, place in
            surveyed.contains(identity) && !kept.contains(identity) ? place.name : nil
        }
        if moved.isEmpty && removed.isEmpty { return nil }
    }

    private struct Place: Equatable {
        let name: String
        let mapID: MapID
        let point: MapPoint
        let z: Double?

        static func == (one: Place, other: Place) -> Bool {
            one.mapID == other.mapID && one.point == other.point && one.z == other.z
        }
    }

    private static func places(in venue: Venue) -> [(BeaconIdentity, Place)] {
        venue.beacons.map { ($0.identity, Place(name: $0.name, mapID: $0.mapID, point: $0.point, z: $0.z)) }
            + venue.receivers.map { ($0.identity, Place(name: $0.id, mapID: $0.mapID, point: $0.point, z: $0.z)) }
    }
}
