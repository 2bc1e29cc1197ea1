import CMath

/// Makes the tables of `SurveyedPathLoss`: the law and the Gaussian process over it, and detections a second.
struct PathLossTables {
    let venue: Venue
    let model: SignalModel
    /// The beacons as path loss knows them.
    let transmitters: [RadioMap.Beacon]
    let exponents: [Double]
    let isSurveyed: Bool
    /// How often beacons are heard where nobody surveyed.
    private let detection: DetectionCurve
    private let floorDistance: FloorDistance

    /// Beyond this many shadowing lengths a reading says nothing of shadowing.
    private static let reach = 4.0

    init(venue: Venue, transmitters list: TransmitterList, model: SignalModel) {
        self.venue = venue
        self.model = model
        floorDistance = FloorDistance(venue.maps)
        (transmitters, exponents, isSurveyed) = (list.beacons, list.exponents, list.isSurveyed)
        detection = DetectionCurve(
            of: venue.radioMap?.beacons ?? [], venue.radioMap?.fingerprints ?? [], exponents: exponents, model: model)
    }

    /// The table of each transmitter on a map; nil where it cannot be heard.
    func tables(on map: VenueMap, grid: MapGrid) -> [SignalField.Table?] {
        let places = venue.radioMap?.fingerprints.filter { $0.mapID == map.id } ?? []
        let exposure = isSurveyed ? exposure(grid, places) : []
        return readingsByBeacon(places).enumerated().map { index, readings in
            table(index, map, grid, readings, exposure)
        }
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

    /// Seconds of listening that count at each cell.
    private func exposure(_ grid: MapGrid, _ places: [RadioMap.Fingerprint]) -> [Float] {
        var sum = [Float](repeating: 0, count: grid.count)
        for place in places {
            spread(place, Float(min(place.duration, model.rateDurationCap)), grid) { sum[$0] += $1 }
        }
        return sum
    }

    private func spread(
        _ place: RadioMap.Fingerprint, _ amount: Float, _ grid: MapGrid, _ add: (Int, Float) -> Void
    ) {
        let (square, variance) = (model.rateLength * model.rateLength, place.deviation * place.deviation)
        let block = grid.block(around: place.point, radius: 3 * (square + variance).squareRoot())
        for row in block.rows {
            for column in block.columns {
                let cell = row * grid.columns + column
                let distance = grid.center(of: cell).distance(to: place.point)
                add(cell, amount * Float(DetectionRange.weight(distance * distance, square, variance)))
            }
        }
    }

    private func table(
        _ index: Int, _ map: VenueMap, _ grid: MapGrid,
        _ readings: [(place: RadioMap.Fingerprint, reading: RadioMap.Reading)], _ exposure: [Float]
    ) -> SignalField.Table? {
        let beacon = transmitters[index]
        let isHome = beacon.mapID == map.id
        if isSurveyed, readings.isEmpty, index < venue.radioMap?.beacons.count ?? 0, !isHome { return nil }
        let extent = extent(index, beacon, map, grid, readings)
        guard !extent.columns.isEmpty, !extent.rows.isEmpty else { return nil }
        let count = extent.columns.count * extent.rows.count
        var table = SignalField.Table(
            columns: extent.columns, rows: extent.rows, mean: Array(repeating: 0, count: count),
            variance: Array(repeating: 0, count: count), logRate: [])
        let loss = floorLoss(beacon, map)
        var position = 0
        for row in extent.rows {
            for column in extent.columns {
                let point = grid.center(of: row * grid.columns + column)
                table.mean[position] = Float(model.level(of: beacon, exponent: exponents[index], at: point) - loss)
                position += 1
            }
        }
        addShadowing(&table, grid, readings)
        if isSurveyed {
            table.logRate = rates(table, grid, readings, exposure).map { cmath_logf($0) }
        } else if venue.radioMap == nil, model.unsurveyedDetectionWeight > 0 {
            table.logRate = table.mean.map(expectedRate)
        }
        return table
    }

    /// The logarithm of the detections a second of a beacon that a usual receiver hears as strong as that, in dBm.
    private func expectedRate(_ level: Float) -> Float {
        let unheard = Float(model.unheardRate(of: transmitters.count, isSurveyed: false))
        let rate = 1 / (1 + cmath_expf((Float(model.sensitivity) - level) / Float(model.sensitivityWidth)))
        return cmath_logf(rate + unheard)
    }

    private func floorLoss(_ beacon: RadioMap.Beacon, _ map: VenueMap) -> Double {
        model.floorLoss * Double(floorDistance.floors(from: beacon.mapID, to: map.id))
    }

    /// The cells at which a beacon may be heard: around where the survey heard it, or where path loss allows it.
    private func extent(
        _ index: Int, _ beacon: RadioMap.Beacon, _ map: VenueMap, _ grid: MapGrid,
        _ readings: [(place: RadioMap.Fingerprint, reading: RadioMap.Reading)]
    ) -> (columns: Range<Int>, rows: Range<Int>) {
        if readings.isEmpty {
            let exponent = venue.radioMap?.pathLossExponent ?? model.pathLossExponent
            let range = cmath_pow(
                10, (beacon.power - floorLoss(beacon, map) - Double(SignalField.inaudible)) / (10 * exponent))
            return grid.block(around: beacon.point, radius: min(max(range, 1), MapGrid.longestRange))
        }
        var columns = grid.columns..<grid.columns
        var rows = grid.rows..<grid.rows
        let reach = Self.reach * model.shadowingLength
        // Also where nobody surveyed, if it may be heard there more often than any other beacon.
        if beacon.mapID == map.id,
            let faintest = detection.faintest(above: 2 * model.unheardRate(of: transmitters.count))
        {
            let range = cmath_pow(10, (beacon.power - faintest) / (10 * exponents[index]))
            let block = grid.block(around: beacon.point, radius: min(max(range, 1), MapGrid.longestRange))
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
        let constant = model.powerDeviation * model.powerDeviation
        let all = amplitude + constant
        let offset = readings.reduce(0) { $0 + $1.reading.weight } * constant
        // However far away a reading is, it tells the beacon's power.
        let least = readings.reduce(Double.infinity) {
            min($0, model.surveyVariance(count: $1.reading.count, deviation: $1.place.deviation))
        }
        for cell in table.mean.indices {
            table.mean[cell] += Float(offset)
            table.variance[cell] = Float(all - constant * constant / (all + least))
        }
        let reach = Self.reach * model.shadowingLength
        for entry in readings {
            let noise = model.surveyVariance(count: entry.reading.count, deviation: entry.place.deviation)
            let block = grid.block(around: entry.place.point, radius: reach)
            for row in block.rows {
                for column in block.columns {
                    guard let cell = table.index(column: column, row: row) else { continue }
                    let distance = grid.center(of: row * grid.columns + column).distance(to: entry.place.point)
                    let covariance = amplitude * model.shadowingCorrelation(distance: distance)
                    table.mean[cell] += Float(covariance * entry.reading.weight)
                    let told = covariance + constant
                    let left = Float(all - told * told / (all + noise))
                    table.variance[cell] = min(table.variance[cell], left)
                }
            }
        }
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
            spread(entry.place, Float(Double(entry.reading.count) * counted), grid) { cell, amount in
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
