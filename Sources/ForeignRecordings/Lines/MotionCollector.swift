import IndoorVocabulary

/// A collector that combines lines of single inertial sensors into samples.
///
/// A sample has at most one value of each sensor, and all its values are within `longest`. Its time is that of its
/// first value.
struct MotionCollector: Hashable, Sendable {
    /// The longest time between the first and the last value of a sample: half the period of a slow sensor, 50 Hz.
    static let longest = Duration.milliseconds(10)

    /// The sensors of a phone.
    enum Sensor { case acceleration, rotationRate, magneticField }

    private var sample: MotionSample?
    private var time = ForeignTime(nanoseconds: 0, isUnix: false)

    /// Adds a value; first completes the current sample if the value doesn't belong to it.
    mutating func add(_ sensor: Sensor, _ value: Vector3, at time: ForeignTime, into output: inout ForeignOutput) {
        let path: WritableKeyPath<MotionSample, Vector3?> =
            switch sensor {
            case .acceleration: \.acceleration
            case .rotationRate: \.rotationRate
            case .magneticField: \.magneticField
            }
        let elapsed = Instant(nanoseconds: self.time.nanoseconds).duration(to: Instant(nanoseconds: time.nanoseconds))
        if let sample, sample[keyPath: path] != nil || elapsed < .zero || elapsed > Self.longest {
            finish(into: &output)
        }
        if sample == nil {
            sample = MotionSample(instant: .zero)
            self.time = time
        }
        sample?[keyPath: path] = value
    }

    /// Completes the sample.
    mutating func finish(into output: inout ForeignOutput) {
        if let sample = sample.take() { output.add(.motion(sample), at: time) }
    }
}
