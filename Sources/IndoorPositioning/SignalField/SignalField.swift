import IndoorVocabulary
import VenueModel

/// What each beacon should sound like at each place of a venue: tables that the filter looks up.
///
/// What the standard parts tell is made where it is first asked for: a map's when something is heard that is heard
/// there, a beacon's when it is heard. All copies share it.
package struct SignalField: Sendable {
    /// One beacon on one map: a rectangle of the map's cells.
    package struct Table: Sendable {
        package let columns: Range<Int>
        package let rows: Range<Int>
        /// Expected RSSI in dBm, cell by cell.
        package var mean: [Float]
        /// Variance in dB² of that expectation.
        package var variance: [Float]
        /// Logarithm of the detections a second; empty without a survey.
        package var logRate: [Float]

        /// The index of a cell of the map's grid within this table; nil outside.
        @inline(__always)
        func index(column: Int, row: Int) -> Int? {
            guard columns.contains(column), rows.contains(row) else { return nil }
            return (row - rows.lowerBound) * columns.count + (column - columns.lowerBound)
        }
    }

    /// One map of the venue.
    package struct MapField: Sendable {
        package let mapID: MapID
        package let grid: MapGrid
        /// By beacon index; nil where the beacon cannot be heard anywhere on this map.
        package let tables: SignalTables
        let priors: Once<[Float]>
        let totalRates: Once<[Float]>
        /// How expected it is to find somebody in a cell, against the best cell: in (0, 1].
        package var prior: [Float] { priors.value }
        /// Logarithm of the detections a second of all beacons together, by cell; empty without a survey. Made when it is
        /// first asked for, as the prior.
        package var logRate: [Float] { totalRates.value }
        /// The same beyond the grid.
        package var outsideRate: Float
    }

    /// A beacon as path loss knows it.
    struct Transmitter: Hashable, Sendable {
        var mapID: MapID
        var point: MapPoint
        /// Signal strength at 1 m in dBm.
        var power: Double
        var exponent: Double
    }

    /// The numbers of the measurement model.
    package let model: SignalModel
    /// The beacons with a table, by index.
    package let beacons: [BeaconIdentity]
    /// The same beacons' places and powers.
    let transmitters: [Transmitter]
    /// The index of each beacon.
    package let indexes: [BeaconIdentity: Int]
    /// The maps, in the venue's order.
    package let maps: [MapField]
    /// The walls of each map.
    package let walls: [WallIndex]
    /// Standard deviation of a mean reading from the table, in dB: what the survey told and what it could not see.
    package let readingDeviation: Double
    /// Standard deviation of a mean reading from path loss alone, in dB: that of a reading, and the shadowing.
    let pathLossDeviation: Double
    /// Whether detection rates are known: from a survey, or expected of path loss where there is none.
    package let isSurveyed: Bool
    /// Detections a second of a beacon where it should not be heard.
    var unheardRate: Double { model.unheardRate(of: beacons.count) }

    /// Expected RSSI in dBm where a beacon has no table: below what receivers hear.
    static let inaudible: Float = -103

    /// Creates the field of a venue from its radio map and its beacons' places, or from other parts, which are asked here for
    /// every cell.
    package init(venue: Venue, model: SignalModel = SignalModel(), parts: PositioningParts = PositioningParts()) {
        let asSet = model
        let model = asSet.fitted(to: venue.radioMap)
        let list = TransmitterList(venue: venue, model: model)
        self.model = model
        beacons = list.beacons.map(\.identity)
        indexes = Dictionary(beacons.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        transmitters = zip(list.beacons, list.exponents).map { beacon, exponent in
            Transmitter(mapID: beacon.mapID, point: beacon.point, power: beacon.power, exponent: exponent)
        }
        let surveyed = venue.radioMap?.readingDeviation ?? model.readingDeviation
        readingDeviation = (surveyed * surveyed + model.unseenDeviation * model.unseenDeviation).squareRoot()
        let shadowing = venue.radioMap == nil ? model.unsurveyedDeviation : model.shadowing
        pathLossDeviation = (readingDeviation * readingDeviation + shadowing * shadowing).squareRoot()
        (maps, isSurveyed) =
            SignalFieldBuilder(venue: venue, transmitters: list, model: asSet, parts: parts).maps()
        walls = venue.maps.map { WallIndex(walls: $0.walls) }
    }
}

extension SignalField {
    /// What a beacon sounds like at a point, in dBm and dB²; nil on a map that the field has none of, or beyond its grid.
    ///
    /// - Parameter beacon: by its index.
    package func expectation(of beacon: Int, at point: MapPoint, on mapID: MapID) -> (rssi: Double, variance: Double)? {
        guard let map = maps.first(where: { $0.mapID == mapID }), let cell = map.grid.cell(at: point) else {
            return nil
        }
        let (row, column) = cell.quotientAndRemainder(dividingBy: map.grid.columns)
        guard let table = map.tables[beacon], let entry = table.index(column: column, row: row) else {
            return (Double(Self.inaudible), model.shadowing * model.shadowing)
        }
        return (Double(table.mean[entry]), Double(table.variance[entry]))
    }
}
