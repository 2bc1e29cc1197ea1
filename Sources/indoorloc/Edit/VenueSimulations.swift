import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording

/// The expected errors of a venue's beacons with proposed beacons, as the page shows them: those of `plot coverage`.
struct CoverageSimulation: Sendable {
    /// The largest expected errors in metres of which the page always shows the share of the area.
    private static let thresholds = [2.0, 5.0]
    /// The largest number of cells of all maps together, except on maps with less than one cell of 1 m each. The time is
    /// proportional to it.
    private static let mostCells = 4_500.0
    /// The numbers of proposed beacons, and the targets in metres, that a request may have.
    static let counts = 0...50
    static let targets = 0.1...1000.0

    let venue: Venue
    let target: Double
    let count: Int

    /// Returns the members of `plot coverage --json`, with a summary of each map.
    func result(check: () throws(PageCalculation.End) -> Void) throws(PageCalculation.End) -> JSONText {
        var settings = CoverageSettings()
        settings.target = target
        let area = venue.maps.reduce(0) { $0 + $1.width * $1.height }
        settings.cellSize = max(settings.cellSize, (area / Self.mostCells).squareRoot())
        let analysis = try CoverageAnalysis(venue: venue, settings: settings, check: check)
        let grids = venue.maps.compactMap { analysis.expectedErrors(on: $0.id) }
        let proposals = try analysis.proposedBeacons(count: count, check: check)
        var json = CoverageResult(venue: venue, grids: grids, proposals: proposals, target: target).json
        json.add("summaries", grids.map(summary))
        return json
    }

    private func summary(of grid: CoverageGrid) -> JSONText {
        let map = venue.map(grid.mapID)
        var json = JSONText()
        json.add("mapId", grid.mapID.rawValue)
        json.add("medianError", TrackScorer.quantile(grid.errors.compactMap(\.self), 0.5), decimals: 3)
        json.add("isInsideKnown", map.map { MapInterior(of: $0, in: venue).isKnown } ?? false)
        json.add(
            "shares",
            Set(Self.thresholds + [target]).sorted().map { error in
                var json = JSONText()
                json.add("error", error, decimals: 2)
                json.add("share", grid.share(within: error), decimals: 3)
                return json
            })
        return json
    }
}

/// A walk of `simulate` through a venue, followed by a session as `evaluate` does it.
struct WalkSimulation: Sendable {
    /// The walk, the seed of its randomness, and the venue's text, as a page sends them.
    struct Request: Decodable, Sendable {
        static let example = #"{"document": "{…}", "walk": "{…}", "seed": 1}"#

        /// The text of the venue's document.
        let document: String
        /// The text of the walk's document.
        let walk: String
        let seed: UInt64
    }

    /// The longest walk in seconds that a page simulates. All readings are in memory, and the page draws all positions.
    static let longest = 1800.0
    /// The largest number of readings, received or not, of a walk that a page simulates. Readings of several walks can be
    /// in memory, and a server may have other work.
    static let mostReadings = 500_000

    private let venue: Venue
    private let simulator: WalkSimulator

    /// Creates a walk through a venue.
    ///
    /// - Throws: `SimulationError` if the walk is invalid.
    init(venue: Venue, walk: String, seed: UInt64) throws(SimulationError) {
        self.venue = venue
        simulator = try WalkSimulator(venue: venue, script: try WalkScript(json: walk.utf8), seed: seed)
    }

    /// The duration of the walk in seconds.
    var seconds: Double { simulator.duration / .seconds(1) }

    /// The number of readings of the walk, received or not.
    var readings: Int { Int(simulator.mostExpectedReadings) }

    /// Returns the ground truth, the positions of the session, and the figures of `evaluate`.
    func result(check: () throws(PageCalculation.End) -> Void) throws(PageCalculation.End) -> JSONText {
        let entries = try simulator.entries(check: check)
        var truths: [Truth] = []
        var positions: [Position] = []
        var replay = SessionReplay(
            venues: [venue], settings: SettingsStack().expecting(device: simulator.header.device))
        func note(_ outputs: [SessionOutput]) {
            for output in outputs { if case .position(let position) = output.content { positions.append(position) } }
        }
        var hasStarted = false
        for entry in entries {
            try check()
            switch entry {
            case .header: break
            case .truth(let truth):
                truths.append(truth)
                // The scored position is the one at the ground truth's instant, not the last reported one.
                if let position = replay.position(at: truth.instant) { positions.append(position) }
            case .measurement(let reading):
                if !hasStarted { note(replay.start()) }
                hasStarted = true
                note(replay.handle(reading))
            }
        }
        try check()
        note(hasStarted ? replay.finish() : replay.start() + replay.finish())
        positions = positions.map(\.asPrinted)
        positions.sort { $0.instant < $1.instant }
        var scorer = TrackScorer(venue: venue)
        scorer.add(truths: truths, end: entries.compactMap(\.instant).max() ?? .zero, positions: positions)
        try check()
        return json(truths, positions, scorer.score, conclusion: positions.isEmpty ? replay.conclusion : nil)
    }

    private func json(
        _ truths: [Truth], _ positions: [Position], _ score: TrackScore, conclusion: SessionDiagnosis?
    ) -> JSONText {
        func place(_ instant: Instant, _ mapID: MapID, _ point: MapPoint) -> JSONText {
            var json = JSONText()
            json.add("t", instant.seconds, decimals: 3)
            json.add("mapId", mapID.rawValue)
            json.add("x", point.x, decimals: 3)
            json.add("y", point.y, decimals: 3)
            return json
        }
        var figures = JSONText()
        score.addFigures(to: &figures)
        var json = JSONText()
        json.add("seed", Int(clamping: simulator.seed))
        json.add("seconds", seconds, decimals: 3)
        json.add("figures", figures)
        json.add("reason", conclusion?.recordingSummary())
        json.add(
            "wallCrossings",
            simulator.wallCrossings.map { crossing in
                var json = JSONText()
                json.add("point", crossing.point)
                json.add("walls", crossing.walls)
                return json
            })
        json.add("truth", truths.compactMap { truth in truth.waypoint.map { place($0.instant, $0.mapID, $0.point) } })
        json.add(
            "positions",
            positions.map { position in
                var json = place(position.instant, position.mapID, position.point)
                json.add("radius", position.radius, decimals: 3)
                return json
            })
        return json
    }
}
