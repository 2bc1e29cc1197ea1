import CMath
import IndoorVocabulary
import VenueModel

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
            let rates = Once {
                areRatesKnown ? tables.totalRate(grid, none: none, unheard: unheard).map { cmath_logf($0) } : []
            }
            // Evaluate the program's prior now, so that it uses no time while the engine runs.
            if isOwnPrior { _ = priors.value }
            return SignalField.MapField(
                mapID: map, grid: grid, tables: tables, priors: priors, totalRates: rates,
                outsideRate: cmath_logf(none))
        }
        return (maps, areRatesKnown)
    }
}
