import Dispatch
import Glibc
import IndoorVocabulary
import Synchronization

/// A source of motion and air pressure from Linux's Industrial I/O (IIO) devices.
///
///     let radio = try BluetoothScanSource()
///     let localizer = Localizer(source: CombinedSource(radio, with: [IIOSource()]), venues: packets)
///
/// The source reads the first accelerometer, gyroscope, magnetometer and barometer under `/sys/bus/iio/devices`, with
/// the scales, offsets and mount matrices of their drivers. It delivers ``SensorReading/motion(_:)`` and
/// ``SensorReading/pressure(_:)``. Instants count from boot (CLOCK_BOOTTIME), as in other live sources.
///
/// If a device has a buffer and a trigger, the source reads it through its node, `/dev/iio:deviceN`, and misses no
/// sample. This needs write permission for the device's attributes, which root has. Without the permission or a buffer,
/// the source polls single values `rate` times a second, which needs no special permission.
///
/// The stream throws an `IIOError` if there is no sensor, if a sensor isn't readable, or if one disappears. The
/// kernel's interface is documented in Documentation/ABI/testing/sysfs-bus-iio. The source doesn't use the library
/// libiio, which depends on USB, Avahi and XML.
public struct IIOSource: ScanSource, Hashable {
    /// The range of rates in samples a second.
    package static let rates = 1.0...200

    /// The number of motion samples a second, in 1...200. The source polls at this rate; a buffer uses the lowest
    /// rate of the device that isn't below it. The source polls pressure at most ten times a second.
    package var rate: Double {
        didSet { rate = Self.inRange(rate) }
    }
    /// Whether the source uses the buffers of devices that have one.
    package var usesBuffers: Bool
    /// Whether the accelerometer's driver reports acceleration with the opposite sign: −9.81 m/s² along z for a device
    /// that lies on its back, instead of 9.81. Some HID sensor hubs do, following the convention of Windows.
    package var isAccelerationInverted: Bool
    /// The folder of all devices.
    package var devices: String
    /// The folder of device nodes.
    package var nodes: String
    /// The longest time that a stream waits until an earlier one of this process no longer uses buffers. After it, the
    /// stream polls the sensors. If a buffer is still on, many drivers refuse this, and the stream throws `IIOError.busy`.
    package var turnLimit = Duration.seconds(10)

    /// Creates a source. The source reads nothing until `readings()` is called.
    ///
    /// - Parameters:
    ///   - rate: The number of motion samples a second, clamped to 1...200.
    ///   - usesBuffers: Whether the source uses the buffers of devices that have one.
    ///   - isAccelerationInverted: Whether the driver reports acceleration with the opposite sign.
    ///   - devices: The folder of all devices; another folder for tests.
    ///   - nodes: The folder of device nodes.
    public init(
        rate: Double = 50, usesBuffers: Bool = true, isAccelerationInverted: Bool = false,
        devices: String = "/sys/bus/iio/devices", nodes: String = "/dev"
    ) {
        self.rate = Self.inRange(rate)
        self.usesBuffers = usesBuffers
        self.isAccelerationInverted = isAccelerationInverted
        self.devices = devices
        self.nodes = nodes
    }

    private static func inRange(_ rate: Double) -> Double {
        rate.isFinite ? min(max(rate, rates.lowerBound), rates.upperBound) : 50
    }

    public var pace: ScanPace { .live }

    /// Reads until the stream is cancelled or a sensor fails. The stream buffers the newest 4096 readings.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(4096)) { continuation in
            let end = IIOReception.Switch()
            continuation.onTermination = { _ in end.turnOff() }
            IIOReception(self, end: end, continuation: continuation).begin()
        }
    }

    /// The receptions of this process.
    fileprivate static let running = RunningScans()

    /// Waits until no stream of this process uses a sensor.
    ///
    /// When a stream ends, its buffers are turned off, which takes a moment. Call this function before the program exits:
    /// a buffer that is left on keeps programs from the sensor until somebody turns it off.
    public static func released() async { await running.allEnded() }
}

/// An error of the reception of sensor data from Linux's Industrial I/O.
public enum IIOError: Error, Hashable, Sendable {
    /// The folder has no accelerometer, gyroscope, magnetometer or barometer, or does not exist.
    case noDevice(folder: String)
    /// This process has no permission to read a file.
    case permissionDenied(path: String)
    /// Another program reads the device's buffer, or has left it on, so single values aren't readable.
    case busy(path: String)
    /// A device disappeared.
    case vanished(path: String)
    /// The content of a file differs from the kernel's documentation.
    case malformed(path: String, text: String)
    /// A system call on a file failed with this error number.
    case system(call: String, path: String, number: Int32)
}

extension IIOError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch self {
        case .noDevice, .busy, .vanished, .system: .sensorFailed
        case .permissionDenied: .permissionDenied
        case .malformed: .badResponse
        }
    }

    public var status: LocalizationError.Status? {
        if case .system(_, _, let number) = self { .system(number) } else { nil }
    }
}

extension IIOError: CustomStringConvertible {
    /// A sentence that describes the error and a remedy.
    public var description: String {
        switch self {
        case .noDevice(let folder):
            "\(folder) has no accelerometer, gyroscope, magnetometer or barometer: load the sensor's driver, or remove "
                + "the inertial source."
        case .permissionDenied(let path):
            "\(path) is not readable: change its mode or group with a udev rule, or run as a user with read permission."
        case .busy(let path):
            "\(path) is busy: another program, such as iio-sensor-proxy, reads the device's buffer. Stop that program. If "
                + "there is none, a program that was killed has left the buffer on: write 0 to the device's buffer/enable."
        case .vanished(let path):
            "\(path) disappeared: the sensor was unplugged, or its driver unloaded."
        case .malformed(let path, let text):
            "\(path) contains \"\(text)\", which differs from the kernel's documentation: report it with the name of "
                + "the driver."
        case .system(let call, let path, let number):
            "\(call) of \(path) failed: \(Self.text(ofSystemError: number)) (error \(number))."
        }
    }

    private static func text(ofSystemError number: Int32) -> String {
        guard let text = strerror(number) else { return "unknown error" }
        return String(cString: text)
    }

    /// Creates the error for a failed system call on a file of a device.
    init(_ call: String, _ path: String, number: Int32) {
        self =
            switch number {
            case EACCES, EPERM: .permissionDenied(path: path)
            case EBUSY: .busy(path: path)
            case ENOENT, ENODEV, ENXIO: .vanished(path: path)
            default: .system(call: call, path: path, number: number)
            }
    }
}

/// The reception for one stream of sensor readings: a thread that reads devices until the stream ends.
struct IIOReception: Sendable {
    typealias Continuation = AsyncThrowingStream<SensorReading, any Error>.Continuation

    /// A switch with which any thread can end a reception.
    final class Switch: Sendable {
        private let isOff = Atomic<Bool>(false)
        var isTurnedOff: Bool { isOff.load(ordering: .relaxed) }
        func turnOff() { isOff.store(true, ordering: .relaxed) }
    }

    /// The polling period of a barometer, which needs milliseconds for each value and has no new values more often.
    private static let pressurePeriod = Duration.milliseconds(100)
    /// The longest wait before the thread checks the switch.
    fileprivate static let longestWait = Duration.milliseconds(100)

    private let source: IIOSource
    private let end: Switch
    private let continuation: Continuation

    init(_ source: IIOSource, end: Switch, continuation: Continuation) {
        self.source = source
        self.end = end
        self.continuation = continuation
    }

    /// Starts a thread, which ends when the switch is turned off.
    func begin() {
        IIOSource.running.began()
        DispatchQueue(label: "IndoorLocalization.IIOReception", qos: .userInitiated).async {
            let turn = BufferTurn(at: source.devices)
            do throws(IIOError) { try receive(turn) } catch { continuation.finish(throwing: error) }
            // The buffers are off again.
            turn.end()
            IIOSource.running.ended()
        }
    }

    private func receive(_ turn: BufferTurn) throws(IIOError) {
        let devices = SysfsFolder(path: source.devices)
        let sensors = try IIOSensor.all(in: devices)
        var assembler = MotionAssembler(Set(sensors.map(\.kind)))
        let hasTurn = source.usesBuffers && turn.begin(within: source.turnLimit, unlessEndedBy: end)
        guard !end.isTurnedOff else { return }
        let buffers = hasTurn ? buffers(of: sensors, among: devices) : []
        if buffers.isEmpty { turn.end() }
        let buffered = Set(buffers.flatMap(\.sensors))
        let polled = sensors.filter { !buffered.contains($0) }.sorted {
            assembler.order($0.kind) < assembler.order($1.kind)
        }
        let period = Duration.nanoseconds(Int64(1e9 / source.rate))
        var (due, pressureDue) = (BootTime.now, BootTime.now)
        while !end.isTurnedOff {
            let wait = polled.isEmpty ? Self.longestWait : min(Self.longestWait, BootTime.now.duration(to: due))
            try readBuffers(buffers, waiting: wait, into: &assembler)
            let start = BootTime.now
            guard !polled.isEmpty, start >= due else { continue }
            for sensor in polled {
                if sensor.kind == .pressure {
                    guard start >= pressureDue else { continue }
                    pressureDue = start.advanced(by: Self.pressurePeriod)
                }
                let value = try sensor.read()
                deliver(assembler.add(sensor.kind, value, at: sensor.kind == .pressure ? BootTime.now : start))
            }
            // Skip missed ticks, so that a slow bus isn't polled faster and faster.
            due = max(due.advanced(by: period), BootTime.now)
        }
    }

    /// Returns a buffer for each device that has one.
    private func buffers(of sensors: [IIOSensor], among devices: SysfsFolder) -> [IIOBuffer] {
        Dictionary(grouping: sensors, by: \.device).values.compactMap { group in
            IIOBuffer(group, among: devices, nodes: source.nodes, rate: source.rate)
        }
    }

    /// Waits until a buffer has data, and reads the buffers that have some.
    private func readBuffers(
        _ buffers: [IIOBuffer], waiting wait: Duration, into assembler: inout MotionAssembler
    ) throws(IIOError) {
        var watched = buffers.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        // Rounded up, so that the deadline has passed afterwards.
        let milliseconds = Int32(clamping: max(0, (wait.nanoseconds + 999_999) / 1_000_000))
        guard poll(&watched, nfds_t(watched.count), milliseconds) > 0 else { return }
        var values: [(kind: IIOSensor.Kind, value: Vector3, instant: Instant)] = []
        for (buffer, entry) in zip(buffers, watched) where entry.revents != 0 {
            values += try buffer.values(now: BootTime.now)
        }
        values.sort { ($0.instant, assembler.order($0.kind)) < ($1.instant, assembler.order($1.kind)) }
        for value in values { deliver(assembler.add(value.kind, value.value, at: value.instant)) }
    }

    private func deliver(_ reading: SensorReading?) {
        guard var reading else { return }
        if source.isAccelerationInverted, case .motion(var sample) = reading, let felt = sample.acceleration {
            sample.acceleration = Vector3(x: -felt.x, y: -felt.y, z: -felt.z)
            reading = .motion(sample)
        }
        continuation.yield(reading)
    }
}

/// The turn of a reception at the buffers of a folder of devices, for use by a single thread.
///
/// A reception needs a moment to end. One that begins meanwhile, such as that of the next session, would find the
/// sensors busy, and the end of the other one would restore attributes that it has just set. It therefore waits.
private final class BufferTurn {
    /// The receptions of this process at each folder, one at a time.
    private static let turns = Guarded<[String: DispatchSemaphore]>([:])

    private let semaphore: DispatchSemaphore
    private var isHeld = false

    init(at devices: String) {
        semaphore = Self.turns.withLock { turns in
            let semaphore = turns[devices] ?? DispatchSemaphore(value: 1)
            turns[devices] = semaphore
            return semaphore
        }
    }

    /// Waits for the end of an earlier reception with buffers.
    ///
    /// - Parameters:
    ///   - limit: the longest wait.
    ///   - end: the switch of this reception, which ends the wait.
    /// - Returns: whether the turn is this reception's.
    func begin(within limit: Duration, unlessEndedBy end: IIOReception.Switch) -> Bool {
        let deadline = BootTime.now.advanced(by: limit)
        let step = DispatchTimeInterval.nanoseconds(Int(IIOReception.longestWait.nanoseconds))
        repeat {
            isHeld = semaphore.wait(timeout: .now() + step) == .success
        } while !isHeld && !end.isTurnedOff && BootTime.now < deadline
        return isHeld
    }

    /// Lets the next reception begin. A second call has no effect.
    func end() {
        guard isHeld else { return }
        isHeld = false
        semaphore.signal()
    }
}

/// An assembler of readings from the values of several sensors with different rates.
///
/// Each value of the leading sensor, which is the accelerometer if there is one, gives a motion sample. The sample
/// contains the mean rotation rate since the last sample, so that no rotation is lost, and the magnetic field if it was
/// read since. A pressure value is a separate reading. Readings are in order: a reading older than the last has the
/// instant of the last.
struct MotionAssembler: Sendable {
    /// The largest age of a rotation rate for a sample without a newer one.
    private static let oldestRate = Duration.milliseconds(200)
    /// The maximum number of rates in a mean: those of a second or more. A leading sensor whose trigger no longer fires, such as
    /// after a suspension of the machine, must not let them grow.
    private static let mostRates = 1024

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
            if rates.count == Self.mostRates { rates.removeFirst(Self.mostRates / 2) }
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

/// The time since boot, including sleep, as in live scans.
enum BootTime {
    static var now: Instant { Instant(nanoseconds: nanoseconds(of: CLOCK_BOOTTIME)) }

    static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
