import IndoorVocabulary

/// Where the device is: in a venue, or by satellites outside.
public enum LocatedPlace: Hashable, Sendable {
    /// On a map of a venue.
    case indoors(Position)
    /// In no venue.
    case outdoors(OutdoorPosition)

    /// When the device was there, on the source's timeline.
    public var instant: Instant {
        switch self {
        case .indoors(let position): position.instant
        case .outdoors(let position): position.instant
        }
    }

    /// Where on Earth; nil on a map without a georeference.
    public var coordinate: Coordinate? {
        switch self {
        case .indoors(let position): position.coordinate
        case .outdoors(let position): position.coordinate
        }
    }

    /// The 68 % error radius in metres.
    public var radius: Double {
        switch self {
        case .indoors(let position): position.radius
        case .outdoors(let position): position.radius
        }
    }
}
