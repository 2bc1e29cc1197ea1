/// The readings of the last seconds, kept for a belief that begins later than they were made.
struct RecentReadings: Hashable, Sendable {
    /// Older readings say little of where the device is now.
    static let span = Duration.seconds(10)
    /// A bound for sources that deliver in a flood.
    static let limit = 5000

    private(set) var readings: [SensorReading] = []

    /// Adds a reading and forgets those that are too old or too many.
    mutating func add(_ reading: SensorReading) {
        readings.append(reading)
        guard readings.count > Self.limit || isStale(reading.instant) else { return }
        let oldest = reading.instant.advanced(by: .zero - Self.span)
        readings.removeAll { $0.instant < oldest }
        if readings.count > Self.limit { readings.removeFirst(readings.count - Self.limit) }
    }

    /// Whether enough has grown old for a clean-up to be worth its while.
    private func isStale(_ now: Instant) -> Bool {
        readings.first.map { $0.instant.duration(to: now) > Self.span + Self.span } ?? false
    }

    /// Forgets everything.
    mutating func clear() { readings = [] }
}
