import CMath
import IndoorVocabulary
import VenueModel

/// What a beacon sounds like at a point.
public struct SignalExpectation: Hashable, Sendable {
    /// Expected RSSI in dBm.
    public var rssi: Double
    /// How uncertain that is, as a variance in dB², from 0; fast fading and the receiver come on top.
    public var variance: Double
    /// Detections a second, above 0; nil if unknown.
    public var rate: Double?

    /// Creates an expectation.
    public init(rssi: Double, variance: Double, rate: Double? = nil) {
        self.rssi = rssi
        self.variance = variance
        self.rate = rate
    }
}

/// Tells what beacons sound like at the points of a venue.
///
/// The engine asks once for each beacon and cell of a map's grid and works on the answers, so that a slow model costs
/// time when the engine is made and none later. `SurveyedPathLoss` is the standard one; it has tables, which the engine
/// takes for the beacons that are heard.
public protocol MeasurementModel: Sendable {
    /// What a beacon sounds like at a point; nil where it cannot be heard.
    ///
    /// Detections a second count only if they are told wherever an RSSI is; otherwise silence says nothing. An RSSI that
    /// is no finite number counts as nil.
    ///
    /// - Parameters:
    ///   - beacon: where it is mounted, with the power at 1 m in dBm and the path-loss exponent that the survey, the
    ///     venue or the settings tell, in this order; neither is nil.
    ///   - point: in metres, within the map's grid.
    ///   - mapID: the map that the point lies on, maybe another one than the beacon's.
    func expectation(of beacon: VenueBeacon, at point: MapPoint, on mapID: MapID) -> SignalExpectation?
}

/// A measurement model that has tables already, or a faster way to them than cell by cell.
protocol TabulatedMeasurement: MeasurementModel {
    /// The tables of some beacons on a map's grid; nil if the model's grid is another one.
    func tables(of beacons: [VenueBeacon], on mapID: MapID, grid: MapGrid) -> SignalTables?
}

extension MeasurementModel {
    /// The tables of some beacons on a map's grid.
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

    /// Asks for every cell; the table is the smallest rectangle around the answers, nil without any.
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
        // What lies within the rectangle and cannot be heard is as all that lies outside.
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
    /// dB²: nobody knows less.
    static let mostVariance = 1e6
    /// Detections a second: a million seconds and more without one are no different.
    private static let leastRate = 1e-9

    /// Whether the numbers are ones to compute with.
    var isUsable: Bool { abs(rssi) <= 1000 && !variance.isNaN && !(rate?.isNaN ?? false) }

    /// The logarithm of detections a second, as tables hold it.
    static func logarithm(of rate: Double) -> Float { Float(cmath_log(min(max(rate, leastRate), 1e9))) }

    /// Detections a second from what tables hold: in double precision, so that the way back gives the same bits.
    static func rate(ofLogarithm logarithm: Float) -> Double { cmath_exp(Double(logarithm)) }
}
