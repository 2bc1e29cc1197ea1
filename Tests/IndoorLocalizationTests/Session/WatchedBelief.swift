import IndoorLocalization

/// Notes what beliefs are told, for tests that ask.
final class WatchedBelief: Sendable {
    private let notes = Guarded((readings: [SensorReading](), advances: [Instant]()))

    var readings: [SensorReading] { notes.withLock { $0.readings } }
    var advances: [Instant] { notes.withLock { $0.advances } }

    func note(_ reading: SensorReading) { notes.withLock { $0.readings.append(reading) } }
    func note(_ advance: Instant) { notes.withLock { $0.advances.append(advance) } }
}
