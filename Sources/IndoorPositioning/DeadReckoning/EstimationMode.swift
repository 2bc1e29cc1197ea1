/// Whether a session determines from satellites where its local frame lies on Earth.
public enum EstimationMode: String, Hashable, Sendable, CaseIterable {
    /// Motion is told in metres from where it began; coordinates only where somebody or a venue gives them.
    case local
    /// Satellites are asked as soon as the session begins: after some ten metres of walking outdoors there are coordinates.
    case global
}

/// How far a session uses satellite positions.
public enum SatelliteUse: String, Hashable, Sendable, CaseIterable {
    /// None is used: neither for the venue, nor outdoors, nor for motion.
    case off
    /// One in ten seconds is used.
    case lowAccuracy
    /// All are used.
    case highAccuracy

    /// The time between two that are used; nil uses none.
    package var interval: Duration? {
        switch self {
        case .off: nil
        case .lowAccuracy: .seconds(10)
        case .highAccuracy: .zero
        }
    }
}
