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
