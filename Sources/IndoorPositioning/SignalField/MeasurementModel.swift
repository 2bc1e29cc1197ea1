import CMath
import IndoorVocabulary
import VenueModel

/// The expected signal of a beacon at a point.
public struct SignalExpectation: Hashable, Sendable {
    /// Expected RSSI in dBm.
    public var rssi: Double
    /// Variance in dB² of the expected RSSI, at least 0, without fast fading and the receiver's offset.
    public var variance: Double
    /// Detections per second, above 0; nil if unknown.
    public var rate: Double?

    /// Creates an expectation.
    public init(rssi: Double, variance: Double, rate: Double? = nil) {
        self.rssi = rssi
        self.variance = variance
        self.rate = rate
    }
}

/// A model of the signal that beacons produce at the points of a venue.
///
/// The engine evaluates the model once for each beacon and each cell of a map's grid and stores the results. A slow
/// model therefore costs time when the engine is created and none later. The standard model, `SurveyedPathLoss`,
/// provides tables, which the engine uses directly for the detected beacons.
public protocol MeasurementModel: Sendable {
    /// Returns the expected signal of a beacon at a point; nil where the beacon cannot be detected.
    ///
    /// The engine uses detection rates only if the model returns a rate together with every RSSI; otherwise, a missing
    /// detection carries no information. The engine treats an RSSI that isn't finite as nil.
    ///
    /// - Parameters:
    ///   - beacon: the beacon with its position, its power at 1 m in dBm and its path-loss exponent. Power and exponent
    ///     come from the survey, the venue or the settings, in this order, and are never nil.
    ///   - point: a point within the map's grid, in metres.
    ///   - mapID: the map of the point, which can differ from the beacon's map.
    func expectation(of beacon: VenueBeacon, at point: MapPoint, on mapID: MapID) -> SignalExpectation?
}

/// A measurement model that provides tables faster than evaluation cell by cell.
protocol TabulatedMeasurement: MeasurementModel {
    /// Returns the tables of the beacons on a map's grid; nil if the model uses another grid.
    func tables(of beacons: [VenueBeacon], on mapID: MapID, grid: MapGrid) -> SignalTables?
}

extension MeasurementModel {
    /// Returns the tables of the beacons on a map's grid.
    func makeTables(
        of beacons: [VenueBeacon], on mapID: MapID, grid: MapGrid, model: SignalModel
    ) -> SignalTables {
        if let tabulated = self as? any TabulatedMeasurement,
            let tables = tabulated.tables(of: beacons, on: mapID, grid: grid)
        {
            return tables
        }
        let unheard = SignalExpectation.logarithm(of: model.unheardRate(of: beacons.count))
        return SignalTables(beacons.map { sample($0, on: mapID, grid: grid, model: model, unheard: unheard) })
    }

    /// Evaluates the model for every cell; returns the smallest rectangle that contains all results, or nil without
    /// any.
    private func sample(
        _ beacon: VenueBeacon, on mapID: MapID, grid: MapGrid, model: SignalModel, unheard: Float
    ) -> SignalField.Table? {
        var answers: [(cell: Int, expectation: SignalExpectation)] = []
        for cell in 0..<grid.count {
            guard let answer = expectation(of: beacon, at: grid.center(of: cell), on: mapID), answer.isUsable else {
                continue
            }
            answers.append((cell, answer))
        }
        let columns = answers.map { $0.cell % grid.columns }
        guard let first = answers.first, let last = answers.last, let left = columns.min(), let right = columns.max()
        else { return nil }
        // Cells in the rectangle where the beacon cannot be detected get the values that apply outside tables.
        var table = SignalField.Table(
            columns: left..<right + 1, rows: first.cell / grid.columns..<last.cell / grid.columns + 1, mean: [],
            variance: [], logRate: [])
        let count = table.columns.count * table.rows.count
        table.mean = Array(repeating: SignalField.inaudible, count: count)
        table.variance = Array(repeating: Float(model.shadowing * model.shadowing), count: count)
        let tellsRate = answers.allSatisfy { $0.expectation.rate != nil }
        if tellsRate {
            table.logRate = Array(repeating: unheard, count: count)
        }
        for (cell, answer) in answers {
            guard let entry = table.index(column: cell % grid.columns, row: cell / grid.columns) else { continue }
            table.mean[entry] = Float(answer.rssi)
            table.variance[entry] = Float(min(max(0, answer.variance), SignalExpectation.mostVariance))
            if tellsRate, let rate = answer.rate { table.logRate[entry] = SignalExpectation.logarithm(of: rate) }
        }
        return table
    }
}

extension SignalExpectation {
    /// The maximum variance in dB²; a larger one makes no practical difference.
    static let mostVariance = 1e6
    /// The minimum rate in detections per second; a lower one makes no practical difference.
    private static let leastRate = 1e-9

    /// Whether the numbers are valid for computation.
    var isUsable: Bool { abs(rssi) <= 1000 && !variance.isNaN && !(rate?.isNaN ?? false) }

    /// Returns the logarithm of a detection rate, as the tables store it.
    static func logarithm(of rate: Double) -> Float { Float(cmath_log(min(max(rate, leastRate), 1e9))) }

    /// Returns the detection rate of a stored logarithm, in double precision, so that its logarithm is the stored value
    /// again.
    static func rate(ofLogarithm logarithm: Float) -> Double { cmath_exp(Double(logarithm)) }
}

/// The parts of the engine that a program can replace.
///
/// When the engine is created, it evaluates each part once for each cell of each map; the filter works on the results.
/// A part therefore uses no time while the engine runs. The motion model and the resampling scheme are settings:
/// `MotionModel` and `Resampling`.
public struct PositioningParts: Sendable {
    /// The measurement model; nil selects the venue's `SurveyedPathLoss`, with the values of the settings.
    ///
    /// The method `PositioningMethod.trilateration` needs distances and always uses path loss.
    public var measurement: (any MeasurementModel)?
    /// The prior of the position; nil selects the venue's `SurveyPrior`, multiplied by `PathPrior` if the settings
    /// enable it.
    public var prior: (any MapPrior)?

    /// Creates a set of parts; nil selects the standard part.
    public init(measurement: (any MeasurementModel)? = nil, prior: (any MapPrior)? = nil) {
        self.measurement = measurement
        self.prior = prior
    }
}
