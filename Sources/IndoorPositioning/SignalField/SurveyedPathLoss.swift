import CMath
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
        guard let (floor, grid) = tables.floor(of: mapID), let cell = grid.cell(at: point),
            let index = indexes[beacon.identity], let table = tables.table(index, floor: floor),
            let entry = table.index(column: cell % grid.columns, row: cell / grid.columns)
        else { return nil }
        return SignalExpectation(
            rssi: Double(table.mean[entry]), variance: Double(table.variance[entry]),
            rate: table.logRate.isEmpty ? nil : SignalExpectation.rate(ofLogarithm: table.logRate[entry]))
    }

    func tables(of beacons: [VenueBeacon], on mapID: MapID, grid: MapGrid) -> SignalTables? {
        guard let floor = tables.floor(of: mapID), floor.grid == grid else { return nil }
        return SignalTables(tables, floor: floor.index, indexes: beacons.map { indexes[$0.identity] })
    }
}

/// The tables of `SurveyedPathLoss`: path loss, the Gaussian process over it, and detection rates.
///
/// Each table is built on first use. The most recently used tables are kept for all sessions that share this object.
final class PathLossTables: Sendable {
    /// The grid and the survey of one map.
    private struct Floor: Sendable {
        let map: VenueMap
        let grid: MapGrid
        /// Whether the survey left the map out although it has beacons.
        let isUnsurveyed: Bool
        let survey: Once<MapSurvey>
        /// The walls of the plan; nil if they are not part of the model.
        let walls: WallCrossings?
    }

    private let radioMap: RadioMap?
    private let model: SignalModel
    /// The beacons with their path-loss parameters.
    let transmitters: [RadioMap.Beacon]
    private let exponents: [Double]
    private let isSurveyed: Bool
    /// The detection rates away from the survey.
    private let detection: Once<DetectionCurve>
    private let floorDistance: FloorDistance
    private let floors: [Floor]
    private let floorsByMap: [MapID: Int]
    private let cache: TableCache

    /// Distance, in shadowing lengths, above which a reading carries no information about shadowing.
    private static let reach = 4.0

    init(
        venue: Venue, transmitters list: TransmitterList, model: SignalModel, cellScale: Double = 1,
        cache: TableCache = TableCache()
    ) {
        radioMap = venue.radioMap
        self.model = model
        self.cache = cache
        floorDistance = FloorDistance(venue.maps)
        (transmitters, exponents, isSurveyed) = (list.beacons, list.exponents, list.isSurveyed)
        let (radioMap, count) = (venue.radioMap, list.beacons.count)
        detection = Once {
            DetectionCurve(
                of: radioMap?.beacons ?? [], radioMap?.fingerprints ?? [], exponents: list.exponents, model: model)
        }
        let unsurveyed = venue.unsurveyedMaps
        floors = venue.maps.map { map in
            let grid = MapGrid(of: map, in: venue, cellScale: cellScale)
            return Floor(
                map: map, grid: grid, isUnsurveyed: unsurveyed.contains(map.id),
                survey: Once { MapSurvey(of: map.id, grid: grid, in: radioMap, beacons: count, model: model) },
                walls: model.wallLoss > 0 && !map.walls.isEmpty ? WallCrossings(of: map) : nil)
        }
        floorsByMap = Dictionary(
            venue.maps.indices.map { (venue.maps[$0].id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether the tables contain detection rates.
    var tellRates: Bool { isSurveyed || isExpected }

    /// Whether detection rates are predicted from path loss alone.
    private var isExpected: Bool { radioMap == nil && model.detectionWeight > 0 }

    /// Returns the index of a map's floor and the map's grid; nil for an unknown map.
    func floor(of map: MapID) -> (index: Int, grid: MapGrid)? { floorsByMap[map].map { ($0, floors[$0].grid) } }

    /// Returns the table of a beacon on a floor; nil if the beacon cannot be detected there.
    func table(_ index: Int, floor: Int) -> SignalField.Table? {
        cache.table(floor * transmitters.count + index) { make(index, floors[floor]) }
    }

    /// Returns whether a beacon has a table on a floor.
    func isHeard(_ index: Int, floor: Int) -> Bool {
        let floor = floors[floor]
        guard !isNeverHeard(index, floor) else { return false }
        let block = extent(index, floor, readings(of: index, floor))
        return !block.columns.isEmpty && !block.rows.isEmpty
    }

    /// Adds the detections per second of a beacon to the sums over a floor's grid. Without walls, its table isn't stored.
    func addRates(of index: Int, floor number: Int, to total: inout [Float], unheard: Float) {
        let floor = floors[number]
        guard walls(of: index, floor) == nil else {
            // Counting the walls takes time, and the table is needed when the beacon is received.
            table(index, floor: number)?.addRates(to: &total, floor.grid, unheard: unheard)
            return
        }
        guard isExpected, !isSurveyed else {
            make(index, floor)?.addRates(to: &total, floor.grid, unheard: unheard)
            return
        }
        let block = extent(index, floor, [])
        guard !block.columns.isEmpty, !block.rows.isEmpty else { return }
        let grid = floor.grid
        var rectangle = grid.rectangle(block.columns, block.rows, from: transmitters[index].point, stride: grid.columns)
        var loss = loss(of: index, on: floor.map)
        var sensitivity = sensitivity
        cmath_add_expected(
            &rectangle, &loss, &sensitivity, block.rows.lowerBound * grid.columns + block.columns.lowerBound, &total)
    }

    private func readings(of index: Int, _ floor: Floor) -> [MapSurvey.Heard] {
        isSurveyed ? floor.survey.value.readings(of: index, in: radioMap) : []
    }

    /// Returns whether the survey detected a beacon, but not on this map.
    private func isNeverHeard(_ index: Int, _ floor: Floor) -> Bool {
        isSurveyed && !floor.isUnsurveyed && index < radioMap?.beacons.count ?? 0
            && transmitters[index].mapID != floor.map.id
            && !floor.survey.value.hasHeard(index)
    }

    private func make(_ index: Int, _ floor: Floor) -> SignalField.Table? {
        guard !isNeverHeard(index, floor) else { return nil }
        let grid = floor.grid
        let readings = readings(of: index, floor)
        let extent = extent(index, floor, readings)
        guard !extent.columns.isEmpty, !extent.rows.isEmpty else { return nil }
        let count = extent.columns.count * extent.rows.count
        var table = SignalField.Table(
            columns: extent.columns, rows: extent.rows, mean: Array(repeating: 0, count: count), variance: [],
            logRate: [])
        var rectangle = grid.rectangle(
            extent.columns, extent.rows, from: transmitters[index].point, stride: extent.columns.count)
        var loss = loss(of: index, on: floor.map)
        cmath_levels(&rectangle, &loss, &table.mean)
        addWalls(&table, index, floor)
        addShadowing(&table, grid, readings)
        if isSurveyed {
            table.logRate = rates(table, floor, readings).map { cmath_logf($0) }
        } else if isExpected {
            table.logRate = Array(repeating: 0, count: count)
            var sensitivity = sensitivity
            let unheard = Float(model.unheardRate(of: transmitters.count))
            cmath_log_rates(table.mean, count, &sensitivity, unheard, &table.logRate)
        }
        return table
    }

    /// Returns the walls that attenuate a beacon on a floor; nil if there are none.
    private func walls(of index: Int, _ floor: Floor) -> WallCrossings? {
        transmitters[index].mapID == floor.map.id ? floor.walls : nil
    }

    /// Subtracts the loss of the walls between a beacon and each cell of its table.
    private func addWalls(_ table: inout SignalField.Table, _ index: Int, _ floor: Floor) {
        guard let walls = walls(of: index, floor) else { return }
        let counts = walls.counts(
            from: transmitters[index].point, to: floor.grid, columns: table.columns, rows: table.rows)
        let loss = Float(model.wallLoss)
        for (cell, count) in counts.enumerated() {
            table.mean[cell] -= loss * Float(min(count, SignalModel.mostWalls))
        }
    }

    /// The detection probability of a typical receiver as a function of the RSSI in dBm.
    private var sensitivity: cmath_sensitivity {
        cmath_sensitivity(level: Float(model.sensitivity), width: Float(model.sensitivityWidth))
    }

    private func loss(of index: Int, on map: VenueMap) -> cmath_path_loss {
        let beacon = transmitters[index]
        // The slope applies to the natural logarithm of the squared distance: 10·n·log₁₀ d = 5·n·ln d² / ln 10.
        return cmath_path_loss(
            power: Float(beacon.power - floorLoss(beacon, map)),
            slope: Float(5 * exponents[index] / 2.302_585_092_994_046),
            height: Float(model.heightDifference * model.heightDifference))
    }

    private func floorLoss(_ beacon: RadioMap.Beacon, _ map: VenueMap) -> Double {
        model.floorLoss * Double(floorDistance.floors(from: beacon.mapID, to: map.id))
    }

    /// Returns the cells in which a beacon can be detected: those around its surveyed readings, or those within the
    /// range that path loss predicts.
    private func extent(
        _ index: Int, _ floor: Floor, _ readings: [MapSurvey.Heard]
    ) -> (columns: Range<Int>, rows: Range<Int>) {
        let (beacon, grid) = (transmitters[index], floor.grid)
        let isHome = beacon.mapID == floor.map.id
        if readings.isEmpty {
            let exponent = model.usualExponent(with: radioMap)
            let range = cmath_pow(
                10, (beacon.power - floorLoss(beacon, floor.map) - Double(SignalField.inaudible)) / (10 * exponent))
            // The floors attenuate the signal so much that it cannot be detected even directly below the beacon.
            guard isHome || range >= 1 else { return (0..<0, 0..<0) }
            return grid.block(around: beacon.point, radius: min(max(range, 1), MapGrid.longestRange))
        }
        var columns = grid.columns..<grid.columns
        var rows = grid.rows..<grid.rows
        let reach = Self.reach * model.shadowingLength
        // Unsurveyed cells are included if the expected detection rate there exceeds that of an unexpected beacon.
        if isHome, let faintest = detection.value.faintest(above: 2 * model.unheardRate(of: transmitters.count)) {
            let range = cmath_pow(10, (beacon.power - faintest) / (10 * exponents[index]))
            let block = grid.block(around: beacon.point, radius: min(max(range, 1), MapGrid.longestRange))
            (columns, rows) = (block.columns, block.rows)
        }
        for heard in readings {
            let block = grid.block(around: heard.point, radius: reach)
            guard !block.columns.isEmpty, !block.rows.isEmpty else { continue }
            columns = Self.hull(block.columns, columns)
            rows = Self.hull(block.rows, rows)
        }
        return (columns, rows)
    }

    /// Returns the smallest range that contains both ranges; the second one may be empty.
    private static func hull(_ one: Range<Int>, _ other: Range<Int>) -> Range<Int> {
        min(other.lowerBound, one.lowerBound)..<(other.isEmpty ? one.upperBound : max(other.upperBound, one.upperBound))
    }

    /// Adds the mean of the Gaussian process. The variance is the one after the best single reading, an upper bound.
    private func addShadowing(_ table: inout SignalField.Table, _ grid: MapGrid, _ readings: [MapSurvey.Heard]) {
        guard !readings.isEmpty else {
            let deviation = Float(isSurveyed ? model.shadowing : model.unsurveyedDeviation)
            table.variance = Array(repeating: deviation * deviation, count: table.mean.count)
            return
        }
        let amplitude = model.shadowing * model.shadowing
        let constant = model.powerDeviation * model.powerDeviation
        let all = amplitude + constant
        let offset = Float(readings.reduce(0) { $0 + $1.reading.weight } * constant)
        // A reading at any distance constrains the beacon's power.
        let least = readings.reduce(Double.infinity) { min($0, surveyVariance($1)) }
        for cell in table.mean.indices { table.mean[cell] += offset }
        table.variance = Array(repeating: Float(all - constant * constant / (all + least)), count: table.mean.count)
        let reach = Self.reach * model.shadowingLength
        for heard in readings {
            let block = grid.block(around: heard.point, radius: reach)
            let (columns, rows) = (block.columns.clamped(to: table.columns), block.rows.clamped(to: table.rows))
            guard !columns.isEmpty, !rows.isEmpty,
                let first = table.index(column: columns.lowerBound, row: rows.lowerBound)
            else { continue }
            var rectangle = grid.rectangle(columns, rows, from: heard.point, stride: table.columns.count)
            var reading = cmath_survey_reading(
                weight: Float(heard.reading.weight), amplitude: Float(amplitude),
                scale: Float(1.732_050_807_568_877_2 / model.shadowingLength), constant: Float(constant),
                gain: Float(1 / (all + surveyVariance(heard))))
            cmath_add_shadowing(&rectangle, &reading, first, &table.mean, &table.variance)
        }
    }

    private func surveyVariance(_ heard: MapSurvey.Heard) -> Double {
        model.surveyVariance(count: heard.reading.count, deviation: heard.deviation)
    }

    /// Returns the detection rates that combine the survey around each cell with the rate that path loss predicts.
    ///
    /// The prediction is a gamma prior that counts as few detections. It has little influence where the beacon is
    /// expected and the surveyor listened. Where the surveyor didn't listen, it is the only information.
    private func rates(_ table: SignalField.Table, _ floor: Floor, _ readings: [MapSurvey.Heard]) -> [Float] {
        let (grid, survey, detection) = (floor.grid, floor.survey.value, detection.value)
        var (prior, rate) = (table.mean, table.mean)
        for cell in table.mean.indices {
            let curve = Float(detection.rate(rssi: Double(table.mean[cell])))
            prior[cell] = min(Float(model.ratePriorDetections) / curve, Float(model.ratePrior))
            rate[cell] = curve * prior[cell]
        }
        for heard in readings {
            let counted = min(heard.duration, model.rateDurationCap) / heard.duration
            grid.spread(
                heard.point, Float(Double(heard.reading.count) * counted), length: model.rateLength,
                deviation: heard.deviation, over: (table.columns, table.rows), &rate)
        }
        var position = 0
        for row in table.rows {
            for column in table.columns {
                rate[position] /= survey.exposure[row * grid.columns + column] + prior[position]
                position += 1
            }
        }
        return rate
    }
}

/// The survey readings on one map, grouped by beacon.
struct MapSurvey: Sendable {
    /// The reading of a beacon at a surveyed place.
    struct Heard {
        var point: MapPoint
        /// Standard deviation of the point along each axis, in metres.
        var deviation: Double
        /// Listening time in seconds.
        var duration: Double
        var reading: RadioMap.Reading
    }

    private struct Entry: Sendable {
        /// Indexes of the place in the radio map and of the reading in the place.
        var place: Int32
        var reading: Int32
    }

    /// The index of each beacon's first entry; plus the number of entries as the last element.
    private let starts: [Int32]
    private let entries: [Entry]
    /// The effective listening time in seconds at each cell; empty without a survey.
    let exposure: [Float]

    /// Creates the survey of a map: its readings by beacon, in the order of the places. If a place has two readings of
    /// one beacon, the first one is used.
    ///
    /// - Parameter count: the number of beacons; readings of other beacons are ignored.
    init(of map: MapID, grid: MapGrid, in radioMap: RadioMap?, beacons count: Int, model: SignalModel) {
        let all = radioMap?.fingerprints ?? []
        let places = all.indices.filter { all[$0].mapID == map }
        var starts = [Int32](repeating: 0, count: count + 1)
        Self.forEachReading(at: places, of: all, beacons: count) { beacon, _, _ in starts[beacon + 1] += 1 }
        for beacon in 0..<count { starts[beacon + 1] += starts[beacon] }
        var next = starts
        var entries = [Entry](repeating: Entry(place: 0, reading: 0), count: Int(starts[count]))
        Self.forEachReading(at: places, of: all, beacons: count) { beacon, place, reading in
            entries[Int(next[beacon])] = Entry(place: Int32(place), reading: Int32(reading))
            next[beacon] += 1
        }
        self.starts = starts
        self.entries = entries
        guard !(radioMap?.beacons.isEmpty ?? true) else {
            exposure = []
            return
        }
        var exposure = [Float](repeating: 0, count: grid.count)
        let cells = (columns: 0..<grid.columns, rows: 0..<grid.rows)
        for place in places {
            let seconds = Float(min(all[place].duration, model.rateDurationCap))
            grid.spread(
                all[place].point, seconds, length: model.rateLength, deviation: all[place].deviation, over: cells,
                &exposure)
        }
        self.exposure = exposure
    }

    private static func forEachReading(
        at places: [Int], of all: [RadioMap.Fingerprint], beacons count: Int,
        _ body: (_ beacon: Int, _ place: Int, _ reading: Int) -> Void
    ) {
        var lastPlace = [Int](repeating: -1, count: count)
        for place in places {
            for (index, reading) in all[place].readings.enumerated()
            where lastPlace.indices.contains(reading.beacon) && lastPlace[reading.beacon] != place {
                lastPlace[reading.beacon] = place
                body(reading.beacon, place, index)
            }
        }
    }

    /// Returns whether the survey detected a beacon anywhere on the map.
    func hasHeard(_ beacon: Int) -> Bool { starts[beacon] < starts[beacon + 1] }

    /// Returns the readings of a beacon, place by place.
    ///
    /// - Parameter radioMap: the radio map that this survey was created from.
    func readings(of beacon: Int, in radioMap: RadioMap?) -> [Heard] {
        guard let radioMap else { return [] }
        return entries[Int(starts[beacon])..<Int(starts[beacon + 1])].map { entry in
            let place = radioMap.fingerprints[Int(entry.place)]
            return Heard(
                point: place.point, deviation: place.deviation, duration: place.duration,
                reading: place.readings[Int(entry.reading)])
        }
    }
}

extension MapGrid {
    /// Adds a Gaussian kernel of height `amount` around a point to the values of some cells.
    ///
    /// The uncertainty of the point widens the kernel.
    /// - Parameters:
    ///   - length: the standard deviation of the kernel in metres.
    ///   - deviation: the standard deviation of the point along each axis, in metres.
    ///   - cells: the columns and rows that `values` covers, row by row.
    func spread(
        _ point: MapPoint, _ amount: Float, length: Double, deviation: Double = 0,
        over cells: (columns: Range<Int>, rows: Range<Int>), _ values: inout [Float]
    ) {
        let square = length * length + deviation * deviation
        let block = block(around: point, radius: 3 * square.squareRoot())
        let (columns, rows) = (block.columns.clamped(to: cells.columns), block.rows.clamped(to: cells.rows))
        guard !columns.isEmpty, !rows.isEmpty else { return }
        var rectangle = rectangle(columns, rows, from: point, stride: cells.columns.count)
        let first =
            (rows.lowerBound - cells.rows.lowerBound) * cells.columns.count + columns.lowerBound
            - cells.columns.lowerBound
        cmath_spread(&rectangle, Float(1 / (2 * square)), amount * Float(length * length / square), first, &values)
    }
}

/// The detection rate of beacons as a function of the RSSI that path loss predicts, learned from a survey.
///
/// The curve supplies the expected rate for places outside the survey. Without the curve, the rate there would be zero,
/// and the filter would exclude these places. The curve is non-decreasing in the RSSI, by the pool-adjacent-violators
/// algorithm. Source: M. Ayer, H. D. Brunk, G. M. Ewing, W. T. Reid, E. Silverman, *An Empirical Distribution Function
/// for Sampling with Incomplete Information*, Annals of Mathematical Statistics 26(4), 1955.
struct DetectionCurve: Sendable {
    /// The listening time and the detections at places with a similar predicted RSSI.
    private struct Pool: Sendable {
        var detections = 0.0
        var seconds = 0.0
        /// The number of bins in the pool.
        var bins = 1

        var rate: Double { seconds > 0 ? detections / seconds : 0 }
    }

    /// Expected RSSI in dBm at the lower edge of the first bin.
    private static let lowest = -120.0
    /// Width of a bin in dB.
    private static let width = 2.0
    private static let bins = 50

    private var pools = Array(repeating: Pool(), count: DetectionCurve.bins)
    private var rates: [Double] = []

    /// Adds the detections of a beacon at a place.
    ///
    /// - Parameters:
    ///   - detections: the number of detections, 0 if there were none.
    ///   - seconds: the listening time.
    ///   - rssi: the RSSI in dBm that path loss predicts there.
    mutating func add(detections: Double, seconds: Double, rssi: Double) {
        let bin = Self.bin(rssi)
        pools[bin].detections += detections
        pools[bin].seconds += seconds
    }

    /// Computes the curve from all added detections, with at least `floor` detections per second everywhere.
    mutating func finish(floor: Double) {
        var merged: [Pool] = []
        for var pool in pools {
            while let before = merged.last, pool.rate <= before.rate {
                pool.detections += before.detections
                pool.seconds += before.seconds
                pool.bins += before.bins
                merged.removeLast()
            }
            merged.append(pool)
        }
        rates = merged.flatMap { Array(repeating: max(floor, $0.rate), count: $0.bins) }
    }

    /// Returns the detections per second at a predicted RSSI in dBm.
    func rate(rssi: Double) -> Double { rates[Self.bin(rssi)] }

    /// Returns the lowest RSSI in dBm at which the detection rate exceeds `rate` per second; nil if there is none.
    func faintest(above rate: Double) -> Double? {
        rates.firstIndex { $0 > rate }.map { Self.lowest + Double($0) * Self.width }
    }

    /// The RSSI bins of one beacon by distance. A large venue's survey has millions of pairs of place and beacon; the
    /// lookup by distance avoids a logarithm for each pair.
    private struct RSSIBins {
        private let point: MapPoint
        private let height: Double
        /// The squared distances in m², in descending order, at which the RSSI falls to the lower edge of each bin,
        /// from the second bin on.
        private var reaches: [Double]

        init(of beacon: RadioMap.Beacon, exponent: Double, model: SignalModel) {
            point = beacon.point
            height = model.heightDifference * model.heightDifference
            // The margin compensates rounding: an RSSI at an edge must be in the upper bin.
            reaches = (1..<DetectionCurve.bins).map { bin in
                let edge = DetectionCurve.lowest + Double(bin) * DetectionCurve.width
                return (1 + 1e-12) * cmath_pow(10, (beacon.power - edge) / (5 * exponent))
            }
        }

        /// Returns the bin of the RSSI that path loss predicts at a point of the beacon's map.
        func bin(at place: MapPoint) -> Int {
            let (x, y) = (place.x - point.x, place.y - point.y)
            let square = x * x + y * y + height
            return (0..<reaches.count).bisection { !(square <= reaches[$0]) }
        }
    }

    private static func bin(_ rssi: Double) -> Int {
        let bin = (rssi - lowest) / width
        return bin >= Double(bins) ? bins - 1 : bin > 0 ? Int(bin) : 0
    }
}

extension DetectionCurve {
    /// Creates the curve of a survey from each pair of a place and a beacon on the same map.
    ///
    /// - Parameter exponents: the path-loss exponent of each beacon.
    init(
        of beacons: [RadioMap.Beacon], _ places: [RadioMap.Fingerprint], exponents: [Double], model: SignalModel
    ) {
        self.init()
        let byMap = Dictionary(grouping: beacons.indices, by: { beacons[$0].mapID })
        let bins = beacons.indices.map { RSSIBins(of: beacons[$0], exponent: exponents[$0], model: model) }
        // Detections of each beacon at the current place; -1 for the beacons without any.
        var counts = [Int](repeating: -1, count: beacons.count)
        for place in places {
            let seconds = min(place.duration, model.rateDurationCap)
            for reading in place.readings where counts.indices.contains(reading.beacon) && counts[reading.beacon] < 0 {
                counts[reading.beacon] = reading.count
            }
            for index in byMap[place.mapID] ?? [] {
                let bin = bins[index].bin(at: place.point)
                pools[bin].detections += Double(max(counts[index], 0)) * seconds / place.duration
                pools[bin].seconds += seconds
            }
            for reading in place.readings where counts.indices.contains(reading.beacon) { counts[reading.beacon] = -1 }
        }
        finish(floor: model.unheardRate(of: beacons.count))
    }
}

/// The weakest level that the survey's receivers detected. Below it, the survey's detection rates don't apply.
///
/// A receiver that is more sensitive than the survey's receivers detects beacons where the survey detected none. These
/// detections would contradict every place, and the right place most. The filter therefore counts only the share of a
/// reading that the survey's receivers would have detected. The share depends on the reading's level minus the
/// receiver's offset.
///
/// The page *Positioning model* contains the measurements.
struct HearingLimit: Sendable {
    /// The level in dBm that the survey's receivers detect half of the time.
    private let level: Float

    /// The share of the survey's readings below the level.
    private static let shareBelow = 0.03
    /// Width of the transition around the level in dB, as the scale of a logistic function.
    private static let width = 3.0
    /// The minimum number of readings that determine a level.
    private static let fewestReadings = 20
    /// The time in seconds within which detections of one beacon have a common cause, such as a place without line of
    /// sight.
    static let correlationTime = 3.0

    /// Creates the limit of a survey; nil without a survey, or if it has too few readings.
    init?(of radioMap: RadioMap?) {
        guard let radioMap else { return nil }
        let levels = radioMap.fingerprints.flatMap { $0.readings.lazy.map(\.rssi) }
        guard levels.count >= Self.fewestReadings else { return nil }
        level = Float(levels.sorted()[Int(Double(levels.count) * Self.shareBelow)])
    }

    /// Returns the share, in [0, 1], of the readings of a level in dBm that the survey's receivers would have received.
    func share(ofLevel level: Float) -> Float {
        let distance = Double(level - self.level) / Self.width
        // Beyond 40 widths, the share is 0 or 1; the limit avoids an overflow.
        return Float(1 / (1 + cmath_exp(min(40, max(-40, -distance)))))
    }
}
