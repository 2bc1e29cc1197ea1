import IndoorLocalization

/// Draws the readings of a track anew from what the tables of a venue expect at its true places.
///
/// They come when the recorded ones came, of the same beacons, and err just as the measurement model says. What an engine
/// makes of them is no bound: recorded readings may scatter less than the model expects.
package struct IdealReadings: Sendable {
    private let field: SignalField
    private let waypoints: [SurveyRecording.Waypoint]
    private var generator: SeededGenerator
    /// By beacon: what its table is wrong by, and until when.
    private var errors: [Int: (until: Instant, value: Double)] = [:]

    /// Creates readings for a track.
    ///
    /// - Parameters:
    ///   - waypoints: true places of the track, in order of time.
    ///   - seed: equal seeds draw equal readings.
    package init(field: SignalField, waypoints: [SurveyRecording.Waypoint], seed: UInt64) {
        self.field = field
        self.waypoints = waypoints
        generator = SeededGenerator(seed: seed)
    }

    /// A reading as it would be if the model were right; what is no sighting of a known beacon at a known place stays.
    package mutating func replacing(_ reading: SensorReading) -> SensorReading {
        guard case .sighting(var sighting) = reading, Sighting.isMeasurement(rssi: sighting.rssi),
            let beacon = field.indexes[sighting.beacon], let place = place(at: sighting.instant),
            let expected = field.expectation(of: beacon, at: place.point, on: place.mapID)
        else { return reading }
        let deviation = (expected.variance + field.readingDeviation * field.readingDeviation).squareRoot()
        let error = error(of: beacon, deviation, at: sighting.instant)
        sighting.rssi = min(expected.rssi + error + field.model.fastFading * generator.normal(), -1)
        return .sighting(sighting)
    }

    /// Readings of a beacon within the model's correlation time share their error.
    private mutating func error(of beacon: Int, _ deviation: Double, at instant: Instant) -> Double {
        if let error = errors[beacon], instant < error.until { return error.value }
        let value = deviation * generator.normal()
        errors[beacon] = (instant.advanced(by: .seconds(field.model.correlationTime)), value)
        return value
    }

    /// Where the device was: where it stood, or on the straight line between two way points of one map.
    private func place(at instant: Instant) -> (mapID: MapID, point: MapPoint)? {
        guard let next = waypoints.firstIndex(where: { $0.instant > instant }) else {
            return waypoints.last.map { ($0.mapID, $0.point) }
        }
        guard next > 0 else { return nil }
        let before = waypoints[next - 1]
        return before.isHold
            ? (before.mapID, before.point) : before.place(toward: waypoints[next], at: instant.seconds)
    }
}
