import CMath

/// Makes the tables of a `SignalField`.
struct SignalFieldBuilder {
    let venue: Venue
    let model: SignalModel
    /// Surveyed beacons first, in the radio map's order, then those that the survey did not hear.
    let transmitters: [RadioMap.Beacon]
    let exponents: [Double]
    let isSurveyed: Bool
    /// How often beacons are heard where nobody surveyed.
    private let detection: DetectionCurve

    /// Beyond this many shadowing lengths a reading says nothing of shadowing.
    private static let reach = 4.0
    /// Cells of a map that are aimed at, for a metre or less in a house; between 0.5 and 1.5 m each.
    private static let cellTarget = 6000.0
    /// No beacon is heard from farther away than this, in metres.
    private static let longestRange = 100.0

    init(venue: Venue, model: SignalModel) {
        self.venue = venue
        self.model = model
        let surveyed = venue.radioMap?.beacons ?? []
        let heard = Set(surveyed.map(\.identity))
        var seen = heard
        let silent = venue.beacons.filter { seen.insert($0.identity).inserted }
        transmitters =
            surveyed
            + silent.map {
                RadioMap.Beacon(
                    identity: $0.identity, mapID: $0.mapID, point: $0.point, z: $0.z,
                    power: $0.measuredPower ?? model.defaultPower)
            }
        let common = venue.radioMap?.pathLossExponent ?? model.pathLossExponent
        let known = Dictionary(venue.beacons.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
        exponents = transmitters.map { beacon in
            heard.contains(beacon.identity) ? common : known[beacon.identity]?.pathLossExponent ?? common
        }
        isSurveyed = !surveyed.isEmpty
        detection = DetectionCurve(of: surveyed, venue.radioMap?.fingerprints ?? [], exponents: exponents, model: model)
    }

    func level(_ map: VenueMap) -> SignalField.Level {
        let places = venue.radioMap?.fingerprints.filter { $0.mapID == map.id } ?? []
        let grid = makeGrid(map, places)
        var tables: [SignalField.Table?] = []
        let exposure = isSurveyed ? exposure(grid, places) : []
        for (index, readings) in readingsByBeacon(places).enumerated() {
            tables.append(table(index, map, grid, readings, exposure))
        }
        let none = Float(model.unheardRate) * Float(transmitters.count)
        return SignalField.Level(
            mapID: map.id, grid: grid, prior: prior(map, grid, places), tables: tables,
            logRate: isSurveyed ? totalRate(tables, grid, none).map { cmath_logf($0) } : [],
            outsideRate: cmath_logf(none))
    }

    /// What was heard of each transmitter, place by place; of two readings of one at a place the first.
    private func readingsByBeacon(
        _ places: [RadioMap.Fingerprint]
    ) -> [[(place: RadioMap.Fingerprint, reading: RadioMap.Reading)]] {
        var all = [[(place: RadioMap.Fingerprint, reading: RadioMap.Reading)]](
            repeating: [], count: transmitters.count)
        var lastPlace = [Int](repeating: -1, count: transmitters.count)
        for (index, place) in places.enumerated() {
            for reading in place.readings
            where transmitters.indices.contains(reading.beacon) && lastPlace[reading.beacon] != index {
                lastPlace[reading.beacon] = index
                all[reading.beacon].append((place, reading))
            }
        }
        return all
    }

    /// Covers the plan, and what of the survey and the beacons lies beyond it; not a beacon too far off to be heard.
    private func makeGrid(_ map: VenueMap, _ places: [RadioMap.Fingerprint]) -> MapGrid {
        var low = MapPoint(x: 0, y: 0)
        var high = MapPoint(x: map.width, y: map.height)
        let beacons = venue.beacons.filter { $0.mapID == map.id }.map(\.point).filter { point in
            let beyond = max(-point.x, -point.y, point.x - map.width, point.y - map.height)
            return beyond <= Self.longestRange
        }
        for point in places.map(\.point) + beacons {
            low = MapPoint(x: min(low.x, point.x), y: min(low.y, point.y))
            high = MapPoint(x: max(high.x, point.x), y: max(high.y, point.y))
        }
        let area = max(1, (high.x - low.x) * (high.y - low.y))
        let cell = min(max((area / Self.cellTarget).squareRoot(), 0.5), 1.5)
        return MapGrid(from: low, to: high, cellSize: cell)
    }

    private func prior(_ map: VenueMap, _ grid: MapGrid, _ places: [RadioMap.Fingerprint]) -> [Float] {
        let share = Float(model.unsupportedShare)
        var prior = [Float](repeating: isSurveyed ? share : 1, count: grid.count)
        let width = model.supportWidth
        for place in places {
            let block = grid.block(around: place.point, radius: 3 * width)
            for row in block.rows {
                for column in block.columns {
                    let cell = row * grid.columns + column
                    let distance = grid.center(of: cell).distance(to: place.point)
                    let support = Float(cmath_exp(-distance * distance / (2 * width * width)))
                    prior[cell] = max(prior[cell], share + (1 - share) * support)
                }
            }
        }
        guard !map.walkable.isEmpty else { return prior }
        let areas = map.walkable.map(Area.polygon)
        for cell in prior.indices {
            let center = grid.center(of: cell)
            if !areas.contains(where: { $0.contains(center) }) { prior[cell] *= share }
        }
        return prior
    }

    /// Seconds of listening that count at each cell.
    private func exposure(_ grid: MapGrid, _ places: [RadioMap.Fingerprint]) -> [Float] {
        var sum = [Float](repeating: 0, count: grid.count)
        for place in places {
            spread(place.point, Float(min(place.duration, model.rateDurationCap)), grid) { sum[$0] += $1 }
        }
        return sum
    }

    private func spread(_ point: MapPoint, _ amount: Float, _ grid: MapGrid, _ add: (Int, Float) -> Void) {
        let width = model.rateLength
        let block = grid.block(around: point, radius: 3 * width)
        for row in block.rows {
            for column in block.columns {
                let cell = row * grid.columns + column
                let distance = grid.center(of: cell).distance(to: point)
                add(cell, amount * Float(cmath_exp(-distance * distance / (2 * width * width))))
            }
        }
    }

    private func table(
        _ index: Int, _ map: VenueMap, _ grid: MapGrid,
        _ readings: [(place: RadioMap.Fingerprint, reading: RadioMap.Reading)], _ exposure: [Float]
    ) -> SignalField.Table? {
        let beacon = transmitters[index]
        let isHome = beacon.mapID == map.id
        let home = venue.map(beacon.mapID)
        let floors = Double(abs((home?.level ?? map.level) - map.level))
        if isSurveyed, readings.isEmpty, index < venue.radioMap?.beacons.count ?? 0, !isHome { return nil }
        let extent = extent(index, beacon, map, grid, readings)
        guard !extent.columns.isEmpty, !extent.rows.isEmpty else { return nil }
        let count = extent.columns.count * extent.rows.count
        var table = SignalField.Table(
            columns: extent.columns, rows: extent.rows, mean: Array(repeating: 0, count: count),
            variance: Array(repeating: 0, count: count), logRate: [])
        let loss = isHome ? 0 : model.floorLoss * max(1, floors)
        var position = 0
        for row in extent.rows {
            for column in extent.columns {
                let point = grid.center(of: row * grid.columns + column)
                let planar = point.distance(to: beacon.point)
                table.mean[position] = Float(
                    model.pathLoss(
                        power: beacon.power, exponent: exponents[index], planar: planar, height: model.heightDifference)
                        - loss)
                position += 1
            }
        }
        addShadowing(&table, grid, readings)
        if isSurveyed { table.logRate = rates(table, grid, readings, exposure).map { cmath_logf($0) } }
        return table
    }

    /// The cells at which a beacon may be heard: around where the survey heard it, or where path loss allows it.
    private func extent(
        _ index: Int, _ beacon: RadioMap.Beacon, _ map: VenueMap, _ grid: MapGrid,
        _ readings: [(place: RadioMap.Fingerprint, reading: RadioMap.Reading)]
    ) -> (columns: Range<Int>, rows: Range<Int>) {
        if readings.isEmpty {
            let loss = beacon.mapID == map.id ? 0 : model.floorLoss
            let exponent = venue.radioMap?.pathLossExponent ?? model.pathLossExponent
            let range = cmath_pow(10, (beacon.power - loss - Double(SignalField.inaudible)) / (10 * exponent))
            return grid.block(around: beacon.point, radius: min(max(range, 1), Self.longestRange))
        }
        var columns = grid.columns..<grid.columns
        var rows = grid.rows..<grid.rows
        let reach = Self.reach * model.shadowingLength
        // Also where nobody surveyed, if it may be heard there more often than any other beacon.
        if beacon.mapID == map.id, let faintest = detection.faintest(above: 2 * model.unheardRate) {
            let range = cmath_pow(10, (beacon.power - faintest) / (10 * exponents[index]))
            let block = grid.block(around: beacon.point, radius: min(max(range, 1), Self.longestRange))
            (columns, rows) = (block.columns, block.rows)
        }
        for entry in readings {
            let block = grid.block(around: entry.place.point, radius: reach)
            guard !block.columns.isEmpty, !block.rows.isEmpty else { continue }
            columns =
                min(
                    columns.lowerBound, block.columns.lowerBound)..<(columns.isEmpty
                ? block.columns.upperBound : max(columns.upperBound, block.columns.upperBound))
            rows =
                min(
                    rows.lowerBound, block.rows.lowerBound)..<(rows.isEmpty
                ? block.rows.upperBound : max(rows.upperBound, block.rows.upperBound))
        }
        return (columns, rows)
    }

    /// Adds the Gaussian process's mean; its variance is the one that the best single reading leaves, an upper bound.
    private func addShadowing(
        _ table: inout SignalField.Table, _ grid: MapGrid,
        _ readings: [(place: RadioMap.Fingerprint, reading: RadioMap.Reading)]
    ) {
        guard !readings.isEmpty else {
            let deviation = Float(isSurveyed ? model.shadowing : model.unsurveyedDeviation)
            for cell in table.variance.indices { table.variance[cell] = deviation * deviation }
            return
        }
        let amplitude = model.shadowing * model.shadowing
        let constant = readings.reduce(0) { $0 + $1.reading.weight } * model.powerDeviation * model.powerDeviation
        for cell in table.mean.indices {
            table.mean[cell] += Float(constant)
            table.variance[cell] = Float(amplitude)
        }
        let reach = Self.reach * model.shadowingLength
        for entry in readings {
            let noise = model.surveyVariance(count: entry.reading.count)
            let block = grid.block(around: entry.place.point, radius: reach)
            for row in block.rows {
                for column in block.columns {
                    guard let cell = table.index(column: column, row: row) else { continue }
                    let distance = grid.center(of: row * grid.columns + column).distance(to: entry.place.point)
                    let covariance = amplitude * model.shadowingCorrelation(distance: distance)
                    table.mean[cell] += Float(covariance * entry.reading.weight)
                    let left = Float(amplitude - covariance * covariance / (amplitude + noise))
                    table.variance[cell] = min(table.variance[cell], left)
                }
            }
        }
    }

    /// Detections a second of all beacons, cell by cell.
    private func totalRate(_ tables: [SignalField.Table?], _ grid: MapGrid, _ none: Float) -> [Float] {
        var total = [Float](repeating: none, count: grid.count)
        for table in tables {
            guard let table else { continue }
            var entry = 0
            for row in table.rows {
                for column in table.columns {
                    total[row * grid.columns + column] += cmath_expf(table.logRate[entry]) - Float(model.unheardRate)
                    entry += 1
                }
            }
        }
        return total.map { max($0, 1e-6) }
    }

    /// What the survey heard around a cell, and as little as it may tell what path loss expects there.
    ///
    /// The expectation counts as a gamma distribution's few detections: little against any listening where the beacon
    /// is expected, and all there is where nobody listened.
    private func rates(
        _ table: SignalField.Table, _ grid: MapGrid,
        _ readings: [(place: RadioMap.Fingerprint, reading: RadioMap.Reading)], _ exposure: [Float]
    ) -> [Float] {
        let curve = table.mean.map { Float(detection.rate(level: Double($0))) }
        let prior = curve.map { min(Float(model.ratePriorDetections) / $0, Float(model.ratePrior)) }
        var rate = zip(curve, prior).map { $0 * $1 }
        for entry in readings {
            let counted = min(entry.place.duration, model.rateDurationCap) / entry.place.duration
            spread(entry.place.point, Float(Double(entry.reading.count) * counted), grid) { cell, amount in
                let (row, column) = cell.quotientAndRemainder(dividingBy: grid.columns)
                if let index = table.index(column: column, row: row) { rate[index] += amount }
            }
        }
        var position = 0
        for row in table.rows {
            for column in table.columns {
                rate[position] /= exposure[row * grid.columns + column] + prior[position]
                position += 1
            }
        }
        return rate
    }
}
