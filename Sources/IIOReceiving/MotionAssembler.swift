import IndoorVocabulary

/// An assembler of readings from the values of several sensors with different rates.
///
/// Each value of the leading sensor, which is the accelerometer if there is one, gives a motion sample. The sample
/// contains the mean rotation rate since the last sample, so that no rotation is lost, and the magnetic field if it was
/// read since. A pressure value is a separate reading. Readings are in order: a reading older than the last has the
/// instant of the last.
struct MotionAssembler: Sendable {
    /// The largest age of a rotation rate for a sample without a newer one.
    private static let oldestRate = Duration.milliseconds(200)

    private let leader: IIOSensor.Kind?
    private var rates: [Vector3] = []
    private var latestRate: (value: Vector3, instant: Instant)?
    private var field: Vector3?
    private var last: Instant?

    /// - Parameter kinds: The kinds of the available sensors.
    init(_ kinds: Set<IIOSensor.Kind>) {
        leader = [.acceleration, .rotation, .magnetism].first { kinds.contains($0) }
    }

    /// Returns the order in which to add values of the same instant: the leading sensor after the sensors that
    /// contribute to its samples.
    func order(_ kind: IIOSensor.Kind) -> Int { kind == leader ? 1 : kind == .pressure ? 2 : 0 }

    /// Adds a value, and returns the reading that it completes.
    mutating func add(_ kind: IIOSensor.Kind, _ value: Vector3, at instant: Instant) -> SensorReading? {
        guard value.x.isFinite, value.y.isFinite, value.z.isFinite else { return nil }
        if kind == .pressure {
            return .pressure(PressureSample(instant: ordered(instant), hectopascals: value.x))
        }
        switch kind {
        case .rotation:
            rates.append(value)
            latestRate = (value, instant)
        case .magnetism: field = value
        case .acceleration, .pressure: break
        }
        guard kind == leader else { return nil }
        var sample = MotionSample(instant: ordered(instant))
        if kind == .acceleration { sample.acceleration = value }
        sample.rotationRate = consumeRates(at: instant)
        sample.magneticField = field.take()
        return .motion(sample)
    }

    private mutating func consumeRates(at instant: Instant) -> Vector3? {
        defer { rates.removeAll(keepingCapacity: true) }
        guard !rates.isEmpty else {
            return latestRate.flatMap { $0.instant.duration(to: instant) <= Self.oldestRate ? $0.value : nil }
        }
        var sum = Vector3(x: 0, y: 0, z: 0)
        for rate in rates { sum = Vector3(x: sum.x + rate.x, y: sum.y + rate.y, z: sum.z + rate.z) }
        let share = 1 / Double(rates.count)
        return Vector3(x: sum.x * share, y: sum.y * share, z: sum.z * share)
    }

    private mutating func ordered(_ instant: Instant) -> Instant {
        let next = last.map { max($0, instant) } ?? instant
        last = next
        return next
    }
}
