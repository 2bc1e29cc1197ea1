import IndoorVocabulary

/// A recording with known places, from which a radio map is learned.
public struct SurveyRecording: Sendable {
    /// A known place of the device.
    public struct Waypoint: Hashable, Sendable {
        /// The time at the place.
        public var instant: Instant
        /// The map of the place.
        public var mapID: MapID
        /// The point on the map.
        public var point: MapPoint
        /// Whether the device stands at the place until the next waypoint. Otherwise, it walks straight to the next
        /// waypoint.
        public var isHold: Bool

        /// Creates a waypoint.
        public init(instant: Instant, mapID: MapID, point: MapPoint, isHold: Bool) {
            self.instant = instant
            self.mapID = mapID
            self.point = point
            self.isHold = isHold
        }

        /// Returns the interpolated place between this waypoint and the next one at a time in seconds; nil if the next
        /// waypoint is on another map.
        package func place(toward next: Waypoint, at seconds: Double) -> (mapID: MapID, point: MapPoint)? {
            guard mapID == next.mapID else { return nil }
            let share = (seconds - instant.seconds) / (next.instant.seconds - instant.seconds)
            return (mapID, point + (next.point - point) * share)
        }
    }

    /// The known places, ordered by instant.
    package var waypoints: [Waypoint]
    /// The received sightings, ordered by instant.
    package var sightings: [Sighting]
    /// The last instant of the recording.
    package var end: Instant
    /// The model of the receiver; nil if unknown. The recordings of a model determine the model's receiver offset; see
    /// `RadioMap.Fit.devices`.
    package var device: String?

    /// Creates a survey recording. By default, its end is the last instant of a waypoint or sighting.
    package init(waypoints: [Waypoint], sightings: [Sighting], end: Instant? = nil, device: String? = nil) {
        self.waypoints = waypoints
        self.sightings = sightings
        self.device = device
        self.end = end ?? max(waypoints.last?.instant ?? .zero, sightings.last?.instant ?? .zero)
    }
}
