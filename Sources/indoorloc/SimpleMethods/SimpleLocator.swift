import CMath
import IndoorLocalization

/// A simple positioning method, for comparison with the engine.
///
/// Each method uses only the mean RSSI of each beacon over the last seconds, and each position by itself.
enum SimpleMethod: String, CaseIterable, Sendable {
    /// The position of the beacon with the highest RSSI.
    ///
    /// Source: P. Bahl, V. N. Padmanabhan, *RADAR: An In-Building RF-Based User Location and Tracking System*, IEEE INFOCOM,
    /// 2000, as the method that RADAR is compared with.
    case strongest
    /// The mean position of the beacons, weighted by amplitude: 10^(RSSI/20).
    ///
    /// Source: J. Blumenthal, R. Grossmann, F. Golatowski, D. Timmermann, *Weighted Centroid Localization in Zigbee-based
    /// Sensor Networks*, IEEE International Symposium on Intelligent Signal Processing, 2007.
    case centroid
    /// The least-squares position from the RSSI of the beacons, by log-distance path loss.
    ///
    /// Sources: T. S. Rappaport, *Wireless Communications: Principles and Practice*, 1996 (path loss); D. W. Marquardt, *An
    /// Algorithm for Least-Squares Estimation of Nonlinear Parameters*, 1963 (solver); P. Charbonnier,
    /// L. Blanc-Féraud, G. Aubert, M. Barlaud, *Deterministic Edge-Preserving Regularization in Computed Imaging*, IEEE
    /// Transactions on Image Processing 6(2), 1997 (robust loss).
    case multilateration
    /// The mean position of the most similar fingerprints of the survey.
    ///
    /// Sources: Bahl and Padmanabhan, as above; B. Li, J. Salter, A. G. Dempster, C. Rizos, *Indoor Positioning Techniques
    /// Based on Wireless LAN*, AusWireless, 2006 (weights).
    case knn
}

/// The parameters of the simple methods.
struct SimpleMethodSettings: Hashable, Sendable {
    /// The weights of the nearest fingerprints.
    enum Weights: String, CaseIterable, Sendable {
        /// All weigh the same.
        case uniform
        /// 1 / (d + 1) at a distance of d dB.
        case distance
    }

    /// The number of nearest fingerprints of ``SimpleMethod/knn``, at least 1.
    var neighbors = 9
    /// Their weights.
    var weights = Weights.distance
    /// The RSSI in dBm that stands for a beacon that was not received.
    var missing = -105.0
    /// The time in seconds over which the RSSI of a beacon is averaged; nil for 4 s, and 20 s during a stay.
    var window: Double?

    /// The window of a walk in seconds.
    var walkWindow: Double { window ?? 4 }
    /// The window of a stay in seconds.
    var stayWindow: Double { window ?? 20 }
}

/// A position estimator by a simple method.
struct SimpleLocator: Sendable {
    /// A point on a map.
    struct Place: Hashable, Sendable {
        var mapID: MapID
        var point: MapPoint
    }

    /// A received beacon with a known position.
    private struct Heard {
        var beacon: SimpleSurvey.Beacon
        var level: Double
    }

    let method: SimpleMethod
    let settings: SimpleMethodSettings
    private let survey: SimpleSurvey
    private let maps: [MapID: VenueMap]

    /// The maximum number of beacons of a multilateration, the strongest ones.
    private static let multilaterationLimit = 8

    /// Creates an estimator from a survey of the venue, which may be empty.
    init(_ method: SimpleMethod, settings: SimpleMethodSettings, venue: Venue, survey: SimpleSurvey) {
        self.method = method
        self.settings = settings
        self.survey = survey
        maps = Dictionary(venue.maps.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the position at which beacons are received with some mean RSSI in dBm; nil if none of them is known.
    func place(of levels: [BeaconIdentity: Double]) -> Place? {
        let known = levels.filter { survey.indexes[$0.key] != nil }
        guard !known.isEmpty else { return nil }
        if method == .knn { return nearest(to: known) }
        // Equal levels are ordered by identity, so that the result doesn't depend on the order of a dictionary.
        let heard = known.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.compactMap { identity, level in
            survey.indexes[identity].flatMap { survey.beacons[$0] }.map { Heard(beacon: $0, level: level) }
        }
        guard let strongest = heard.first else { return nil }
        if method == .strongest { return Place(mapID: strongest.beacon.mapID, point: strongest.beacon.point) }
        let map = Self.heaviestMap(heard.map { ($0.beacon.mapID, Self.amplitude($0.level)) }) ?? strongest.beacon.mapID
        let same = heard.filter { $0.beacon.mapID == map }
        let center = Self.mean(same.map { ($0.beacon.point, Self.amplitude($0.level)) })
        guard method == .multilateration, same.count >= 3, let plan = maps[map] else {
            return Place(mapID: map, point: center)
        }
        let terms = same.prefix(Self.multilaterationLimit).map {
            PathLossPosition.Term(point: $0.beacon.point, power: $0.beacon.power, level: $0.level)
        }
        let fit = PathLossPosition(
            terms: terms, exponent: survey.exponent, corner: MapPoint(x: plan.width, y: plan.height))
        return Place(mapID: map, point: fit.point(from: center))
    }

    /// Returns the mean place of the nearest fingerprints, on the map with most of their weight.
    private func nearest(to levels: [BeaconIdentity: Double]) -> Place? {
        let missing = settings.missing
        var vector = [Double](repeating: missing, count: survey.beacons.count)
        for (identity, level) in levels { survey.indexes[identity].map { vector[$0] = level } }
        // The distance to a fingerprint without readings; each reading then replaces its part of the sum.
        let base = vector.reduce(0) { $0 + ($1 - missing) * ($1 - missing) }
        let distances = survey.fingerprints.indices.map { index in
            let square = survey.fingerprints[index].levels.reduce(base) { sum, reading in
                let (far, near) = (vector[reading.beacon] - missing, vector[reading.beacon] - reading.level)
                return sum - far * far + near * near
            }
            return (index: index, distance: max(0, square).squareRoot())
        }
        let nearest = distances.sorted { ($0.distance, $0.index) < ($1.distance, $1.index) }.prefix(settings.neighbors)
        let weighted = nearest.map { neighbor in
            (
                place: survey.fingerprints[neighbor.index].place,
                weight: settings.weights == .uniform ? 1 : 1 / (neighbor.distance + 1)
            )
        }
        guard let map = Self.heaviestMap(weighted.map { ($0.place.mapID, $0.weight) }) else { return nil }
        let same = weighted.filter { $0.place.mapID == map }
        return Place(mapID: map, point: Self.mean(same.map { ($0.place.point, $0.weight) }))
    }

    /// The amplitude of an RSSI in dBm, up to a constant factor.
    static func amplitude(_ level: Double) -> Double { cmath_pow(10, level / 20) }

    /// Returns the map with the greatest sum of weights; of equal ones, the one with the lowest number.
    static func heaviestMap(_ weights: [(mapID: MapID, weight: Double)]) -> MapID? {
        let sums = Dictionary(weights.map { ($0.mapID, $0.weight) }, uniquingKeysWith: +)
        return sums.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    }

    /// Returns the weighted mean of some points, of which there is at least one.
    static func mean(_ points: [(point: MapPoint, weight: Double)]) -> MapPoint {
        let total = points.reduce(0) { $0 + $1.weight }
        return points.reduce(MapPoint(x: 0, y: 0)) { $0 + $1.point * ($1.weight / total) }
    }
}

/// The position at which log-distance path loss best fits the RSSI of some beacons.
///
/// The expected RSSI is power − 10·n·log₁₀ d, with a height difference of 1 m in d. The solver is Levenberg–Marquardt within
/// the plan, with the loss 2·(√(1 + (r/s)²) − 1) of a residual r and the scale s = 4 dB, as iteratively reweighted least
/// squares.
struct PathLossPosition: Sendable {
    /// A received beacon.
    struct Term: Hashable, Sendable {
        var point: MapPoint
        /// RSSI at 1 m in dBm.
        var power: Double
        /// Measured RSSI in dBm.
        var level: Double
    }

    let terms: [Term]
    let exponent: Double
    /// The corner of the plan opposite its origin.
    let corner: MapPoint

    private static let scale = 4.0
    private static let iterations = 60
    /// The square of the height difference between beacon and device in m².
    static let squaredHeight = 1.0

    /// Returns the position, found from a starting point.
    func point(from start: MapPoint) -> MapPoint {
        var point = clamped(start)
        var cost = cost(at: point)
        var damping = 1e-3
        for _ in 0..<Self.iterations {
            let step = step(at: point, damping: damping)
            let next = clamped(point + step)
            let nextCost = self.cost(at: next)
            guard nextCost <= cost else {
                damping *= 5
                if damping > 1e9 { break }
                continue
            }
            let isDone = next.distance(to: point) < 1e-6
            (point, cost, damping) = (next, nextCost, max(damping / 5, 1e-9))
            if isDone { break }
        }
        return point
    }

    private func clamped(_ point: MapPoint) -> MapPoint {
        MapPoint(x: min(max(point.x, 0), corner.x), y: min(max(point.y, 0), corner.y))
    }

    private func residual(_ term: Term, at point: MapPoint) -> (value: Double, slope: MapPoint) {
        let offset = point - term.point
        let square = offset.x * offset.x + offset.y * offset.y + Self.squaredHeight
        let value = term.level - term.power + 5 * exponent * cmath_log10(square)
        return (value, offset * (-10 * exponent / cmath_log(10) / square))
    }

    private func cost(at point: MapPoint) -> Double {
        terms.reduce(0) { sum, term in
            let ratio = residual(term, at: point).value / Self.scale
            return sum + 2 * ((1 + ratio * ratio).squareRoot() - 1)
        }
    }

    private func step(at point: MapPoint, damping: Double) -> MapPoint {
        var (xx, xy, yy, x, y) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for term in terms {
            let (value, slope) = residual(term, at: point)
            let weight = 1 / (1 + (value / Self.scale) * (value / Self.scale)).squareRoot()
            xx += weight * slope.x * slope.x
            xy += weight * slope.x * slope.y
            yy += weight * slope.y * slope.y
            x += weight * slope.x * value
            y += weight * slope.y * value
        }
        // A coordinate at an edge stays there if the cost falls only beyond the edge.
        let isFixed = (
            x: point.x <= 0 && x < 0 || point.x >= corner.x && x > 0,
            y: point.y <= 0 && y < 0 || point.y >= corner.y && y > 0
        )
        (xx, yy) = (xx * (1 + damping) + 1e-12, yy * (1 + damping) + 1e-12)
        if isFixed.x || isFixed.y {
            return MapPoint(x: isFixed.x ? 0 : x / xx, y: isFixed.y ? 0 : y / yy)
        }
        let determinant = xx * yy - xy * xy
        return MapPoint(x: (yy * x - xy * y) / determinant, y: (xx * y - xy * x) / determinant)
    }
}
