import IndoorVocabulary
import VenueModel

/// The plan on which several levels lie over each other: north is up, and it holds all their features.
struct IMDFFrame: Sendable {
    let center: Coordinate
    /// Metres from the left edge to the right one, in whole decimetres.
    let width: Double
    /// Metres from the top edge to the bottom one, in whole decimetres.
    let height: Double
    private let transform: GeoTransform

    /// Room beside the outermost feature, in metres: people stand before the door, too.
    static let margin = 5.0
    /// The longest plan in metres: the Earth's curvature moves a place at its edge by 2 cm (`d³/2R²` at 10 km).
    static let longest = 20_000.0

    /// The smallest such plan; nil without coordinates or if they lie farther apart than `longest`.
    init?(around coordinates: [Coordinate]) {
        guard let first = coordinates.first, coordinates.allSatisfy({ first.distance(to: $0) < Self.longest }) else {
            return nil
        }
        // Where the plane touches the Earth moves to the middle, which turns "north" a little: again, until it is still.
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

    /// The point of the plan at a coordinate, in whole millimetres: a packet is read by people, too.
    func point(at coordinate: Coordinate) -> MapPoint {
        let point = transform.point(at: coordinate)
        return MapPoint(x: (point.x * 1000).rounded() / 1000, y: (point.y * 1000).rounded() / 1000)
    }

    func points(at coordinates: [Coordinate]) -> [MapPoint] { coordinates.map(point) }

    /// The rings of a polygon on the plan.
    func rings(of polygon: IMDFGeometry.Polygon) -> [[MapPoint]] { polygon.map(points) }
}
