import IndoorLocalization

/// A generator that replaces the readings of a track by random ones that follow the venue's tables at the true places.
///
/// The readings keep the times and beacons of the recorded ones, and have exactly the errors of the measurement model.
/// The accuracy of an engine with them is not a bound: recorded readings may scatter less than the model expects.
package struct IdealReadings: Sendable {
    private let field: SignalField
    private let waypoints: [SurveyRecording.Waypoint]
    private let addresses: KnownAddresses
    private var generator: SeededGenerator
    /// The error of each beacon's table, and the instant until which it applies.
    private var errors: [Int: (until: Instant, value: Double)] = [:]

    /// Creates ideal readings for a track.
    ///
    /// - Parameters:
    ///   - waypoints: the true places of the track, in chronological order.
    ///   - addresses: the beacons that are known by their address, of which advertisements are sightings.
    ///   - seed: the seed of the random numbers; the same seed gives the same readings.
    package init(
        field: SignalField, waypoints: [SurveyRecording.Waypoint], addresses: KnownAddresses = KnownAddresses(),
        seed: UInt64
    ) {
        self.field = field
        self.waypoints = waypoints
        self.addresses = addresses
        generator = SeededGenerator(seed: seed)
    }

    /// Returns the reading that the model generates for the true place.
    ///
    /// A reading that isn't a sighting of a known beacon at a known place is returned unchanged.
    package mutating func replacing(_ reading: SensorReading) -> SensorReading {
        guard case .sighting(var sighting) = addresses.named(reading), Sighting.isMeasurement(rssi: sighting.rssi),
            let beacon = field.indexes[sighting.beacon], let place = place(at: sighting.instant),
            let expected = field.expectation(of: beacon, at: place.point, on: place.mapID)
        else { return reading }
        let deviation = (expected.variance + field.readingDeviation * field.readingDeviation).squareRoot()
        let error = error(of: beacon, deviation, at: sighting.instant)
        sighting.rssi = min(expected.rssi + error + field.model.fastFading * generator.normal(), -1)
        return .sighting(sighting)
    }

    /// Returns the error of a beacon's table. Readings of a beacon within the model's correlation time share it.
    private mutating func error(of beacon: Int, _ deviation: Double, at instant: Instant) -> Double {
        if let error = errors[beacon], instant < error.until { return error.value }
        let value = deviation * generator.normal()
        errors[beacon] = (instant.advanced(by: .seconds(field.model.correlationTime)), value)
        return value
    }

    /// Returns the true place: that of a stay, or the point on the straight line between two waypoints of one map.
    private func place(at instant: Instant) -> (mapID: MapID, point: MapPoint)? {
        let next = waypoints.firstIndex { $0.instant > instant } ?? waypoints.count
        guard next > 0 else { return nil }
        let before = waypoints[next - 1]
        if next == waypoints.count, !before.isHold { return (before.mapID, before.point) }
        return before.place(at: instant, before: next < waypoints.count ? waypoints[next] : nil)
    }
}
