import IndoorVocabulary
import VenueModel

/// The standard measurement model: path loss, and what the survey heard as a Gaussian process over it.
///
/// Detections a second come from the survey, too, and where it was not from how strong path loss expects a beacon.
/// Sources: B. Ferris, D. Hähnel, D. Fox, *Gaussian Processes for Signal Strength-Based Location Estimation*, Robotics:
/// Science and Systems, 2006. It stands in tables, each made when its beacon is first asked for, so that one model may be
/// made out of another at no cost.
public struct SurveyedPathLoss: MeasurementModel, TabulatedMeasurement {
    private let tables: PathLossTables
    private let indexes: [BeaconIdentity: Int]

    /// Creates the model of a venue with its radio map.
    public init(venue: Venue, model: SignalModel = SignalModel()) {
        let model = model.fitted(to: venue.radioMap)
        let transmitters = TransmitterList(venue: venue, model: model)
        tables = PathLossTables(venue: venue, transmitters: transmitters, model: model)
        indexes = Dictionary(
            transmitters.beacons.enumerated().map { ($1.identity, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// What the beacon with that identity sounds like in the cell that contains the point, an edge of 0.5 to 1.5 m; nil for
    /// beacons, maps and places of which nothing is known.
    ///
    /// The first question about a beacon on a map takes time in proportion to the surveyed area around it.
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
