import CMath
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
        let logPriors: Once<[Float]>
        let totalRates: Once<[Float]>
        /// The prior of each cell relative to the most probable cell, in (0, 1].
        package var prior: [Float] { priors.value }
        /// The logarithm of the prior.
        var logPrior: [Float] { logPriors.value }
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

/// The tables of all beacons on one map, by beacon index in the field.
///
/// The standard model builds a beacon's table when the beacon is first detected. The tables of other models are built
/// together with the field.
package struct SignalTables: RandomAccessCollection, Sendable {
    private enum Source: Sendable {
        case made([SignalField.Table?])
        /// The index of each beacon in the model; nil if the indexes are the same.
        case pathLoss(PathLossTables, floor: Int, indexes: [Int?]?)
    }

    private let source: Source
    private var hasRates = true
    package let endIndex: Int
    package var startIndex: Int { 0 }

    /// Creates a collection of tables that are already built.
    init(_ tables: [SignalField.Table?]) {
        source = .made(tables)
        endIndex = tables.count
    }

    /// Creates a collection of the standard model's tables on one of its floors.
    ///
    /// - Parameter indexes: the index of each beacon in the model; nil for a beacon that the model doesn't contain.
    init(_ tables: PathLossTables, floor: Int, indexes: [Int?]) {
        let isSame = indexes.count == tables.transmitters.count && indexes.indices.allSatisfy { indexes[$0] == $0 }
        source = .pathLoss(tables, floor: floor, indexes: isSame ? nil : indexes)
        endIndex = indexes.count
    }

    /// The table of a beacon; nil if the beacon cannot be detected anywhere on the map.
    package subscript(beacon: Int) -> SignalField.Table? {
        var table = table(beacon)
        if !hasRates { table?.logRate = [] }
        return table
    }

    private func table(_ beacon: Int) -> SignalField.Table? {
        switch source {
        case .made(let tables): return tables[beacon]
        case .pathLoss(let tables, let floor, let indexes):
            let index = indexes == nil ? beacon : indexes?[beacon]
            return index.flatMap { tables.table($0, floor: floor) }
        }
    }

    /// Whether any beacon has a table.
    var hasTables: Bool {
        switch source {
        case .made(let tables): tables.contains { $0 != nil }
        case .pathLoss(let tables, let floor, let indexes):
            indices.contains { beacon in
                let index = indexes == nil ? beacon : indexes?[beacon]
                return index.map { tables.isHeard($0, floor: floor) } ?? false
            }
        }
    }

    /// Whether every table contains detection rates.
    var tellRates: Bool {
        switch source {
        case .made(let tables): tables.allSatisfy { !($0?.logRate.isEmpty ?? false) }
        case .pathLoss(let tables, _, _): tables.tellRates
        }
    }

    /// The same tables without detection rates.
    var withoutRates: SignalTables {
        var tables = self
        tables.hasRates = false
        return tables
    }

    /// Returns the detections per second of all beacons together, cell by cell.
    ///
    /// - Parameters:
    ///   - none: the total rate where no beacon has a table.
    ///   - unheard: the rate of one beacon outside its table.
    func totalRate(_ grid: MapGrid, none: Float, unheard: Float) -> [Float] {
        var total = [Float](repeating: none, count: grid.count)
        switch source {
        case .made(let tables):
            for table in tables { table?.addRates(to: &total, grid, unheard: unheard) }
        case .pathLoss(let tables, let floor, let indexes):
            for beacon in indices {
                guard let index = indexes == nil ? beacon : indexes?[beacon] else { continue }
                tables.addRates(of: index, floor: floor, to: &total, unheard: unheard)
            }
        }
        return total.map { Swift.max($0, 1e-6) }
    }
}

extension SignalField.Table {
    /// Adds the detections per second to the sums over the map's grid.
    func addRates(to total: inout [Float], _ grid: MapGrid, unheard: Float) {
        guard !columns.isEmpty, !rows.isEmpty else { return }
        var rectangle = grid.rectangle(columns, rows, from: grid.origin, stride: grid.columns)
        cmath_add_exponentials(
            &rectangle, logRate, unheard, rows.lowerBound * grid.columns + columns.lowerBound, &total)
    }
}

extension MapGrid {
    /// Returns a rectangle of cells relative to a point, for a C loop.
    ///
    /// - Parameter stride: the number of columns in the array that holds the cells' values.
    func rectangle(
        _ columns: Range<Int>, _ rows: Range<Int>, from point: MapPoint, stride: Int
    ) -> cmath_rectangle {
        let first = center(of: rows.lowerBound * self.columns + columns.lowerBound)
        return cmath_rectangle(
            x: Float(first.x - point.x), y: Float(first.y - point.y), size: Float(cellSize),
            columns: Int32(columns.count), rows: Int32(rows.count), stride: Int32(stride))
    }
}

/// A builder that makes the tables of a `SignalField` from the positioning parts.
struct SignalFieldBuilder {
    let venue: Venue
    let model: SignalModel
    /// The beacons in the form that the parts receive.
    let beacons: [VenueBeacon]
    let measurement: any MeasurementModel
    let prior: any MapPrior
    /// The factor on the edge of the cells.
    let cellScale: Double
    /// Whether the program supplies its own prior.
    let isOwnPrior: Bool

    /// - Parameter model: the configured model, without the survey's values: each part applies these itself, exactly
    ///   once.
    init(
        venue: Venue, transmitters: TransmitterList, model: SignalModel, parts: PositioningParts, cellScale: Double = 1
    ) {
        self.venue = venue
        self.cellScale = cellScale
        self.model = model.fitted(to: venue.radioMap)
        beacons = transmitters.venueBeacons
        measurement = parts.measurement ?? SurveyedPathLoss(venue: venue, model: model, cellScale: cellScale)
        isOwnPrior = parts.prior != nil
        prior = parts.prior ?? Self.standardPrior(of: venue, model: model)
    }

    private static func standardPrior(of venue: Venue, model: SignalModel) -> any MapPrior {
        let survey = SurveyPrior(venue: venue, model: model)
        guard let paths = venue.paths, model.pathShare > 0 else { return survey }
        return survey.multiplied(
            by: PathPrior(paths: paths, width: model.pathWidth, offPathShare: 1 - model.pathShare))
    }

    /// Returns the tables of the maps in the venue's order, and whether detection rates are known.
    func maps() -> (maps: [SignalField.MapField], areRatesKnown: Bool) {
        let grids = venue.maps.map { MapGrid(of: $0, in: venue, cellScale: cellScale) }
        var tables = zip(venue.maps, grids).map { map, grid in
            measurement.makeTables(of: beacons, on: map.id, grid: grid, model: model)
        }
        let areRatesKnown = tables.allSatisfy(\.tellRates) && tables.contains(where: \.hasTables)
        if !areRatesKnown { tables = tables.map(\.withoutRates) }
        let none = Float(model.unheardRate)
        let unheard = Float(model.unheardRate(of: beacons.count))
        let maps = venue.maps.indices.map { index in
            let (grid, tables, prior, map) = (grids[index], tables[index], prior, venue.maps[index].id)
            let priors = Once { prior.makeWeights(on: map, grid: grid) }
            let logPriors = Once { priors.value.map(cmath_logf) }
            let rates = Once {
                areRatesKnown ? tables.totalRate(grid, none: none, unheard: unheard).map { cmath_logf($0) } : []
            }
            // Evaluate the program's prior now, so that it uses no time while the engine runs.
            if isOwnPrior { _ = priors.value }
            return SignalField.MapField(
                mapID: map, grid: grid, tables: tables, priors: priors, logPriors: logPriors, totalRates: rates,
                outsideRate: cmath_logf(none))
        }
        return (maps, areRatesKnown)
    }
}

/// The beacons of a venue with their path-loss parameters.
struct TransmitterList: Sendable {
    /// The surveyed beacons in the radio map's order, then the beacons that the survey did not detect.
    let beacons: [RadioMap.Beacon]
    /// The path-loss exponent of each beacon.
    let exponents: [Double]
    /// Whether the venue has a survey.
    let isSurveyed: Bool

    init(venue: Venue, model: SignalModel) {
        let surveyed = venue.radioMap?.beacons ?? []
        let heard = Set(surveyed.map(\.identity))
        var seen = heard
        let silent = venue.beacons.filter { seen.insert($0.identity).inserted }
        let known = Dictionary(venue.beacons.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
        // The mean error of the configured powers, estimated from the surveyed beacons.
        let shift =
            surveyed.isEmpty
            ? 0
            : surveyed.reduce(0) { $0 + $1.power - (known[$1.identity]?.measuredPower ?? model.defaultPower) }
                / Double(surveyed.count)
        beacons =
            surveyed
            + silent.map {
                RadioMap.Beacon(
                    identity: $0.identity, mapID: $0.mapID, point: $0.point, z: $0.z,
                    power: ($0.measuredPower ?? model.defaultPower) + shift)
            }
        let common = model.usualExponent(with: venue.radioMap)
        exponents = beacons.map { beacon in
            heard.contains(beacon.identity) ? common : known[beacon.identity]?.pathLossExponent ?? common
        }
        isSurveyed = !surveyed.isEmpty
    }

    /// The same beacons in the form that measurement models receive.
    var venueBeacons: [VenueBeacon] {
        zip(beacons, exponents).map { beacon, exponent in
            VenueBeacon(
                identity: beacon.identity, mapID: beacon.mapID, point: beacon.point, z: beacon.z,
                measuredPower: beacon.power, pathLossExponent: exponent)
        }
    }
}

extension Venue {
    /// The maps that the survey left out, though the venue has beacons or anchors there; empty without a survey.
    ///
    /// Of such a map, the survey says neither that nobody is there nor that a beacon isn't received there. A map without
    /// a survey and without beacons isn't meant for positioning: in the museum of data set ipin2023, such a map between
    /// two others would explain the readings as well as they do.
    var unsurveyedMaps: Set<MapID> {
        guard let radioMap, !radioMap.beacons.isEmpty else { return [] }
        let equipped = Set(beacons.map(\.mapID)).union(anchors.map(\.mapID))
        return equipped.subtracting(radioMap.fingerprints.map(\.mapID))
    }
}

/// The number of floors between the maps of a venue.
struct FloorDistance: Sendable {
    private let levels: [MapID: Int]

    init(_ maps: [VenueMap]) {
        levels = Dictionary(maps.map { ($0.id, $0.level) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the number of floors that a signal from one map to another passes: 0 within a map, and at least 1 to any
    /// other map, such as one with the same level in another building.
    func floors(from home: MapID, to map: MapID) -> Int {
        guard home != map else { return 0 }
        guard let from = levels[home], let to = levels[map] else { return 1 }
        let (difference, isTooLarge) = from.subtractingReportingOverflow(to)
        return isTooLarge ? .max : max(1, Int(clamping: difference.magnitude))
    }
}
