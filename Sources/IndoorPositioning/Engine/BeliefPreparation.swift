import IndoorVocabulary
import VenueModel

/// The work that must be done in a venue before the first position: the check of the venue, and the computation of its
/// tables and priors.
///
/// In a large venue this work takes a second and must not block the session's actor. The preparation is a value that
/// the caller runs in a task; the state machine receives the result as an event. The result is the same in every task.
package struct BeliefPreparation: Hashable, Sendable {
    /// The venue from its packet.
    package let venue: Venue
    /// The settings that apply in the venue.
    package let settings: PositioningSettings
    /// The readings that arrived before the packet; the first global update uses them.
    package let readings: [SensorReading]
    /// The map to which the belief is locked; nil if the evidence decides.
    package let mapID: MapID?

    /// Creates a preparation.
    package init(venue: Venue, settings: PositioningSettings, readings: [SensorReading] = [], mapID: MapID? = nil) {
        self.venue = venue
        self.settings = settings
        self.readings = readings
        self.mapID = mapID
    }

    /// Runs the preparation; returns the belief, or an error if the venue is too large.
    ///
    /// The belief doesn't observe the readings here: the session passes them on later, in order with newer readings.
    ///
    /// - Parameter makesTables: whether to build the tables now; false defers them to their first use.
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
    /// Builds the tables that the first global updates need: those of the detected beacons on the maps where they can
    /// be detected, and those of the walls of these maps. The tables are shared. Building them here rather than on first
    /// use affects no position.
    ///
    /// - Parameter mapID: a map that is possible regardless of the evidence; nil for none.
    package func prepareTables(for readings: [SensorReading], on mapID: MapID?) {
        guard settings.method != .trilateration else { return }
        var collector = EvidenceCollector(field: field)
        for case .sighting(let sighting) in readings {
            guard sighting.hasMeasurement, let beacon = field.indexes[sighting.beacon] else {
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

extension PositioningEngine {
    /// Creates an engine that shares its tables with other engines.
    package init(
        venue: Venue, tables: SharedTables, settings: PositioningSettings,
        effort: PositioningEffort = PositioningEffort(), seed: UInt64
    ) {
        let field = tables.field(of: venue, model: settings.signal, cellScale: effort.cellScale)
        self.init(venue: venue, field: field, settings: settings, effort: effort, seed: seed)
    }
}
