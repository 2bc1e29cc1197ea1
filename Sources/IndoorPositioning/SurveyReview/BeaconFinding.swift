import IndoorVocabulary
import VenueModel

/// A problem of a beacon that a survey shows.
public struct BeaconFinding: Hashable, Sendable {
    /// A place on a map.
    public struct Place: Hashable, Sendable {
        /// The map.
        public var mapID: MapID
        /// The point on the map.
        public var point: MapPoint

        /// Creates a place.
        package init(mapID: MapID, point: MapPoint) {
            self.mapID = mapID
            self.point = point
        }
    }

    /// The kinds of problems.
    public enum Kind: Hashable, Sendable {
        /// The survey detected the beacon nowhere.
        case silent
        /// The survey detected the beacon at few places.
        case fewReadings(places: Int)
        /// The readings contradict the beacon's place in the venue.
        ///
        /// `place` is the place that fits the readings best, `deviation` its standard deviation along each axis and
        /// `distance` its distance from the venue's place, both in metres; the distance is nil on another map.
        case moved(place: Place, deviation: Double, distance: Double?)
        /// The power is `difference` dB below that of the other beacons.
        case weak(difference: Double)
        /// Two transmitters with the same identity explain the readings much better than one.
        case twoTransmitters(first: Place, second: Place)
    }

    /// The beacon.
    public var beacon: BeaconIdentity
    /// The problem.
    public var kind: Kind

    /// Creates a finding.
    package init(beacon: BeaconIdentity, kind: Kind) {
        self.beacon = beacon
        self.kind = kind
    }
}
