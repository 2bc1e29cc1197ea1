import IndoorVocabulary

/// Puts values of several sensors, which come at their own rates, together into readings.
///
/// Each value of the leading sensor, the accelerometer if there is one, makes a motion sample. With it go the mean rotation rate
/// since the sample before, so that no turn is lost, and the magnetic field if it was read since. A value of pressure is a
/// reading of its own. Readings are in order: one that would be older than the last has the instant of the last.
struct MotionAssembler: Sendable {
    /// A rotation rate older than this is of no use, where none has come since the sample before.
    private static let oldestRate = Duration.milliseconds(200)

    private let leader: IIOSensor.Kind?
    private var rates: [Vector3] = []
    private var latestRate: (value: Vector3, instant: Instant)?
    private var field: Vector3?
    private var last: Instant?

    /// - Parameter kinds: the sensors that there are.
    init(_ kinds: Set<IIOSensor.Kind>) {
        leader = [.acceleration, .rotation, .magnetism].first { kinds.contains($0) }
    }

    /// The sensors in the order in which values of the same instant are to be added: the leading one behind those that go with it.
    func order(_ kind: IIOSensor.Kind) -> Int { kind == leader ? 1 : kind == .pressure ? 2 : 0 }

    /// Takes in a value; returns the reading that it completes.
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
        sample.rotationRate = takeRate(at: instant)
        sample.magneticField = field.take()
        return .motion(sample)
    }

    private mutating func takeRate(at instant: Instant) -> Vector3? {
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
