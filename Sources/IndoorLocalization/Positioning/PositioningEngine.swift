/// Turns measurements in one venue into a belief about floor and place.
///
/// A value with time and randomness as inputs: equal calls give equal results.
public struct PositioningEngine: Sendable {
    /// Where the device is on one map, as far as the engine knows.
    public struct Estimate: Hashable, Sendable {
        /// The most fitting point, in metres.
        public var point: MapPoint
        /// Metres around `point` within which the truth lies 68 times of 100.
        public var radius: Double
        /// Where the device moves, in degrees clockwise from the plan's top; nil while it stands or when unclear.
        public var course: Double?
    }

    private let venue: Venue

    /// Creates an engine that knows nothing yet of where in the venue the device is.
    public init(venue: Venue, seed: UInt64 = 0) {
        self.venue = venue
    }

    /// Takes in a reading; sightings of beacons that the venue doesn't know are ignored.
    public mutating func observe(_ reading: SensorReading) {
    }

    /// Brings the belief up to `now`, with all that was observed until then.
    public mutating func advance(to now: Instant) {
    }

    /// How probable each map is; empty before there is any evidence. Sums to 1 otherwise.
    public var mapProbabilities: [MapID: Double] { [:] }

    /// The belief about the place if the device is on that map; nil if there is no evidence for that map.
    public func estimate(on map: MapID) -> Estimate? { nil }
}
