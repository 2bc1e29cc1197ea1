import IndoorLocalization

/// A sequence of prepared readings that replaces the readings of a recording at the same instants.
struct ReadingTape {
    /// The readings in the order of their instants; nil to keep the recorded ones.
    private let readings: [SensorReading]?
    private var next = 0

    init(_ readings: [SensorReading]?) { self.readings = readings }

    /// Returns the prepared readings up to the instant of a recorded one; without prepared readings, the recorded one.
    mutating func readings(at recorded: SensorReading) -> [SensorReading] {
        guard let readings else { return [recorded] }
        let first = next
        while next < readings.count, readings[next].instant <= recorded.instant { next += 1 }
        return Array(readings[first..<next])
    }
}
