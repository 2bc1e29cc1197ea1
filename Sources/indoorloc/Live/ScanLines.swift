import IndoorLocalization
import ScanRecording

/// What `scan` prints where nobody looks: a recording, whose beacon lines tell the smoothed RSSI and the distance too.
struct ScanLines {
    private var ranger = Ranger()

    /// The line of an entry as a recording has it, without its newline.
    static func text(of entry: RecordingEntry) throws -> String {
        String(decoding: try RecordEncoder.line(for: entry).dropLast(), as: UTF8.self)
    }

    /// The line of a reading, without its newline.
    mutating func line(of reading: SensorReading) throws -> String {
        let line = try Self.text(of: .measurement(reading))
        guard case .sighting(let sighting) = reading, Sighting.isMeasurement(rssi: sighting.rssi) else { return line }
        ranger.observe(sighting)
        ranger.forgetSilent(at: sighting.instant)
        guard let estimate = ranger.estimate(of: sighting.beacon, at: sighting.instant) else { return line }
        var json = JSONText()
        json.add("smoothed", estimate.rssi, decimals: 1)
        json.add("distance", estimate.distance?.meters, decimals: 2)
        json.add("proximity", estimate.proximity?.rawValue)
        return line.dropLast() + "," + json.text.dropFirst()
    }
}
