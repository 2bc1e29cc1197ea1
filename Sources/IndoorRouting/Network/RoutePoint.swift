import IndoorVocabulary
import VenueModel

/// A place on a map at which a route begins, turns or ends.
public struct RoutePoint: Hashable, Sendable, CustomStringConvertible {
    /// The map of the place.
    public var mapID: MapID
    /// The point on the map, in metres.
    public var point: MapPoint

    /// Metres to the right of the plan's left edge.
    public var x: Double { point.x }
    /// Metres below the plan's top edge.
    public var y: Double { point.y }

    /// Creates a place on a map.
    public init(mapID: MapID, point: MapPoint) {
        self.mapID = mapID
        self.point = point
    }

    /// Creates a place at the position of the device.
    public init(_ position: Position) { self.init(mapID: position.mapID, point: position.point) }

    /// Creates a place at a point of interest.
    public init(_ place: PointOfInterest) { self.init(mapID: place.mapID, point: place.point) }

    public var description: String { "(\(point.x), \(point.y)) on map \(mapID)" }

    /// Whether the coordinates are finite and below one million kilometres.
    var isPlace: Bool { abs(point.x) < 1e9 && abs(point.y) < 1e9 }
}
