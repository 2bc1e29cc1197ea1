import IndoorVocabulary
import VenueModel

/// The errors of positions in survey recordings with a radio map that was learned without them.
///
/// This estimate of a session's error needs only the recordings of the survey. The recordings of a survey with single
/// stays are more favourable than a user's walk, so the error of walks can be larger. Source: M. Stone,
/// *Cross-Validatory Choice and Assessment of Statistical Predictions*, Journal of the Royal Statistical Society B
/// 36(2), 1974.
package struct HeldOutSurvey: Sendable {
    /// A split of the recordings: the indexes of the recordings to learn from, and of the recordings to locate.
    package struct Fold: Hashable, Sendable {
        /// The recordings that the radio map is learned from.
        package var learned: [Int]
        /// The recordings that are left out and located.
        package var heldOut: [Int]
    }

    /// A position compared with the ground truth.
    package struct Error: Hashable, Sendable {
        /// The map of the ground truth.
        package var mapID: MapID
        /// The ground truth.
        package var point: MapPoint
        /// The error in metres; nil for a position on another map, or without a position.
        package var distance: Double?
    }

    private let venue: Venue
    private let settings: PositioningSettings
    private let field: SignalField

    /// Waypoints before this time in seconds have no error, because the engine needs time to start.
    private static let warmUp = 5.0
    /// The minimum time in seconds between two compared waypoints.
    private static let thinning = 0.95

    /// The time in seconds between two updates of the engine.
    private static let interval = 1.0

    /// Creates the comparison for a radio map that was learned without the recordings to locate.
    package init(venue: Venue, radioMap: RadioMap, settings: PositioningSettings = PositioningSettings()) {
        var surveyed = venue
        surveyed.radioMap = radioMap
        self.venue = surveyed
        self.settings = settings
        field = SignalField(venue: surveyed, model: settings.signal)
    }

    /// Returns the splits of recordings into at most `parts` parts, each of which is left out once; empty for recordings
    /// from fewer than two places.
    ///
    /// Stays at the same point belong to one part. Otherwise, the radio map would be learned from other stays at a
    /// left-out point. The same recordings give the same splits.
    package static func folds(of recordings: [SurveyRecording], parts: Int = 4) -> [Fold] {
        var groups: [[Int]] = []
        var stays: [SurveyRecording.Waypoint: Int] = [:]
        for (index, recording) in recordings.enumerated() {
            guard recording.waypoints.count == 1, var stay = recording.waypoints.first else {
                groups.append([index])
                continue
            }
            stay.instant = .zero
            if let group = stays[stay] {
                groups[group].append(index)
            } else {
                stays[stay] = groups.count
                groups.append([index])
            }
        }
        guard groups.count > 1 else { return [] }
        var generator = SeededGenerator(seed: 0)
        let order = groups.shuffled(using: &generator)
        let parts = min(max(2, parts), groups.count)
        return (0..<parts).map { part in
            func members(_ isHeldOut: Bool) -> [Int] {
                order.indices.filter { ($0 % parts == part) == isHeldOut }.flatMap { order[$0] }.sorted()
            }
            return Fold(learned: members(false), heldOut: members(true))
        }
    }

    /// Locates a recording and returns the errors at its waypoints from 5 s on, at most one per second, and at the end of
    /// its stays.
    ///
    /// - Parameters:
    ///   - readings: the readings of the recording in chronological order; nil for its sightings alone.
    ///   - seed: the seed of the engine.
    package func errors(
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
                let next = index + 1 < points.count ? points[index + 1] : nil
                target.instant = waypoint.stayEnd(before: next, in: recording)
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
