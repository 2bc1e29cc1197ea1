import IndoorVocabulary

/// The location of the device: in a venue, or outdoors by satellites.
public enum LocatedPlace: Hashable, Sendable {
    /// A position on a map of a venue.
    case indoors(Position)
    /// A position outside any venue.
    case outdoors(OutdoorPosition)

    /// The time of the position, on the timeline of the source.
    public var instant: Instant {
        switch self {
        case .indoors(let position): position.instant
        case .outdoors(let position): position.instant
        }
    }

    /// The coordinate; nil on a map without a georeference.
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
