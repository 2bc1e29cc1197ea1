import IndoorVocabulary
import VenueModel

/// A place on a map: where a route begins, turns or ends.
public struct RoutePoint: Hashable, Sendable, CustomStringConvertible {
    /// The map that it lies on.
    public var mapID: MapID
    /// Where on that map, in metres.
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

    /// Where the device is.
    public init(_ position: Position) { self.init(mapID: position.mapID, point: position.point) }

    /// Where a point of interest is.
    public init(_ place: PointOfInterest) { self.init(mapID: place.mapID, point: place.point) }

    public var description: String { "(\(point.x), \(point.y)) on map \(mapID)" }

    /// Whether it can be a place: no infinity, and not a million kilometres away.
    var isPlace: Bool { abs(point.x) < 1e9 && abs(point.y) < 1e9 }
}
