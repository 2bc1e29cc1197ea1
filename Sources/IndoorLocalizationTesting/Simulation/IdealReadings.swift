import IndoorLocalization
import ScanRecording

/// Draws the readings of a track anew from what the tables of a venue expect at its true places.
///
/// They come when the recorded ones came, of the same beacons, and err just as the measurement model says. What an engine
/// makes of them is what is left to gain by a better model: the rest is in how seldom beacons are heard, and in how the
/// device moves.
public struct IdealReadings: Sendable {
    private let field: SignalField
    private let truths: [Truth]
    private var generator: SeededGenerator
    /// By beacon: what its table is wrong by, and until when.
    private var errors: [Int: (until: Instant, value: Double)] = [:]

    /// Creates readings for a track.
    ///
    /// - Parameters:
    ///   - truths: of the track, in order of time; those without a place tell nothing.
    ///   - seed: equal seeds draw equal readings.
    package init(field: SignalField, truths: [Truth], seed: UInt64) {
        self.field = field
        self.truths = truths.filter { $0.point != nil }
        generator = SeededGenerator(seed: seed)
    }

    /// A reading as it would be if the model were right; what is no sighting of a known beacon at a known place stays.
    public mutating func replacing(_ reading: SensorReading) -> SensorReading {
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

    /// Where the device was: where it stood, or on the straight line between two truths of one map.
    private func place(at instant: Instant) -> (mapID: MapID, point: MapPoint)? {
        guard let next = truths.firstIndex(where: { $0.instant > instant }) else {
            return truths.last.flatMap(Self.place)
        }
        guard next > 0, let before = Self.place(of: truths[next - 1]), let after = Self.place(of: truths[next]) else {
            return nil
        }
        if truths[next - 1].isHold { return before }
        guard before.mapID == after.mapID else { return nil }
        let leg = truths[next - 1].instant.duration(to: truths[next].instant).seconds
        let share = truths[next - 1].instant.duration(to: instant).seconds / leg
        return (before.mapID, before.point + (after.point - before.point) * share)
    }

    private static func place(of truth: Truth) -> (mapID: MapID, point: MapPoint)? {
        guard let mapID = truth.mapID, let point = truth.point else { return nil }
        return (mapID, point)
    }
}
