import IndoorVocabulary
import VenueModel

/// The work that a belief about a venue needs before its first position: the venue's check, its tables and its priors.
///
/// In a large venue that takes a second, for which no session should keep its actor. It is a value: a shell does it in a
/// task, and its machine receives the result as an event. The result does not depend on where it is done.
package struct BeliefPreparation: Hashable, Sendable {
    /// The venue, as its packet describes it.
    package let venue: Venue
    /// The settings that apply in the venue.
    package let settings: PositioningSettings
    /// The readings from before the packet: the belief's first look weighs them.
    package let readings: [SensorReading]
    /// The map that the device is on whatever is heard; nil if evidence decides.
    package let mapID: MapID?

    /// Describes the work.
    package init(venue: Venue, settings: PositioningSettings, readings: [SensorReading] = [], mapID: MapID? = nil) {
        self.venue = venue
        self.settings = settings
        self.readings = readings
        self.mapID = mapID
    }

    /// Does the work; returns the belief, or the error of a venue that is too large.
    ///
    /// The belief observes none of the readings here: they are observed in order, with those that come in the meantime.
    ///
    /// - Parameter makesTables: false leaves the tables to where they are first needed.
    package func run<Belief: PositioningBelief>(
        _ makeBelief: @Sendable (Venue, PositioningSettings) -> Belief, makesTables: Bool = true
    ) -> Result<Belief, LocalizationError> {
        if let error = LocalizationError(tooLarge: venue) { return .failure(error) }
        let belief = makeBelief(venue, settings)
        if makesTables { belief.prepareTables(for: readings, on: mapID) }
        return .success(belief)
    }
}

extension PositioningEngine {
    /// Makes the tables that the first looks need: of the beacons that were heard, and of the maps where these can be heard
    /// and of their walls. The tables are shared; whether they are made here or where they are first needed changes no position.
    ///
    /// - Parameter mapID: a map that will be in question whatever is heard; nil for none.
    package func prepareTables(for readings: [SensorReading], on mapID: MapID?) {
        guard settings.method != .trilateration else { return }
        var collector = EvidenceCollector(field: field)
        for case .sighting(let sighting) in readings {
            guard Sighting.isMeasurement(rssi: sighting.rssi), let beacon = field.indexes[sighting.beacon] else {
                continue
            }
            collector.add(beacon: beacon, rssi: sighting.rssi, at: sighting.instant)
        }
        let evidence = readings.last.flatMap { collector.snapshot(at: $0.instant) }
        let likelihood = evidence.map { Likelihood(field: field, evidence: $0, receivers: offsets) }
        for (mapIndex, map) in field.maps.enumerated() {
            guard map.mapID == mapID || likelihood?.canHear(mapIndex) ?? false else { continue }
            (_, _) = (map.prior, map.logRate)
            if settings.method == .particle { _ = field.walls[mapIndex].table }
            for heard in evidence?.heard ?? [] { _ = map.tables[heard.beacon] }
        }
    }
}
