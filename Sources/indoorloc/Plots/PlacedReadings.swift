import IndoorLocalization
import ScanRecording

/// RSSI readings at known places.
struct PlacedReadings: Sendable {
    /// The RSSI of a beacon at a place.
    struct Reading: Sendable {
        var beacon: BeaconIdentity
        var mapID: MapID
        var point: MapPoint
        /// The RSSI in dBm.
        var rssi: Double
    }

    private(set) var readings: [Reading] = []

    /// The mean readings at the places of a radio map.
    init(_ map: RadioMap) {
        for place in map.fingerprints {
            for reading in place.readings where map.beacons.indices.contains(reading.beacon) {
                readings.append(
                    Reading(
                        beacon: map.beacons[reading.beacon].identity, mapID: place.mapID, point: place.point,
                        rssi: reading.rssi))
            }
        }
    }

    /// The readings of recordings at the places of their ground truth.
    ///
    /// A reading before the first ground truth, after the last waypoint, or between waypoints on different maps has no
    /// place and is left out.
    /// - Parameter warns: whether skipped and dropped lines are reported; false if they have been.
    /// - Throws: `RecordingError` of the first invalid recording.
    init(
        _ recordings: [String], in venue: Venue, strictness: RecordingReader.Strictness,
        under conditions: EvaluationConditions = EvaluationConditions(), warns: Bool = true, _ progress: ProgressLine
    ) throws {
        for (number, path) in recordings.enumerated() {
            progress.show("recording \(number + 1) of \(recordings.count)")
            let recording =
                warns
                ? try SurveyRecording.reportingWarnings(path, in: venue, strictness: strictness)
                : try SurveyRecording(path: path, in: venue, strictness: strictness)
            let waypoints = recording.waypoints
            var next = 0
            for sighting in recording.sightings where Sighting.isMeasurement(rssi: sighting.rssi) {
                while next < waypoints.count, waypoints[next].instant <= sighting.instant { next += 1 }
                guard let place = Self.place(in: waypoints, before: next, at: sighting.instant) else { continue }
                readings.append(
                    Reading(
                        beacon: sighting.beacon, mapID: place.mapID, point: place.point,
                        rssi: sighting.rssi + conditions.shift))
            }
        }
    }

    private static func place(
        in waypoints: [SurveyRecording.Waypoint], before next: Int, at instant: Instant
    ) -> (mapID: MapID, point: MapPoint)? {
        guard next > 0 else { return nil }
        let last = waypoints[next - 1]
        if last.isHold { return (last.mapID, last.point) }
        guard next < waypoints.count else { return nil }
        return last.place(toward: waypoints[next], at: instant.seconds)
    }

    /// Returns the readings of some beacons; all for an empty set.
    func readings(of beacons: Set<BeaconIdentity>) -> [Reading] {
        beacons.isEmpty ? readings : readings.filter { beacons.contains($0.beacon) }
    }
}

extension Venue {
    /// The places of the beacons: those of the packet, and those that the survey learned.
    var beaconPlaces: [BeaconIdentity: (mapID: MapID, point: MapPoint)] {
        var places: [BeaconIdentity: (mapID: MapID, point: MapPoint)] = [:]
        for beacon in radioMap?.beacons ?? [] { places[beacon.identity] = (beacon.mapID, beacon.point) }
        for beacon in beacons { places[beacon.identity] = (beacon.mapID, beacon.point) }
        return places
    }
}
