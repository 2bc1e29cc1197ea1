import IndoorVocabulary

/// A recording whose places are known: what an installer walks to teach the radio.
public struct SurveyRecording: Sendable {
    /// A known place of the device.
    public struct Waypoint: Hashable, Sendable {
        /// When the device was there.
        public var instant: Instant
        /// The map that the place lies on.
        public var mapID: MapID
        /// Where on that map.
        public var point: MapPoint
        /// Whether the device stands there until the next way point; otherwise it walks straight to that.
        public var isHold: Bool

        /// Creates a way point.
        public init(instant: Instant, mapID: MapID, point: MapPoint, isHold: Bool) {
            self.instant = instant
            self.mapID = mapID
            self.point = point
            self.isHold = isHold
        }

        /// Where the device is on its way from here to the next way point, at a time in seconds between both; nil if that is
        /// on another map.
        package func place(toward next: Waypoint, at seconds: Double) -> (mapID: MapID, point: MapPoint)? {
            guard mapID == next.mapID else { return nil }
            let share = (seconds - instant.seconds) / (next.instant.seconds - instant.seconds)
            return (mapID, point + (next.point - point) * share)
        }
    }

    /// Where the device was, ordered by instant.
    public var waypoints: [Waypoint]
    /// What it heard, ordered by instant.
    public var sightings: [Sighting]
    /// The recording's last instant.
    public var end: Instant
    /// The model of the receiver; nil if unknown. Recordings of one model tell its offset: ``RadioMap/Fit/devices``.
    public var device: String?

    /// Creates a survey recording; its end is the last instant of a way point or sighting, unless given.
    public init(waypoints: [Waypoint], sightings: [Sighting], end: Instant? = nil, device: String? = nil) {
        self.waypoints = waypoints
        self.sightings = sightings
        self.device = device
        self.end = end ?? max(waypoints.last?.instant ?? .zero, sightings.last?.instant ?? .zero)
    }
}
