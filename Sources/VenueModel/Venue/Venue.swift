import IndoorVocabulary

/// All that is known of a venue: the content of its packet.
public struct Venue: Hashable, Sendable {
    /// The number that names the venue.
    public var id: VenueID
    /// The name for people.
    public var name: String
    /// Grows with each edition of the packet.
    public var version: Int
    /// The venue's centre; nil if it is not georeferenced.
    public var coordinate: Coordinate?
    /// Radius in metres around `coordinate` that contains the venue; nil if unknown.
    public var radius: Double?
    /// The plans, one a floor.
    public var maps: [VenueMap]
    /// The transmitters with a known place.
    public var beacons: [VenueBeacon]
    /// Named areas; a room's name labels the positions within it.
    public var rooms: [Room]
    /// Points of interest.
    public var pointsOfInterest: [PointOfInterest]
    /// Geofences.
    public var fences: [Fence]
    /// What is told where somebody comes near to a beacon or a place.
    public var interactions: [Interaction]
    /// The graph of walkable ways; nil if there is none.
    public var paths: PathGraph?
    /// Settings of this venue, as its packet writes them: with dotted keys, nested or mixed.
    public var settings: [String: JSONValue]
    /// What a survey learned of the radio; nil if there was none.
    public var radioMap: RadioMap?

    /// Creates a venue from its parts, unchecked.
    public init(
        id: VenueID, name: String, version: Int = 1, coordinate: Coordinate? = nil, radius: Double? = nil,
        maps: [VenueMap], beacons: [VenueBeacon] = [], rooms: [Room] = [], pointsOfInterest: [PointOfInterest] = [],
        fences: [Fence] = [], interactions: [Interaction] = [], paths: PathGraph? = nil,
        settings: [String: JSONValue] = [:], radioMap: RadioMap? = nil
    ) {
        self.id = id
        self.name = name
        self.version = version
        self.coordinate = coordinate
        self.radius = radius
        self.maps = maps
        self.beacons = beacons
        self.rooms = rooms
        self.pointsOfInterest = pointsOfInterest
        self.fences = fences
        self.interactions = interactions
        self.paths = paths
        self.settings = settings
        self.radioMap = radioMap
    }

    /// The map with that number; nil if the venue has none. Linear in the number of maps.
    public func map(_ id: MapID) -> VenueMap? { maps.first { $0.id == id } }
}

/// A venue is part of states and errors that people print; its content fills pages.
extension Venue: CustomStringConvertible {
    /// Name, number and version; `dump` shows the content.
    public var description: String { "\(name) (venue \(id), version \(version))" }
}
