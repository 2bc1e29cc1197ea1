/// The standard measurement model: path loss, and what the survey heard as a Gaussian process over it.
///
/// Detections a second come from the survey, too, and where it was not from how strong path loss expects a beacon.
/// Sources: B. Ferris, D. Hähnel, D. Fox, *Gaussian Processes for Signal Strength-Based Location Estimation*, Robotics:
/// Science and Systems, 2006. It stands in tables, so that one model may be made out of another at no cost.
public struct SurveyedPathLoss: MeasurementModel, TabulatedMeasurement {
    private struct Sheet: Sendable {
        var grid: MapGrid
        var tables: [SignalField.Table?]
    }

    private let sheets: [MapID: Sheet]
    private let indexes: [BeaconIdentity: Int]

    /// Creates the model of a venue with its radio map; takes time in proportion to the surveyed area and the number of
    /// readings.
    public init(venue: Venue, model: SignalModel = SignalModel()) {
        let model = model.fitted(to: venue.radioMap)
        let transmitters = TransmitterList(venue: venue, model: model)
        let maker = PathLossTables(venue: venue, transmitters: transmitters, model: model)
        var sheets: [MapID: Sheet] = [:]
        for map in venue.maps where sheets[map.id] == nil {
            let grid = MapGrid(of: map, in: venue)
            sheets[map.id] = Sheet(grid: grid, tables: maker.tables(on: map, grid: grid))
        }
        self.sheets = sheets
        indexes = Dictionary(
            transmitters.beacons.enumerated().map { ($1.identity, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// What the beacon with that identity sounds like in the cell that contains the point, an edge of 0.5 to 1.5 m; nil for
    /// beacons, maps and places of which nothing is known.
    public func expectation(of beacon: VenueBeacon, at point: MapPoint, on mapID: MapID) -> SignalExpectation? {
        guard let sheet = sheets[mapID], let cell = sheet.grid.cell(at: point), let index = indexes[beacon.identity],
            let table = sheet.tables[index],
            let entry = table.index(column: cell % sheet.grid.columns, row: cell / sheet.grid.columns)
        else { return nil }
        return SignalExpectation(
            rssi: Double(table.mean[entry]), variance: Double(table.variance[entry]),
            rate: table.logRate.isEmpty ? nil : SignalExpectation.rate(ofLogarithm: table.logRate[entry]))
    }

    func tables(of beacons: [VenueBeacon], on mapID: MapID, grid: MapGrid) -> [SignalField.Table?]? {
        guard let sheet = sheets[mapID], sheet.grid == grid else { return nil }
        return beacons.map { beacon in indexes[beacon.identity].flatMap { sheet.tables[$0] } }
    }
}
