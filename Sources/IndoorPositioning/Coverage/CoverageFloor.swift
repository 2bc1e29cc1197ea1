import CMath
import IndoorVocabulary
import VenueModel

/// The walkable cells of one map, for a coverage analysis.
struct CoverageFloor: Sendable {
    let map: VenueMap
    let grid: MapGrid
    /// The walkable cells.
    let cells: [Int]
    /// The inside of the map.
    let interior: MapInterior
    private let walls: WallCrossings
    /// The variance in m² of a walkable place along each axis.
    private let variance: (x: Double, y: Double)

    /// The maximum number of cells of a map.
    private static let cellLimit = 6000.0
    /// The distance from a beacon, in cells, below which the information varies within a cell.
    private static let near = 4.0

    init(_ map: VenueMap, of venue: Venue, cellSize: Double) {
        self.map = map
        interior = MapInterior(of: map, in: venue)
        let (width, height) = (max(map.width, 0.1), max(map.height, 0.1))
        let least = (width * height / Self.cellLimit).squareRoot()
        let grid = MapGrid(from: .init(x: 0, y: 0), to: .init(x: width, y: height), cellSize: max(cellSize, least))
        self.grid = grid
        cells = WalkableCells(of: map, interior, grid: grid).cells
        walls = WallCrossings(of: map)
        let points = cells.map(grid.center)
        func variance(_ values: [Double]) -> Double {
            let mean = values.reduce(0, +) / Double(max(1, values.count))
            let sum = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
            // Plus the variance of an unknown place within a cell.
            return sum / Double(max(1, values.count)) + grid.cellSize * grid.cellSize / 12
        }
        self.variance = (variance(points.map(\.x)), variance(points.map(\.y)))
    }

    /// Returns the probability in each walkable cell that the receiver detects a beacon; 0 where it is negligible.
    ///
    /// - Parameter floors: the number of floors between the beacon and the map.
    func detections(of beacon: SignalField.Transmitter, floors: Int, signal: CoverageSignal) -> [Float] {
        let power = beacon.power - Double(floors) * signal.model.floorLoss
        return cells.map { cell in
            let center = grid.center(of: cell)
            let open = signal.model.pathLoss(
                power: power, exponent: beacon.exponent, planar: center.distance(to: beacon.point),
                height: signal.model.heightDifference)
            guard signal.detection(open) >= CoverageSignal.least else { return 0 }
            let crossed = floors == 0 && signal.wallLoss > 0 ? walls.count(from: beacon.point, to: center) : 0
            let detection =
                crossed > 0 ? signal.detection(open - signal.wallLoss * Double(crossed)) : signal.detection(open)
            return detection < CoverageSignal.least ? 0 : Float(detection)
        }
    }

    /// Returns the information of a reading, averaged over the cell: the slope of path loss is zero directly below a
    /// beacon, where a reading nevertheless locates the receiver within the cell.
    ///
    /// - Parameter position: the position of the cell in `cells`.
    func information(
        at position: Int, of beacon: SignalField.Transmitter, signal: CoverageSignal
    ) -> PositionInformation {
        let center = grid.center(of: cells[position])
        let isNear = center.distance(to: beacon.point) < Self.near * grid.cellSize
        let steps = isNear ? [-1.0 / 3, 0, 1.0 / 3] : [0.0]
        let share = 1 / Double(steps.count * steps.count)
        var mean = PositionInformation()
        for x in steps {
            for y in steps {
                let point = center + MapPoint(x: x, y: y) * grid.cellSize
                mean.add(
                    offset: point - beacon.point, height: signal.model.heightDifference, exponent: beacon.exponent,
                    precision: share * signal.precision)
            }
        }
        return mean
    }

    /// Returns the expected 68 % error in metres for the sum of all readings' information.
    func error(_ information: PositionInformation, receiverVariance: Double) -> Double {
        var all = information
        all.addPrior(varianceX: variance.x, varianceY: variance.y)
        guard let bound = all.bound(receiverVariance: receiverVariance) else { return longestError }
        return min(longestError, PositionCovariance.radiusOfDeviation * ((bound.xx + bound.yy) / 2).squareRoot())
    }

    /// The 68 % error in metres without any reading.
    private var longestError: Double {
        PositionCovariance.radiusOfDeviation * ((variance.x + variance.y) / 2).squareRoot()
    }

    /// Returns the distance in metres from a point to the nearest wall; infinity without walls.
    func distanceToWall(from point: MapPoint) -> Double { walls.distance(to: point) }
}

/// The cells of a map's grid that people can reach.
struct WalkableCells: Sendable {
    let cells: [Int]

    /// The maximum distance in metres between the tested points of a cell. The large cells of a large map would
    /// otherwise miss a corridor.
    private static let spacing = 0.5

    /// Selects the cells of which a tested point is inside; if nothing says where the inside is, the cells with a tested
    /// point on the plan.
    init(of map: VenueMap, _ interior: MapInterior, grid: MapGrid) {
        // A cell of at most 1 m is tested at its centre.
        let count = grid.cellSize <= 1 ? 1 : Int((grid.cellSize / Self.spacing).rounded(.up))
        let offsets = (0..<count).map { ((Double($0) + 0.5) / Double(count) - 0.5) * grid.cellSize }
        let selected = (0..<grid.count).filter { cell in
            let center = grid.center(of: cell)
            return offsets.contains { x in
                offsets.contains { y in
                    let point = center + MapPoint(x: x, y: y)
                    guard point.x <= map.width, point.y <= map.height else { return false }
                    return interior.contains(point)
                }
            }
        }
        // Areas between all tested points are represented by the cells of their corners.
        cells = selected.isEmpty ? Set(interior.corners.compactMap(grid.cell(at:))).sorted() : selected
    }
}

/// The signal of beacons for a coverage analysis: the variance of readings and the detection probability.
struct CoverageSignal: Sendable {
    let model: SignalModel
    let wallLoss: Double
    /// The inverse of the variance of the mean reading of one beacon, in 1/dB².
    let precision: Double
    private let duration: Double
    private let advertisements: Double
    /// The detection rates of the survey; nil without one.
    private let curve: DetectionCurve?
    /// The detection rate of a beacon at places where path loss predicts no reception.
    private let unheardRate: Double

    /// The minimum detection probability that contributes to a position.
    static let least = 0.01

    init(venue: Venue, field: SignalField, settings: CoverageSettings) {
        model = field.model
        wallLoss = settings.wallLoss
        duration = settings.duration
        advertisements = max(1, settings.duration / settings.advertisingInterval)
        unheardRate = field.unheardRate
        var deviation = field.pathLossDeviation
        if let map = venue.radioMap, !map.beacons.isEmpty {
            deviation = field.readingDeviation
            curve = DetectionCurve(
                of: map.beacons, map.fingerprints, exponents: map.beacons.map { _ in map.pathLossExponent },
                model: field.model)
        } else {
            curve = nil
        }
        let fading = model.fastFading * model.fastFading / min(advertisements, Double(max(1, model.readingCap)))
        precision = 1 / max(deviation * deviation + fading, 1e-6)
    }

    /// Returns the probability that the receiver detects a beacon at least once while it scans for one position.
    ///
    /// - Parameter rssi: the RSSI in dBm that path loss predicts.
    func detection(_ rssi: Double) -> Double {
        if let curve { return 1 - cmath_exp(-max(0, curve.rate(rssi: rssi) - unheardRate) * duration) }
        let single = 1 / (1 + cmath_exp(-(rssi - model.sensitivity) / model.sensitivityWidth))
        return 1 - cmath_exp(advertisements * cmath_log(max(1 - single, 1e-12)))
    }
}

/// The Fisher information of RSSI readings about a position and the receiver's offset.
///
/// The inverse is the Cramér–Rao bound: the least covariance of any unbiased estimator. Source: N. Patwari, A. O. Hero,
/// M. Perkins, N. S. Correal, R. J. O'Dea, *Relative Location Estimation in Wireless Sensor Networks*, IEEE Transactions
/// on Signal Processing 51(8), 2003; here with a difference in height. The offset of the receiver is a nuisance
/// parameter with a normal prior: S. M. Kay, *Fundamentals of Statistical Signal Processing: Estimation Theory*, 1993,
/// section 3.7.
package struct PositionInformation: Hashable, Sendable {
    /// The information about the coordinates, in 1/m².
    package private(set) var xx = 0.0
    package private(set) var xy = 0.0
    package private(set) var yy = 0.0
    /// The information that the coordinates and the receiver's offset share, in 1/(m dB).
    private var xo = 0.0
    private var yo = 0.0
    /// The information about the receiver's offset, in 1/dB².
    private var oo = 0.0

    /// The minimum squared distance from a beacon, in m².
    private static let leastSquare = 0.01

    /// Creates information without readings.
    package init() {}

    /// Adds the reading of a beacon.
    ///
    /// - Parameters:
    ///   - offset: the horizontal vector from the beacon to the position, in metres.
    ///   - height: the difference in height in metres.
    ///   - exponent: the path-loss exponent.
    ///   - precision: the inverse of the reading's variance, in 1/dB².
    package mutating func add(offset: MapPoint, height: Double, exponent: Double, precision: Double) {
        // The path-loss law doesn't hold next to the antenna, where its slope would be infinite.
        let square = max(Self.leastSquare, offset.x * offset.x + offset.y * offset.y + height * height)
        // The slope of path loss, 10·n·log₁₀ d, in dB/m.
        let slope = 10 * exponent / 2.302_585_092_994_046 / square
        let (x, y) = (-slope * offset.x, -slope * offset.y)
        xx += precision * x * x
        xy += precision * x * y
        yy += precision * y * y
        xo += precision * x
        yo += precision * y
        oo += precision
    }

    /// Adds other information, multiplied by a share.
    package mutating func add(_ other: PositionInformation, share: Double = 1) {
        xx += share * other.xx
        xy += share * other.xy
        yy += share * other.yy
        xo += share * other.xo
        yo += share * other.yo
        oo += share * other.oo
    }

    /// Adds what is known about the position without readings, as the variance along each axis in m².
    ///
    /// Source: Y. Qi, H. Kobayashi, *On Geolocation Accuracy with Prior Information in Non-line-of-sight Environment*,
    /// IEEE Vehicular Technology Conference, 2002.
    mutating func addPrior(varianceX: Double, varianceY: Double) {
        xx += 1 / varianceX
        yy += 1 / varianceY
    }

    /// Returns the bound of the covariance; nil if the readings leave a direction unobservable.
    ///
    /// - Parameter receiverVariance: the variance in dB² of the receiver's unknown offset; 0 for a known receiver.
    package func bound(receiverVariance: Double = 0) -> PositionCovariance? {
        var (a, b, c) = (xx, xy, yy)
        if receiverVariance > 0 {
            let known = oo + 1 / receiverVariance
            a -= xo * xo / known
            b -= xo * yo / known
            c -= yo * yo / known
        }
        let determinant = a * c - b * b
        guard determinant > 1e-12 * (a + c) * (a + c) else { return nil }
        return PositionCovariance(xx: c / determinant, xy: -b / determinant, yy: a / determinant)
    }
}
