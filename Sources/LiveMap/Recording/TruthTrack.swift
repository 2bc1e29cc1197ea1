import IndoorVocabulary
import VenueModel

/// The ground truth of a recording at any instant.
struct TruthTrack: Sendable {
    /// Ordered by instant.
    private let waypoints: [SurveyRecording.Waypoint]

    /// Creates a track of known places.
    init(_ waypoints: [SurveyRecording.Waypoint]) { self.waypoints = waypoints.sorted { $0.instant < $1.instant } }

    /// Returns the true place: that of a stay, or the point on the straight line between two waypoints of one map.
    ///
    /// Nil before the first waypoint, after the last one unless the device stays there, and between two maps.
    func place(at seconds: Double) -> LiveMapFrame.Place? {
        let instant = Instant(seconds: seconds)
        let low = waypoints.indices.bisection { waypoints[$0].instant > instant }
        guard low > 0 else { return nil }
        let before = waypoints[low - 1]
        if before.isHold || before.instant == instant {
            return LiveMapFrame.Place(mapID: before.mapID, point: before.point)
        }
        guard low < waypoints.count, let place = before.place(toward: waypoints[low], at: seconds) else {
            return nil
        }
        return LiveMapFrame.Place(mapID: place.mapID, point: place.point)
    }
}
