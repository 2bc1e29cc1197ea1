/// What a survey learned of a venue's radio.
public struct RadioMap: Hashable, Sendable {
    /// One transmitter as the survey heard it.
    public struct Beacon: Hashable, Sendable {
        /// Which transmitter.
        public var identity: BeaconIdentity

        /// Creates a beacon.
        public init(identity: BeaconIdentity) { self.identity = identity }
    }

    /// The transmitters that the survey heard, ordered by identity.
    public var beacons: [Beacon]

    /// Creates a radio map.
    public init(beacons: [Beacon]) { self.beacons = beacons }
}
