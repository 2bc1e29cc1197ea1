import IndoorVocabulary
import VenueModel

/// The common frame of aligned levels: north is up, and the frame contains all their features.
struct IMDFFrame: Sendable {
    let center: Coordinate
    /// The width in metres, in whole decimetres.
    let width: Double
    /// The height in metres, in whole decimetres.
    let height: Double
    private let transform: GeoTransform

    /// The margin around the outermost feature in metres, for people in front of the building.
    static let margin = 5.0
    /// The largest plan in metres: the Earth's curvature moves a point at its edge by 2 cm (`d³/2R²` at 10 km).
    static let longest = 20_000.0

    /// Creates the smallest frame; nil if there are no coordinates or if they are farther apart than `longest`.
    init?(around coordinates: [Coordinate]) {
        guard let first = coordinates.first, coordinates.allSatisfy({ first.distance(to: $0) < Self.longest }) else {
            return nil
        }
        // The tangent point moves to the middle, which rotates north slightly; repeated until it is stable.
        var center = first
        for _ in 0..<3 {
            let plane = LocalTangentPlane(origin: center)
            let places = coordinates.map { plane.offset(of: $0) }
            let east = places.reduce((low: 0.0, high: -1.0)) { Self.extended($0, $1.east) }
            let north = places.reduce((low: 0.0, high: -1.0)) { Self.extended($0, $1.north) }
            center = plane.coordinate(east: (east.low + east.high) / 2, north: (north.low + north.high) / 2)
        }
        let plane = LocalTangentPlane(origin: center)
        let places = coordinates.map { plane.offset(of: $0) }
        let reach = places.reduce((east: 0.0, north: 0.0)) {
            (max($0.east, abs($1.east)), max($0.north, abs($1.north)))
        }
        width = ((reach.east + Self.margin) * 20).rounded(.up) / 10
        height = ((reach.north + Self.margin) * 20).rounded(.up) / 10
        guard width <= Self.longest, height <= Self.longest,
            let transform = try? GeoTransform(.center(center, bearing: 0), width: width, height: height)
        else { return nil }
        self.center = center
        self.transform = transform
    }

    private static func extended(_ range: (low: Double, high: Double), _ value: Double) -> (low: Double, high: Double) {
        range.low > range.high ? (value, value) : (min(range.low, value), max(range.high, value))
    }

    /// Returns the point at a coordinate, in whole millimetres, so that a packet is easy to read.
    func point(at coordinate: Coordinate) -> MapPoint {
        let point = transform.point(at: coordinate)
        return MapPoint(x: (point.x * 1000).rounded() / 1000, y: (point.y * 1000).rounded() / 1000)
    }

    func points(at coordinates: [Coordinate]) -> [MapPoint] { coordinates.map(point) }

    /// Returns the rings of a polygon on the plan.
    func rings(of polygon: GeoJSONGeometry.Polygon) -> [[MapPoint]] { polygon.map(points) }
}
