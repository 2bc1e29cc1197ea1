/// Whether a session determines from satellites where its local frame lies on Earth.
public enum EstimationMode: String, Hashable, Sendable, CaseIterable {
    /// Motion estimates are in metres from the origin; they have coordinates only if the program or a venue sets them.
    case local
    /// The session uses satellites from its start: after some ten metres of walking outdoors, estimates have
    /// coordinates.
    case global
}

/// The rate at which a session uses satellite positions.
public enum SatelliteUse: String, Hashable, Sendable, CaseIterable {
    /// The session uses none: neither for the venue, nor outdoors, nor for motion.
    case off
    /// The session uses one every ten seconds.
    case lowAccuracy
    /// The session uses all.
    case highAccuracy

    /// The time between two used positions; nil uses none.
    package var interval: Duration? {
        switch self {
        case .off: nil
        case .lowAccuracy: .seconds(10)
        case .highAccuracy: .zero
        }
    }
}
