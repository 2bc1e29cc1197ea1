import CMath
import IndoorVocabulary

/// An estimated position of the device.
public struct Position: Hashable, Sendable {
    /// The time of the position.
    public var instant: Instant
    /// The venue that the device is in.
    public var venueID: VenueID
    /// The map that the device is on.
    public var mapID: MapID
    /// The point on the map, in metres.
    public var point: MapPoint
    /// The 68 % error radius in metres: the true position lies within it 68 % of the time.
    public var radius: Double
    /// The covariance of the error of `point`; nil if unknown. On average, its 68 % ellipse is as large as the circle
    /// with `radius`.
    public var covariance: PositionCovariance?
    /// The name of the room that contains the point; nil if there is none.
    public var label: String?
    /// The rooms with a probability of at least 1 %, the most probable first. The probabilities sum to less than 1 if
    /// the device may be in no room or in a less probable room. Empty if the rooms of the venue have no shapes.
    public var rooms: [RoomProbability]
    /// The point in pixels of the plan's image; nil if the image size is unknown.
    public var pixel: PixelPoint?
    /// The coordinate of the point; nil if the map isn't georeferenced.
    public var coordinate: Coordinate?
    /// The direction of movement in degrees clockwise from the plan's top; nil while the device stands or if the
    /// direction is unknown.
    public var course: Double?
    /// The speed in metres per second; nil if unknown.
    public var speed: Double?
    /// The probability that the device is on this map, in [0, 1]; nil if unknown.
    public var floorCertainty: Double?

    /// Metres to the right of the plan's left edge.
    public var x: Double { point.x }
    /// Metres below the plan's top edge.
    public var y: Double { point.y }

    /// Creates a position.
    public init(
        instant: Instant, venueID: VenueID, mapID: MapID, point: MapPoint, radius: Double,
        covariance: PositionCovariance? = nil, label: String? = nil, rooms: [RoomProbability] = [],
        pixel: PixelPoint? = nil, coordinate: Coordinate? = nil, course: Double? = nil, speed: Double? = nil,
        floorCertainty: Double? = nil
    ) {
        self.instant = instant
        self.venueID = venueID
        self.mapID = mapID
        self.point = point
        self.radius = radius
        self.covariance = covariance
        self.label = label
        self.rooms = rooms
        self.pixel = pixel
        self.coordinate = coordinate
        self.course = course
        self.speed = speed
        self.floorCertainty = floorCertainty
    }
}

/// The probability that the device is in a room.
public struct RoomProbability: Hashable, Sendable {
    /// The ID of the room within its venue.
    public var id: Int
    /// The name of the room.
    public var name: String
    /// The probability in (0, 1].
    public var probability: Double

    /// Creates a probability of a room.
    public init(id: Int, name: String, probability: Double) {
        self.id = id
        self.name = name
        self.probability = probability
    }
}

/// The covariance matrix of the error of a point along the axes of its map, in m².
public struct PositionCovariance: Hashable, Sendable {
    /// The variance along the map's x axis.
    public var xx: Double
    /// The covariance of both axes.
    public var xy: Double
    /// The variance along the map's y axis.
    public var yy: Double

    /// The 68 % radius of a two-dimensional normal distribution, in standard deviations along one axis: √(−2 ln 0.32).
    package static let radiusOfDeviation = 1.51

    /// An ellipse around a point.
    public struct Ellipse: Hashable, Sendable {
        /// The semi-major axis in metres.
        public var semiMajorAxis: Double
        /// The semi-minor axis in metres.
        public var semiMinorAxis: Double
        /// The direction of the major axis in degrees clockwise from the plan's top, in [0, 180).
        public var direction: Double
    }

    /// Creates a covariance matrix, with values in m².
    public init(xx: Double, xy: Double, yy: Double) {
        self.xx = xx
        self.xy = xy
        self.yy = yy
    }

    /// Returns the ellipse that contains the true position with a probability in (0, 1), if the error is normally
    /// distributed; nil if the matrix isn't a valid covariance, or if the probability is out of range.
    ///
    /// The edge is √(−2 ln(1 − p)) standard deviations from the centre, because the squared distance in standard
    /// deviations has a χ² distribution with two degrees of freedom.
    public func ellipse(probability: Double = 0.68) -> Ellipse? {
        let (mean, half) = ((xx + yy) / 2, (xx - yy) / 2)
        let spread = cmath_hypot(half, xy)
        guard probability > 0, probability < 1, spread.isFinite, mean - spread >= -1e-9 * mean else { return nil }
        let scale = -2 * cmath_log(1 - probability)
        // The plan's y axis points down: an angle from the x axis is clockwise, and the plan's top is 90°
        // counter-clockwise from the x axis.
        let angle = 0.5 * cmath_atan2(2 * xy, xx - yy) * 180 / .pi + 90
        return Ellipse(
            semiMajorAxis: (scale * (mean + spread)).squareRoot(),
            semiMinorAxis: (scale * max(0, mean - spread)).squareRoot(),
            direction: angle >= 180 ? angle - 180 : angle)
    }
}

/// A satellite position of the device, used while no floor is known.
public struct OutdoorPosition: Hashable, Sendable {
    /// The time of the position.
    public var instant: Instant
    /// The coordinate of the device.
    public var coordinate: Coordinate
    /// The 68 % error radius in metres.
    public var radius: Double
    /// The altitude in metres above the WGS84 ellipsoid; nil if unknown.
    public var altitude: Double?
    /// The speed over ground in metres per second; nil if unknown.
    public var speed: Double?
    /// The direction of movement in degrees clockwise from true north, in [0, 360); nil if unknown.
    public var course: Double?

    /// Creates a position.
    public init(
        instant: Instant, coordinate: Coordinate, radius: Double, altitude: Double? = nil, speed: Double? = nil,
        course: Double? = nil
    ) {
        self.instant = instant
        self.coordinate = coordinate
        self.radius = radius
        self.altitude = altitude
        self.speed = speed
        self.course = course
    }
}

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

/// The conversion of an error radius to the horizontal dilution of precision (HDOP), for formats without an error
/// radius.
package enum HorizontalDilution {
    /// gpsd's estimate of the range error in metres. gpsd reports HDOP × 19 m as the horizontal error, so it reports
    /// the radius for a dilution of radius / 19 m.
    private static let metersPerUnit = 19.0

    /// Returns the dilution for a 68 % radius in metres.
    package static func ofRadius(_ radius: Double) -> Double { radius / metersPerUnit }
}
