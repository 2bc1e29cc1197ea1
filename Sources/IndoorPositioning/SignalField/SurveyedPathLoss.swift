import IndoorVocabulary
import VenueModel

/// The standard measurement model: path loss, corrected by a Gaussian process over the survey's readings.
///
/// Detection rates also come from the survey; away from the survey, the model predicts them from the RSSI that path
/// loss expects. The model builds each beacon's table on first use, so that creating one model from another is cheap.
/// Source: B. Ferris, D. Hähnel, D. Fox, *Gaussian Processes for Signal Strength-Based Location Estimation*, Robotics:
/// Science and Systems, 2006.
public struct SurveyedPathLoss: MeasurementModel, TabulatedMeasurement {
    private let tables: PathLossTables
    private let indexes: [BeaconIdentity: Int]

    /// Creates the model of a venue with its radio map.
    public init(venue: Venue, model: SignalModel = SignalModel()) {
        self.init(venue: venue, model: model, cellScale: 1)
    }

    /// Creates the model of a venue; `cellScale` is the factor on the edge of the cells.
    init(venue: Venue, model: SignalModel, cellScale: Double) {
        let model = model.fitted(to: venue.radioMap)
        let transmitters = TransmitterList(venue: venue, model: model)
        tables = PathLossTables(venue: venue, transmitters: transmitters, model: model, cellScale: cellScale)
        indexes = Dictionary(
            transmitters.beacons.enumerated().map { ($1.identity, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the expected signal of a beacon in the cell that contains the point; nil for unknown beacons, maps and
    /// points.
    ///
    /// A cell is 0.5 to 1.5 m wide. The first call for a beacon on a map takes time proportional to the surveyed area
    /// around the beacon.
    public func expectation(of beacon: VenueBeacon, at point: MapPoint, on mapID: MapID) -> SignalExpectation? {
        guard let (sheet, grid) = tables.sheet(of: mapID), let cell = grid.cell(at: point),
            let index = indexes[beacon.identity], let table = tables.table(index, sheet: sheet),
            let entry = table.index(column: cell % grid.columns, row: cell / grid.columns)
        else { return nil }
        return SignalExpectation(
            rssi: Double(table.mean[entry]), variance: Double(table.variance[entry]),
            rate: table.logRate.isEmpty ? nil : SignalExpectation.rate(ofLogarithm: table.logRate[entry]))
    }

    func tables(of beacons: [VenueBeacon], on mapID: MapID, grid: MapGrid) -> SignalTables? {
        guard let sheet = tables.sheet(of: mapID), sheet.grid == grid else { return nil }
        return SignalTables(tables, sheet: sheet.index, indexes: beacons.map { indexes[$0.identity] })
    }
}
