import CMath
import IndoorVocabulary
import VenueModel

/// The tables of `SurveyedPathLoss`: path loss, the Gaussian process over it, and detection rates.
///
/// Each table is built on first use. The most recently used tables are kept for all sessions that share this object.
final class PathLossTables: Sendable {
    /// The grid and the survey of one map.
    private struct Sheet: Sendable {
        let map: VenueMap
        let grid: MapGrid
        let survey: Once<MapSurvey>
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
    private let sheets: [Sheet]
    private let sheetsByMap: [MapID: Int]
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
        sheets = venue.maps.map { map in
            let grid = MapGrid(of: map, in: venue, cellScale: cellScale)
            return Sheet(
                map: map, grid: grid,
                survey: Once { MapSurvey(of: map.id, grid: grid, in: radioMap, beacons: count, model: model) })
        }
        sheetsByMap = Dictionary(
            venue.maps.indices.map { (venue.maps[$0].id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether the tables contain detection rates.
    var tellRates: Bool { isSurveyed || isExpected }

    /// Whether detection rates are predicted from path loss alone.
    private var isExpected: Bool { radioMap == nil && model.detectionWeight > 0 }

    /// Returns the index of a map's sheet and the map's grid; nil for an unknown map.
    func sheet(of map: MapID) -> (index: Int, grid: MapGrid)? { sheetsByMap[map].map { ($0, sheets[$0].grid) } }

    /// Returns the table of a beacon on a sheet; nil if the beacon cannot be detected there.
    func table(_ index: Int, sheet: Int) -> SignalField.Table? {
        cache.table(sheet * transmitters.count + index) { make(index, sheets[sheet]) }
    }

    /// Returns whether a beacon has a table on a sheet.
    func isHeard(_ index: Int, sheet: Int) -> Bool {
        let sheet = sheets[sheet]
        guard !isNeverHeard(index, sheet) else { return false }
        let block = extent(index, sheet, readings(of: index, sheet))
        return !block.columns.isEmpty && !block.rows.isEmpty
    }

    /// Adds the detections per second of a beacon to the sums over a sheet's grid, without storing its table.
    func addRates(of index: Int, sheet: Int, to total: inout [Float], unheard: Float) {
        let sheet = sheets[sheet]
        guard isExpected, !isSurveyed else {
            make(index, sheet)?.addRates(to: &total, sheet.grid, unheard: unheard)
            return
        }
        let block = extent(index, sheet, [])
        guard !block.columns.isEmpty, !block.rows.isEmpty else { return }
        let grid = sheet.grid
        var rectangle = grid.rectangle(block.columns, block.rows, from: transmitters[index].point, stride: grid.columns)
        var loss = loss(of: index, on: sheet.map)
        var sensitivity = sensitivity
        cmath_add_expected(
            &rectangle, &loss, &sensitivity, block.rows.lowerBound * grid.columns + block.columns.lowerBound, &total)
    }

    private func readings(of index: Int, _ sheet: Sheet) -> [MapSurvey.Heard] {
        isSurveyed ? sheet.survey.value.readings(of: index, in: radioMap) : []
    }

    /// Returns whether the survey detected a beacon, but not on this map.
    private func isNeverHeard(_ index: Int, _ sheet: Sheet) -> Bool {
        isSurveyed && index < radioMap?.beacons.count ?? 0 && transmitters[index].mapID != sheet.map.id
            && !sheet.survey.value.hasHeard(index)
    }

    private func make(_ index: Int, _ sheet: Sheet) -> SignalField.Table? {
        guard !isNeverHeard(index, sheet) else { return nil }
        let grid = sheet.grid
        let readings = readings(of: index, sheet)
        let extent = extent(index, sheet, readings)
        guard !extent.columns.isEmpty, !extent.rows.isEmpty else { return nil }
        let count = extent.columns.count * extent.rows.count
        var table = SignalField.Table(
            columns: extent.columns, rows: extent.rows, mean: Array(repeating: 0, count: count), variance: [],
            logRate: [])
        var rectangle = grid.rectangle(
            extent.columns, extent.rows, from: transmitters[index].point, stride: extent.columns.count)
        var loss = loss(of: index, on: sheet.map)
        cmath_levels(&rectangle, &loss, &table.mean)
        addShadowing(&table, grid, readings)
        if isSurveyed {
            table.logRate = rates(table, sheet, readings).map { cmath_logf($0) }
        } else if isExpected {
            table.logRate = Array(repeating: 0, count: count)
            var sensitivity = sensitivity
            let unheard = Float(model.unheardRate(of: transmitters.count))
            cmath_log_rates(table.mean, count, &sensitivity, unheard, &table.logRate)
        }
        return table
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
        _ index: Int, _ sheet: Sheet, _ readings: [MapSurvey.Heard]
    ) -> (columns: Range<Int>, rows: Range<Int>) {
        let (beacon, grid) = (transmitters[index], sheet.grid)
        let isHome = beacon.mapID == sheet.map.id
        if readings.isEmpty {
            let exponent = model.usualExponent(with: radioMap)
            let range = cmath_pow(
                10, (beacon.power - floorLoss(beacon, sheet.map) - Double(SignalField.inaudible)) / (10 * exponent))
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
    private func rates(_ table: SignalField.Table, _ sheet: Sheet, _ readings: [MapSurvey.Heard]) -> [Float] {
        let (grid, survey, detection) = (sheet.grid, sheet.survey.value, detection.value)
        let curve = table.mean.map { Float(detection.rate(rssi: Double($0))) }
        let prior = curve.map { min(Float(model.ratePriorDetections) / $0, Float(model.ratePrior)) }
        var rate = zip(curve, prior).map { $0 * $1 }
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
