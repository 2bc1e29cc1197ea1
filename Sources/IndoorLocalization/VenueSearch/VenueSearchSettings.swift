/// How the venue is told from others.
public struct VenueSearchSettings: Hashable, Sendable {
    /// Sightings older than this no longer speak for a venue; above 0 s, at most a day.
    public var window = Duration.seconds(3)
    /// A venue whose beacons are this many times as strong, as a sum of amplitudes, as any other's leads; in [1, 1000].
    public var lead = 2.0
    /// While several venues are heard, one must lead for this long to be chosen; from 0 s to a day.
    public var contestedTime = Duration.seconds(2)
    /// While in a venue, another one must lead for this long to take over; from 0 s to a day.
    public var takeoverTime = Duration.seconds(5)
    /// A satellite position counts only with a 68 % radius of at most this many metres, in [0, 10000].
    public var gnssAccuracy = 15.0
    /// So many satellite positions in a row must agree, in [1, 1000].
    public var gnssCount = 2
    /// Satellites speak only if no beacon of the venue was heard well for this long; from 0 s to a day.
    public var gnssSilence = Duration.seconds(5)
    /// Weaker sightings don't contradict satellites that see the device outside, in dBm, in [-127, 0]: across the
    /// street beacons are still heard.
    public var gnssRSSILimit = -75.0

    /// Creates the settings with their defaults.
    public init() {}
}
