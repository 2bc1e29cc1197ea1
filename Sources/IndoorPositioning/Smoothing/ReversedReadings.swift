import IndoorVocabulary

/// The readings of a recording in a form that can be processed in reverse: steps in place of accelerations.
///
/// In reverse, a walk leads from its end to its start, so the heading of each step is turned by 180°. All other
/// readings stay the same.
struct ReversedReadings: Sendable {
    /// The readings for the engine, ordered by instant.
    private var readings: [SensorReading] = []
    private var pedometer = Pedometer()
    private var lastMark: Instant?

    /// Time in seconds between two readings that show the engine an active accelerometer; shorter than the engine's
    /// motion timeout.
    private static let markInterval = 0.4
    /// The reading of a resting accelerometer.
    private static let rest = Vector3(x: 0, y: 0, z: 9.80665)

    /// Adds the recording's next reading.
    mutating func append(_ reading: SensorReading) {
        switch reading {
        case .sighting, .pressure, .fix, .range:
            readings.append(reading)
        case .step(let step):
            let length = pedometer.report(step)
            append(Step(instant: step.instant, length: length, heading: step.heading ?? pedometer.degrees))
        case .motion(let sample):
            if let length = pedometer.detect(sample) {
                append(Step(instant: sample.instant, length: length, heading: pedometer.degrees))
            }
            guard pedometer.lastReading == sample.instant else { return }
            if let lastMark, lastMark.duration(to: sample.instant).seconds < Self.markInterval { return }
            lastMark = sample.instant
            readings.append(.motion(MotionSample(instant: sample.instant, acceleration: Self.rest)))
        case .advertisement, .gnss, .radio:
            break
        }
    }

    private mutating func append(_ step: Step) {
        var turned = step
        turned.heading = step.heading.map { $0 + 180 }
        readings.append(.step(turned))
    }

    /// Removes and returns the last reading if it is later than `instant`.
    mutating func removeLast(after instant: Instant) -> SensorReading? {
        guard let last = readings.last, last.instant > instant else { return nil }
        return readings.removeLast()
    }
}

extension Pedometer {
    /// Heading of the device in degrees clockwise from the plan's top; nil if unknown.
    fileprivate var degrees: Double? { heading.map { $0 * 180 / .pi } }
}
