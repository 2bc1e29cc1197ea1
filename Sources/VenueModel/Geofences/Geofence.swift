import IndoorVocabulary

/// A fence that the application draws at run time: on Earth, or on the plans of a venue.
///
/// It is watched beside the fences of the venue's packet, under the same rules; see `Localizer.startMonitoring(_:)`.
public struct Geofence: Hashable, Sendable {
    /// What a geofence encloses.
    public enum Shape: Hashable, Sendable {
        /// Metres on the plan of each floor that the fence is on.
        case area(Area)
        /// The inside of a closed line on Earth, with its corners clockwise or counter-clockwise.
        case polygon([Coordinate])
        /// All that is within `radius` metres of a place on Earth.
        case circle(center: Coordinate, radius: Double)
    }

    /// The name by which it is watched: another fence of that name takes its place.
    public var id: String
    /// The name for people.
    public var name: String
    /// What it encloses.
    public var shape: Shape
    /// The venue that it is in; nil for every venue.
    public var venueID: VenueID?
    /// The map that it is on; nil for every map.
    public var mapID: MapID?
    /// The floor that it is on, as an ordinal; nil for every floor.
    public var level: Int?
    /// After an exit, entering again is silent for this long; nil means the session's `fenceTimeout`.
    public var timeout: Duration?
    /// How long the device must be outside before the exit is told, from 0 s; nil means the session's dwell.
    public var exitDelay: Duration?
    /// How far outside a device that is in still counts as in, in metres from 0.
    public var exitMargin: Double
    /// Any content of the application.
    public var payload: JSONValue?

    /// Creates a geofence, unchecked; see `problem`.
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
    /// Its `id` is `poi-`, the venue's number, `-` and the number of the point of interest: `poi-7-3`. By that it is found
    /// among the fences that are watched, and ended.
    ///
    /// - Parameters:
    ///   - place: of that venue.
    ///   - venue: that the point of interest is in.
    ///   - radius: in metres, above 0.
    public init(around place: PointOfInterest, of venue: VenueID, radius: Double) {
        self.init(
            id: "poi-\(venue)-\(place.id)", name: place.name,
            shape: .area(.circle(center: place.point, radius: radius)), venueID: venue, mapID: place.mapID,
            payload: place.payload)
    }
}

extension Geofence {
    /// Whether a place on Earth is inside, on whatever floor; nil for a shape in metres, which only a plan puts on Earth.
    ///
    /// Linear in the number of corners; edges are straight on the plane that touches the Earth at the first corner.
    public func contains(_ coordinate: Coordinate) -> Bool? {
        guard coordinate.isValid else { return false }
        switch shape {
        case .area:
            return nil
        case .circle(let center, let radius):
            // Beyond the horizon, the plane would fold; within it, great circles and plane agree to a percent.
            guard center.distance(to: coordinate) <= radius * 1.01 else { return false }
            let offset = LocalTangentPlane(origin: center).offset(of: coordinate)
            return offset.east * offset.east + offset.north * offset.north <= radius * radius
        case .polygon(let corners):
            guard let first = corners.first else { return false }
            // No point of a polygon is farther from a corner than another corner is.
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

    /// Whether a point of a venue's map is inside.
    ///
    /// False on a map that the fence is not on, and for a shape on Earth where the map has no georeference.
    public func contains(_ point: MapPoint, on map: VenueMap, of venue: VenueID) -> Bool {
        area(on: map, of: venue, try? map.geoTransform())?.contains(point) ?? false
    }

    /// The fence on a map; nil if it is not on that map, or if nobody knows where the map is on Earth.
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
    /// The coordinate of a point of interest; nil if the venue has no such map, or its map no valid georeference.
    public func coordinate(of place: PointOfInterest) -> Coordinate? {
        guard let transform = try? map(place.mapID)?.geoTransform() else { return nil }
        return transform.coordinate(at: place.point)
    }
}
