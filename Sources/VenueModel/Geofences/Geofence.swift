import IndoorVocabulary

/// A geofence that the application defines at run time, on Earth or on the plans of a venue.
///
/// The session monitors it in addition to the geofences of the venue packet, under the same rules. See
/// `Localizer.startMonitoring(_:)`.
public struct Geofence: Hashable, Sendable {
    /// The shape of a geofence.
    public enum Shape: Hashable, Sendable {
        /// An area in metres on the plan of each floor of the geofence.
        case area(Area)
        /// A polygon on Earth, with corners in clockwise or counter-clockwise order.
        case polygon([Coordinate])
        /// A circle with a radius in metres around a place on Earth.
        case circle(center: Coordinate, radius: Double)
    }

    /// The identifier. Monitoring another geofence with the same identifier replaces this one.
    public var id: String
    /// The display name.
    public var name: String
    /// The shape.
    public var shape: Shape
    /// The venue of the geofence; nil for all venues.
    public var venueID: VenueID?
    /// The map of the geofence; nil for all maps.
    public var mapID: MapID?
    /// The level of the geofence; nil for all levels.
    public var level: Int?
    /// How long after an exit the session doesn't report entry; nil for the session's `fenceTimeout`.
    public var timeout: Duration?
    /// How long the device must be outside before the session reports the exit, from 0 s; nil for the session's
    /// `areaDwell`.
    public var exitDelay: Duration?
    /// The distance in metres outside the shape within which the device remains inside, from 0.
    public var exitMargin: Double
    /// Custom content of the application.
    public var payload: JSONValue?

    /// Creates a geofence without checking it; see `problem`.
    public init(
        id: String, name: String? = nil, shape: Shape, venueID: VenueID? = nil, mapID: MapID? = nil, level: Int? = nil,
        timeout: Duration? = nil, exitDelay: Duration? = nil, exitMargin: Double = 0, payload: JSONValue? = nil
    ) {
        self.id = id
        self.name = name ?? id
        self.shape = shape
        self.venueID = venueID
        self.mapID = mapID
        self.level = level
        self.timeout = timeout
        self.exitDelay = exitDelay
        self.exitMargin = exitMargin
        self.payload = payload
    }

    /// Creates a geofence around a point of interest of a venue: a circle on its map, with its name and payload.
    ///
    /// Its `id` consists of `poi-`, the ID of the venue, `-` and the ID of the point of interest, such as `poi-7-3`.
    /// Use it to find the geofence among the monitored ones and to stop monitoring it.
    ///
    /// - Parameters:
    ///   - place: The point of interest.
    ///   - venue: The venue of the point of interest.
    ///   - radius: The radius in metres, above 0.
    public init(around place: PointOfInterest, of venue: VenueID, radius: Double) {
        self.init(
            id: "poi-\(venue)-\(place.id)", name: place.name,
            shape: .area(.circle(center: place.point, radius: radius)), venueID: venue, mapID: place.mapID,
            payload: place.payload)
    }
}

extension Geofence {
    /// Returns whether a place on Earth is inside, on any floor; nil for a shape in metres, which needs a plan.
    ///
    /// The time is linear in the number of corners. Edges are straight in the tangent plane of the Earth at the first
    /// corner.
    public func contains(_ coordinate: Coordinate) -> Bool? {
        guard coordinate.isValid else { return false }
        switch shape {
        case .area:
            return nil
        case .circle(let center, let radius):
            // Beyond the horizon, the projection is ambiguous. Within this limit, its distances differ from
            // great-circle distances by at most one percent.
            guard center.distance(to: coordinate) <= radius * 1.01 else { return false }
            let offset = LocalTangentPlane(origin: center).offset(of: coordinate)
            return offset.east * offset.east + offset.north * offset.north <= radius * radius
        case .polygon(let corners):
            guard let first = corners.first else { return false }
            // The point of a polygon that is farthest from a corner is another corner.
            let reach = corners.reduce(0) { max($0, first.distance(to: $1)) }
            guard first.distance(to: coordinate) <= reach * 1.01 else { return false }
            let plane = LocalTangentPlane(origin: first)
            func point(_ place: Coordinate) -> MapPoint {
                let offset = plane.offset(of: place)
                return MapPoint(x: offset.east, y: -offset.north)
            }
            return Area.polygon(corners.map(point)).contains(point(coordinate))
        }
    }

    /// Returns whether a point of a venue's map is inside.
    ///
    /// Returns false on other maps, and for a shape on Earth if the map has no georeference.
    public func contains(_ point: MapPoint, on map: VenueMap, of venue: VenueID) -> Bool {
        area(on: map, of: venue, try? map.geoTransform())?.contains(point) ?? false
    }

    /// Returns the area of the geofence on a map; nil if it isn't on the map, or if the map needs a georeference and
    /// has none.
    package func area(on map: VenueMap, of venue: VenueID, _ transform: GeoTransform?) -> Area? {
        guard venueID ?? venue == venue, mapID ?? map.id == map.id, level ?? map.level == map.level else { return nil }
        switch (shape, transform) {
        case (.area(let area), _): return area
        case (.circle(let center, let radius), let transform?):
            return .circle(center: transform.point(at: center), radius: radius / transform.scale)
        case (.polygon(let corners), let transform?): return .polygon(corners.map(transform.point(at:)))
        case (.circle, nil), (.polygon, nil): return nil
        }
    }
}

extension Venue {
    /// Returns the coordinate of a point of interest; nil if the venue doesn't have its map, or if the map has no valid
    /// georeference.
    public func coordinate(of place: PointOfInterest) -> Coordinate? {
        guard let transform = try? map(place.mapID)?.geoTransform() else { return nil }
        return transform.coordinate(at: place.point)
    }
}

/// The reason that a geofence can't be monitored.
public enum GeofenceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The identifier is empty.
    case noID
    /// The polygon has fewer than three corners.
    case tooFewCorners(id: String, count: Int)
    /// A coordinate or a number isn't finite or is out of range.
    case outOfRange(id: String, field: String)

    public var description: String {
        switch self {
        case .noID: "the geofence has an empty id; set an id, which is also needed to stop monitoring"
        case .tooFewCorners(let id, let count):
            "geofence \"\(id)\": the polygon has \(count) corner(s); it needs at least three"
        case .outOfRange(let id, let field):
            "geofence \"\(id)\": \(field) is out of range; radii are above 0 m, margins and times from 0, latitudes in "
                + "[-90, 90] and longitudes in [-180, 180]"
        }
    }
}

extension Geofence {
    /// The problem that prevents monitoring; nil if there is none.
    package var problem: GeofenceError? {
        if id.isEmpty { return .noID }
        func isDuration(_ duration: Duration?) -> Bool { duration ?? .zero >= .zero }
        if !(exitMargin >= 0 && exitMargin.isFinite) { return .outOfRange(id: id, field: "exitMargin") }
        if !isDuration(timeout) { return .outOfRange(id: id, field: "timeout") }
        if !isDuration(exitDelay) { return .outOfRange(id: id, field: "exitDelay") }
        return shapeProblem
    }

    private var shapeProblem: GeofenceError? {
        func isRadius(_ radius: Double) -> Bool { radius > 0 && radius.isFinite }
        func isPlace(_ point: MapPoint) -> Bool { point.x.isFinite && point.y.isFinite }
        switch shape {
        case .area(.polygon(let corners)) where corners.count < 3:
            return .tooFewCorners(id: id, count: corners.count)
        case .polygon(let corners) where corners.count < 3:
            return .tooFewCorners(id: id, count: corners.count)
        case .area(.polygon(let corners)):
            return corners.allSatisfy(isPlace) ? nil : .outOfRange(id: id, field: "a corner")
        case .polygon(let corners):
            return corners.allSatisfy(\.isValid) ? nil : .outOfRange(id: id, field: "a corner")
        case .area(.circle(let center, let radius)):
            if !isPlace(center) { return .outOfRange(id: id, field: "the centre") }
            return isRadius(radius) ? nil : .outOfRange(id: id, field: "the radius")
        case .circle(let center, let radius):
            if !center.isValid { return .outOfRange(id: id, field: "the centre") }
            return isRadius(radius) ? nil : .outOfRange(id: id, field: "the radius")
        }
    }
}
