import IndoorVocabulary
import VenueModel

/// Lookup tables of the expected signal of each beacon at each point of a venue.
///
/// The field builds the tables of the standard parts on demand: a map's tables when the receiver detects a beacon that
/// can be detected there, and a beacon's tables when the receiver detects it. All copies share the tables.
package struct SignalField: Sendable {
    /// The table of one beacon on one map: a rectangle of the map's cells.
    package struct Table: Sendable {
        package let columns: Range<Int>
        package let rows: Range<Int>
        /// Expected RSSI in dBm, cell by cell.
        package var mean: [Float]
        /// Variance in dB² of the expected RSSI.
        package var variance: [Float]
        /// Logarithm of the detections per second; empty without a survey.
        package var logRate: [Float]

        /// Returns the index in this table of a cell of the map's grid; nil outside the table.
        @inline(__always)
        func index(column: Int, row: Int) -> Int? {
            guard columns.contains(column), rows.contains(row) else { return nil }
            return (row - rows.lowerBound) * columns.count + (column - columns.lowerBound)
        }
    }

    /// The tables of one map of the venue.
    package struct MapField: Sendable {
        package let mapID: MapID
        package let grid: MapGrid
        /// The tables by beacon index; nil where the beacon cannot be detected anywhere on this map.
        package let tables: SignalTables
        let priors: Once<[Float]>
        let totalRates: Once<[Float]>
        /// The prior of each cell relative to the most probable cell, in (0, 1].
        package var prior: [Float] { priors.value }
        /// Logarithm of the detections per second of all beacons together, by cell; empty without a survey. Like the
        /// prior, it is computed on first use.
        package var logRate: [Float] { totalRates.value }
        /// The same logarithm outside the grid.
        package var outsideRate: Float
    }

    /// The data that the expected level of a beacon is based on.
    private struct TransmitterBasis: Sendable {
        /// Whether the venue specifies the beacon's place, and whether it specifies its power.
        var isPlaced: Bool
        var isPowerKnown: Bool
        /// The number of surveyed places that received the beacon.
        var surveyedPlaces = 0
    }

    /// The path-loss parameters of a beacon.
    struct Transmitter: Hashable, Sendable {
        var mapID: MapID
        var point: MapPoint
        /// Signal strength at 1 m in dBm.
        var power: Double
        var exponent: Double
    }

    /// The parameters of the measurement model.
    package let model: SignalModel
    /// The beacons of the field, by index.
    package let beacons: [BeaconIdentity]
    /// The positions and powers of the same beacons.
    let transmitters: [Transmitter]
    private let bases: Once<[TransmitterBasis]>
    /// The index of each beacon.
    package let indexes: [BeaconIdentity: Int]
    /// The maps, in the venue's order.
    package let maps: [MapField]
    /// The walls of each map.
    package let walls: [WallIndex]
    /// Standard deviation of a mean reading from the table, in dB: the survey's value combined with the deviation that
    /// a survey cannot measure.
    package let readingDeviation: Double
    /// Standard deviation of a mean reading from path loss alone, in dB: the deviation of a reading combined with the
    /// shadowing.
    let pathLossDeviation: Double
    /// Whether detection rates are known, either from a survey or, without one, from path loss.
    package let areRatesKnown: Bool
    /// Whether a survey or the program's measurement model determines the levels of the beacons on each map. Otherwise,
    /// path loss predicts the levels, and the attenuation of the ceilings is unknown.
    let areLevelsKnown: Bool
    /// The weakest levels that the survey's receivers received; nil without a survey.
    let hearingLimit: HearingLimit?
    /// Detections per second assumed for a beacon where it is not expected.
    var unheardRate: Double { model.unheardRate(of: beacons.count) }

    /// Standard deviation in dB of the persistent error of a power that the venue specifies or a survey measured.
    private static let knownPowerDoubt = 2.0
    /// The minimum number of surveyed places for a test of a beacon whose place the venue doesn't specify.
    private static let fewestPlaces = 10
    /// Expected RSSI in dBm where a beacon has no table: below the sensitivity of receivers.
    static let inaudible: Float = -103

    /// Creates the field of a venue from its radio map and its beacons' positions, or from the given parts, which are
    /// evaluated here for every cell.
    ///
    /// - Parameter cellScale: the factor on the edge of the cells, at least 1.
    package init(
        venue: Venue, model: SignalModel = SignalModel(), parts: PositioningParts = PositioningParts(),
        cellScale: Double = 1
    ) {
        let asSet = model
        let model = asSet.fitted(to: venue.radioMap)
        let list = TransmitterList(venue: venue, model: model)
        self.model = model
        areLevelsKnown = list.isSurveyed || parts.measurement != nil
        hearingLimit = list.isSurveyed && parts.measurement == nil ? HearingLimit(of: venue.radioMap) : nil
        beacons = list.beacons.map(\.identity)
        indexes = Dictionary(beacons.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        transmitters = zip(list.beacons, list.exponents).map { beacon, exponent in
            Transmitter(mapID: beacon.mapID, point: beacon.point, power: beacon.power, exponent: exponent)
        }
        let surveyed = model.readingDeviation(with: venue.radioMap)
        readingDeviation = (surveyed * surveyed + model.unseenDeviation * model.unseenDeviation).squareRoot()
        let shadowing = venue.radioMap == nil ? model.unsurveyedDeviation : model.shadowing
        pathLossDeviation = (readingDeviation * readingDeviation + shadowing * shadowing).squareRoot()
        (maps, areRatesKnown) =
            SignalFieldBuilder(venue: venue, transmitters: list, model: asSet, parts: parts, cellScale: cellScale)
            .maps()
        walls = venue.maps.map { WallIndex(walls: $0.walls) }
        let identities = beacons
        bases = Once { Self.bases(of: identities, in: venue) }
    }

    private static func bases(of beacons: [BeaconIdentity], in venue: Venue) -> [TransmitterBasis] {
        let placed = Dictionary(venue.beacons.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
        var bases = beacons.map { beacon in
            TransmitterBasis(isPlaced: placed[beacon] != nil, isPowerKnown: placed[beacon]?.measuredPower != nil)
        }
        // The field begins with the radio map's beacons, so their indexes are equal.
        for place in venue.radioMap?.fingerprints ?? [] {
            for reading in place.readings where bases.indices.contains(reading.beacon) {
                bases[reading.beacon].surveyedPlaces += 1
            }
        }
        return bases
    }

    /// Returns whether the field knows the level of a beacon well enough to test it for faults: the venue specifies its
    /// place, or the survey received it at enough places.
    func isEstablished(_ beacon: Int) -> Bool {
        bases.value[beacon].isPlaced || bases.value[beacon].surveyedPlaces >= Self.fewestPlaces
    }

    /// Returns whether the survey measured the power of a beacon.
    func isPowerSurveyed(_ beacon: Int) -> Bool { bases.value[beacon].surveyedPlaces > 0 }

    /// Returns the standard deviation in dB of the persistent error of a beacon's power.
    func powerDoubt(of beacon: Int) -> Double {
        let foundation = bases.value[beacon]
        return foundation.isPowerKnown || foundation.surveyedPlaces > 0 ? Self.knownPowerDoubt : model.powerDeviation
    }
}

extension SignalField {
    /// Returns the expected RSSI of a beacon at a point in dBm, and its variance in dB²; nil on a map that the field
    /// doesn't contain, or outside the map's grid.
    ///
    /// - Parameter beacon: the beacon's index.
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
