import Dispatch
import Glibc
import IndoorVocabulary
import Synchronization

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
    private static let longestWait = Duration.milliseconds(100)

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
        DispatchQueue(label: "IndoorLocalization.IIOReception", qos: .userInitiated).async {
            do throws(IIOError) { try receive() } catch { continuation.finish(throwing: error) }
        }
    }

    private func receive() throws(IIOError) {
        let devices = SysfsFolder(path: source.devices)
        let sensors = try IIOSensor.all(in: devices)
        var assembler = MotionAssembler(Set(sensors.map(\.kind)))
        let buffers = buffers(of: sensors, among: devices)
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
        guard source.usesBuffers else { return [] }
        return Dictionary(grouping: sensors, by: \.device).values.compactMap { group in
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
