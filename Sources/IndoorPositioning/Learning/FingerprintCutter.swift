import IndoorVocabulary
import VenueModel

/// A converter that cuts survey recordings into fingerprints.
struct FingerprintCutter {
    /// Length in seconds of the pieces of a walk: about two metres of walking.
    var window = 2.0
    /// Minimum listening time in seconds of a stay.
    var shortestStay = 0.5

    /// A piece of a recording: the position and the readings by beacon.
    struct Piece {
        var mapID: MapID
        var point: MapPoint
        var duration: Double
        var readings: [BeaconIdentity: (sum: Double, count: Int)]
        /// Standard deviation of the point along each axis in metres; 0 for ground truth.
        var deviation = 0.0
    }

    /// Returns the pieces of a recording: first the stays, then the walks, each in chronological order; empty without
    /// waypoints.
    func pieces(of recording: SurveyRecording) -> [Piece] {
        var pieces: [Piece] = []
        let points = recording.waypoints
        for (index, waypoint) in points.enumerated() {
            let next = index + 1 < points.count ? points[index + 1] : nil
            if waypoint.isHold {
                let end = next?.instant ?? recording.end
                let duration = max(shortestStay, waypoint.instant.duration(to: end).seconds)
                pieces.append(
                    piece(recording, from: waypoint.instant, through: end, waypoint.mapID, waypoint.point, duration))
            }
        }
        return pieces + Self.walks(points).flatMap { cut($0, of: recording) }
    }

    /// Returns the waypoints of each uninterrupted walk; the last waypoint of a walk is its stop.
    private static func walks(_ points: [SurveyRecording.Waypoint]) -> [[SurveyRecording.Waypoint]] {
        var walks: [[SurveyRecording.Waypoint]] = []
        var walk: [SurveyRecording.Waypoint] = []
        for point in points {
            walk.append(point)
            guard point.isHold else { continue }
            walks.append(walk)
            walk = []
        }
        return walks + [walk]
    }

    /// Maximum time in seconds between two waypoints of a walk; a longer gap interrupts the walk.
    private static let longestLeg = 600.0

    private func cut(_ walk: [SurveyRecording.Waypoint], of recording: SurveyRecording) -> [Piece] {
        guard let first = walk.first, let last = walk.last else { return [] }
        var pieces: [Piece] = []
        let gap = walk.indices.dropFirst().first { index in
            walk[index - 1].instant.duration(to: walk[index].instant).seconds > Self.longestLeg
        }
        if let gap { return cut(Array(walk[..<gap]), of: recording) + cut(Array(walk[gap...]), of: recording) }
        var start = first.instant.seconds
        while start < last.instant.seconds {
            let end = min(start + window, last.instant.seconds)
            if end - start >= window / 2, let place = Self.place(on: walk, at: (start + end) / 2) {
                pieces.append(
                    piece(
                        recording, from: Instant(seconds: start), through: Instant(seconds: end), place.mapID,
                        place.point, end - start))
            }
            start = end
        }
        return pieces
    }

    private func piece(
        _ recording: SurveyRecording, from start: Instant, through end: Instant, _ map: MapID, _ point: MapPoint,
        _ duration: Double
    ) -> Piece {
        var readings: [BeaconIdentity: (sum: Double, count: Int)] = [:]
        for sighting in recording.sightings[Self.lowerBound(recording.sightings, start)...] {
            guard sighting.instant <= end else { break }
            guard sighting.hasMeasurement else { continue }
            let old = readings[sighting.beacon] ?? (0, 0)
            readings[sighting.beacon] = (old.sum + sighting.rssi, old.count + 1)
        }
        return Piece(mapID: map, point: point, duration: duration, readings: readings)
    }

    /// Minimum probability of the map of a track position.
    private static let leastProbability = 0.9

    /// Returns the pieces of a recording at the positions of its track, without positions whose standard deviation
    /// exceeds `limit` metres.
    ///
    /// - Parameter doubt: factor on the track's radii.
    func pieces(
        of recording: SurveyRecording, along track: SmoothedTrack, doubt: Double, atMost limit: Double
    ) -> [Piece] {
        guard let first = track.looks.first?.instant.seconds, let last = track.looks.last?.instant.seconds else {
            return []
        }
        var pieces: [Piece] = []
        for start in stride(from: first, to: last - window / 2, by: window) {
            let end = min(start + window, last)
            guard let look = track.look(at: Instant(seconds: (start + end) / 2)),
                look.probability >= Self.leastProbability
            else { continue }
            let deviation = doubt * look.estimate.radius / PositionCovariance.radiusOfDeviation
            guard deviation <= limit else { continue }
            var piece = piece(
                recording, from: Instant(seconds: start), through: Instant(seconds: end), look.mapID,
                look.estimate.point, end - start)
            guard !piece.readings.isEmpty else { continue }
            piece.deviation = deviation
            pieces.append(piece)
        }
        return pieces
    }

    private static func lowerBound(_ sightings: [Sighting], _ instant: Instant) -> Int {
        sightings.indices.bisection { sightings[$0].instant >= instant }
    }

    /// Returns the position of a walker who moves straight and at constant speed between waypoints; nil on the way
    /// between two maps.
    private static func place(on walk: [SurveyRecording.Waypoint], at seconds: Double) -> (
        mapID: MapID, point: MapPoint
    )? {
        guard let after = walk.firstIndex(where: { $0.instant.seconds > seconds }) else {
            return walk.last.map { ($0.mapID, $0.point) }
        }
        guard after > 0 else { return (walk[0].mapID, walk[0].point) }
        return walk[after - 1].place(toward: walk[after], at: seconds)
    }
}
