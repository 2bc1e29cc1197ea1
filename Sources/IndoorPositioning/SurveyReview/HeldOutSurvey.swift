import IndoorVocabulary
import VenueModel

/// The errors of positions in survey recordings with a radio map that was learned without them.
///
/// The estimate of a session's error needs no recordings beyond the survey. A survey of single stays has more favourable
/// recordings than a user's walk, so that the error of walks can be larger. Source: M. Stone, *Cross-Validatory Choice and
/// Assessment of Statistical Predictions*, Journal of the Royal Statistical Society B 36(2), 1974.
public struct HeldOutSurvey: Sendable {
    /// A split of the recordings: indexes of the recordings to learn from and of those to locate.
    public struct Fold: Hashable, Sendable {
        /// The recordings that the radio map is learned from.
        public var learned: [Int]
        /// The recordings that are left out and located.
        public var heldOut: [Int]
    }

    /// A position compared with the ground truth.
    public struct Error: Hashable, Sendable {
        /// The map of the ground truth.
        public var mapID: MapID
        /// The ground truth.
        public var point: MapPoint
        /// The error in metres; nil for a position on another map, or without a position.
        public var distance: Double?
    }

    private let venue: Venue
    private let settings: PositioningSettings
    private let field: SignalField

    /// Waypoints before this time in seconds have no error, because the engine needs time to start.
    private static let warmUp = 5.0
    /// The least time in seconds between two compared waypoints.
    private static let thinning = 0.95

    /// The time in seconds between two updates of the engine.
    private static let interval = 1.0

    /// Creates the comparison for a radio map that was learned without the recordings to locate.
    public init(venue: Venue, radioMap: RadioMap, settings: PositioningSettings = PositioningSettings()) {
        var surveyed = venue
        surveyed.radioMap = radioMap
        self.venue = surveyed
        self.settings = settings
        field = SignalField(venue: surveyed, model: settings.signal)
    }

    /// Returns the splits of `count` recordings into at most `parts` parts, each of which is left out once; empty for fewer
    /// than two recordings. The same count gives the same splits.
    public static func folds(of count: Int, parts: Int = 4) -> [Fold] {
        guard count > 1 else { return [] }
        var generator = SeededGenerator(seed: 0)
        let order = (0..<count).shuffled(using: &generator)
        let parts = min(max(2, parts), count)
        return (0..<parts).map { part in
            Fold(
                learned: order.indices.filter { $0 % parts != part }.map { order[$0] }.sorted(),
                heldOut: order.indices.filter { $0 % parts == part }.map { order[$0] }.sorted())
        }
    }

    /// Locates a recording and returns the errors at its waypoints from 5 s on, at most one per second, and at the end of
    /// its stays.
    ///
    /// - Parameters:
    ///   - readings: the readings of the recording in chronological order; nil for its sightings alone.
    ///   - seed: the seed of the engine.
    public func errors(
        of recording: SurveyRecording, readings: [SensorReading]? = nil, seed: UInt64 = 0
    ) -> [Error] {
        var engine = PositioningEngine(venue: venue, field: field, settings: settings, seed: seed)
        let readings = readings ?? recording.sightings.map(SensorReading.sighting)
        var (next, tick) = (0, (readings.first?.instant.seconds ?? 0) + Self.interval)
        func advance(_ engine: inout PositioningEngine, to end: Instant) {
            while next < readings.count, readings[next].instant <= end {
                engine.observe(readings[next])
                next += 1
            }
            engine.advance(to: end)
        }
        return Self.targets(of: recording).map { target in
            while tick < target.instant.seconds {
                advance(&engine, to: Instant(seconds: tick))
                tick += Self.interval
            }
            advance(&engine, to: target.instant)
            let likely = engine.mapProbabilities.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
            let estimate = likely == target.mapID ? engine.estimate(on: target.mapID) : nil
            return Error(
                mapID: target.mapID, point: target.point, distance: estimate?.point.distance(to: target.point))
        }
    }

    private static func targets(of recording: SurveyRecording) -> [SurveyRecording.Waypoint] {
        var targets: [SurveyRecording.Waypoint] = []
        var last = -Double.infinity
        let points = recording.waypoints
        for (index, waypoint) in points.enumerated() {
            var target = waypoint
            if waypoint.isHold {
                target.instant = index + 1 < points.count ? points[index + 1].instant : recording.end
            } else if waypoint.instant.seconds < warmUp || waypoint.instant.seconds - last < thinning {
                continue
            } else {
                last = waypoint.instant.seconds
            }
            targets.append(target)
        }
        return targets.sorted { $0.instant < $1.instant }
    }
}
