import IndoorVocabulary

extension PositioningEngine {
    /// The time between two updates, and the longest time for which the engine is updated in a gap between readings.
    private static let step = Duration.milliseconds(500)
    private static let longestGap = Duration.seconds(60)

    /// Observes the readings of a whole session, ordered by instant, and advances to the last one.
    mutating func play(_ readings: [SensorReading]) {
        guard let begin = readings.first?.instant, let end = readings.last?.instant else { return }
        var next = begin.advanced(by: Self.step)
        for reading in readings {
            while next < reading.instant {
                advance(to: next)
                next = max(next, reading.instant.advanced(by: .zero - Self.longestGap)).advanced(by: Self.step)
            }
            observe(reading)
        }
        advance(to: end)
    }
}
