/// A received beacon that belongs to no known venue.
public struct UnknownBeacon: Hashable, Sendable, CustomStringConvertible {
    /// The identity of the beacon.
    public var identity: BeaconIdentity
    /// The known beacons with the most similar identity, such as those with the same UUID and major; nil if none are
    /// similar.
    public var nearest: BeaconRegion?
    /// The venue of `nearest`; nil without one.
    public var venueID: VenueID?

    /// Creates a beacon from its parts.
    public init(identity: BeaconIdentity, nearest: BeaconRegion? = nil, venueID: VenueID? = nil) {
        self.identity = identity
        self.nearest = nearest
        self.venueID = venueID
    }

    /// The beacon and the most similar known beacons.
    public var description: String {
        guard let nearest, let venueID else { return "\(identity)" }
        let numbers = [nearest.major, nearest.minor].compactMap(\.self).map { "/\($0)" }.joined()
        return "\(identity) (nearest: \(nearest.uuid)\(numbers) of venue \(venueID))"
    }
}
