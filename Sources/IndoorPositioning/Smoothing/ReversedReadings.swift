import IndoorVocabulary

/// A recording's readings in a form that can be taken in from its end: steps in place of accelerations.
///
/// Who walks from here to there, seen backwards, walks from there to here with the back turned: steps turn round,
/// everything else stays.
struct ReversedReadings: Sendable {
    /// What the engine would have taken in, ordered by instant.
    private var readings: [SensorReading] = []
    private var pedometer = Pedometer()
    private var lastMark: Instant?

    /// Seconds between two signs that the accelerometer was there: shorter than the engine's patience.
    private static let markInterval = 0.4
    /// What a resting accelerometer says.
    private static let rest = Vector3(x: 0, y: 0, z: 9.80665)

    /// Takes in the recording's next reading.
    mutating func append(_ reading: SensorReading) {
        switch reading {
        case .sighting, .pressure, .fix:
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

    /// Takes away the last reading if it is later than `instant`.
    mutating func removeLast(after instant: Instant) -> SensorReading? {
        guard let last = readings.last, last.instant > instant else { return nil }
        return readings.removeLast()
    }
}

extension Pedometer {
    /// Course of the device in degrees clockwise from the plan's top; nil if unknown.
    fileprivate var degrees: Double? { heading.map { $0 * 180 / .pi } }
}
