/// A beacon that was heard and is in no known venue.
public struct UnknownBeacon: Hashable, Sendable, CustomStringConvertible {
    /// Which beacon was heard.
    public var identity: BeaconIdentity
    /// The known beacons whose numbers come nearest to it, such as those of the same UUID and major; nil if none are near.
    public var nearest: BeaconRegion?
    /// The venue of `nearest`; nil without one.
    public var venueID: VenueID?

    /// Creates a beacon from its parts.
    public init(identity: BeaconIdentity, nearest: BeaconRegion? = nil, venueID: VenueID? = nil) {
        self.identity = identity
        self.nearest = nearest
        self.venueID = venueID
    }

    /// The beacon, and the nearest known one.
    public var description: String {
        guard let nearest, let venueID else { return "\(identity)" }
        let numbers = [nearest.major, nearest.minor].compactMap(\.self).map { "/\($0)" }.joined()
        return "\(identity) (nearest: \(nearest.uuid)\(numbers) of venue \(venueID))"
    }
}
