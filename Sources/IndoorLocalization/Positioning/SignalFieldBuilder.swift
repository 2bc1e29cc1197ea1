import CMath

/// Makes the tables of a `SignalField` from the parts.
struct SignalFieldBuilder {
    let venue: Venue
    let model: SignalModel
    /// The beacons as the parts are asked about them.
    let beacons: [VenueBeacon]
    let measurement: any MeasurementModel
    let prior: any MapPrior

    init(venue: Venue, transmitters: TransmitterList, model: SignalModel, parts: PositioningParts) {
        self.venue = venue
        self.model = model
        beacons = transmitters.venueBeacons
        measurement = parts.measurement ?? SurveyedPathLoss(venue: venue, model: model)
        prior = parts.prior ?? Self.standardPrior(of: venue, model: model)
    }

    private static func standardPrior(of venue: Venue, model: SignalModel) -> any MapPrior {
        let survey = SurveyPrior(venue: venue, model: model)
        guard let paths = venue.paths, model.pathShare > 0 else { return survey }
        return survey.multiplied(
            by: PathPrior(paths: paths, width: model.pathWidth, offPathShare: 1 - model.pathShare))
    }

    /// The maps' tables, in the venue's order, and whether detection rates are known.
    func levels() -> (levels: [SignalField.Level], isSurveyed: Bool) {
        let grids = venue.maps.map { MapGrid(of: $0, in: venue) }
        var tables = zip(venue.maps, grids).map { map, grid in
            measurement.makeTables(of: beacons, on: map.id, grid: grid, model: model)
        }
        let all = tables.joined().compactMap { $0 }
        let isSurveyed = !all.isEmpty && all.allSatisfy { !$0.logRate.isEmpty }
        if !isSurveyed {
            for level in tables.indices {
                for beacon in tables[level].indices { tables[level][beacon]?.logRate = [] }
            }
        }
        let none = Float(model.unheardRate)
        let levels = venue.maps.indices.map { index in
            SignalField.Level(
                mapID: venue.maps[index].id, grid: grids[index],
                prior: prior.makeWeights(on: venue.maps[index].id, grid: grids[index]), tables: tables[index],
                logRate: isSurveyed ? totalRate(tables[index], grids[index], none).map { cmath_logf($0) } : [],
                outsideRate: cmath_logf(none))
        }
        return (levels, isSurveyed)
    }

    /// Detections a second of all beacons, cell by cell.
    private func totalRate(_ tables: [SignalField.Table?], _ grid: MapGrid, _ none: Float) -> [Float] {
        var total = [Float](repeating: none, count: grid.count)
        let unheard = Float(model.unheardRate(of: beacons.count))
        for table in tables {
            guard let table else { continue }
            var entry = 0
            for row in table.rows {
                for column in table.columns {
                    total[row * grid.columns + column] += cmath_expf(table.logRate[entry]) - unheard
                    entry += 1
                }
            }
        }
        return total.map { max($0, 1e-6) }
    }
}
