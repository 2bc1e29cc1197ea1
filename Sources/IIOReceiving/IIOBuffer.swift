import Glibc
import IndoorVocabulary

/// The buffer of a device, which the kernel fills with a scan whenever the trigger fires. For use by a single thread.
///
/// `deinit` restores the attributes in sysfs that the buffer changed.
final class IIOBuffer {
    /// The capacity of the kernel's buffer in scans: a second at a high rate.
    private static let length = 256
    /// The largest plausible difference between a timestamp and now. A larger one means that the timestamp has another
    /// clock.
    private static let longestDelay = Duration.seconds(10)

    /// The sensors in the buffer.
    let sensors: [IIOSensor]
    let descriptor: Int32
    private let device: SysfsFolder
    private let node: String
    private let layout: IIOScanLayout
    private let clock: clockid_t?
    private var changes: [(name: String, before: String)]
    private var rest: [UInt8] = []

    /// Starts the buffer of a device. Returns nil if the device has no buffer, if no trigger fills it, or if access is
    /// denied.
    ///
    /// - Parameters:
    ///   - sensors: The sensors of one device.
    ///   - devices: The folder of all devices and triggers.
    ///   - nodes: The folder of device nodes.
    ///   - rate: The number of scans a second. The buffer uses the lowest rate of the device that isn't below it.
    init?(_ sensors: [IIOSensor], among devices: SysfsFolder, nodes: String, rate: Double) {
        guard let device = sensors.first?.device, let name = device.path.split(separator: "/").last.map(String.init),
            device.has("scan_elements"), device.has("buffer/enable"), sensors.allSatisfy({ !$0.isProcessed })
        else { return nil }
        var setup = BufferSetup(device)
        do throws(IIOError) {
            guard try device.text("buffer/enable") == "0",
                try setup.chooseTrigger(of: name, among: devices)
            else { return nil }
            let elements = try setup.enable(sensors.flatMap(\.channels))
            setup.set(rate: rate)
            clock = try setup.chooseClock()
            try setup.change("buffer/length", to: String(Self.length))
            let node = nodes + "/" + name
            let descriptor = open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { throw IIOError("open", node, number: errno) }
            do throws(IIOError) { try setup.change("buffer/enable", to: "1") } catch {
                close(descriptor)
                throw error
            }
            self.sensors = sensors
            self.device = device
            self.node = node
            self.descriptor = descriptor
            layout = IIOScanLayout(elements)
            changes = setup.changes
        } catch {
            // The source polls if it has no permission to set up the buffer.
            setup.undo()
            return nil
        }
    }

    deinit {
        BufferSetup.undo(changes, of: device)
        close(descriptor)
    }

    /// Returns the values since the last call with their sensors and instants, in order.
    ///
    /// - Parameter now: The present, for scans without a valid timestamp.
    func values(now: Instant) throws(IIOError) -> [(kind: IIOSensor.Kind, value: Vector3, instant: Instant)] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &bytes, bytes.count)
            if count > 0 {
                rest += bytes.prefix(count)
                continue
            }
            if count < 0, errno == EAGAIN || errno == EINTR { break }
            guard count < 0 else { throw .vanished(path: node) }
            throw IIOError("read", node, number: errno)
        }
        let count = rest.count / layout.size
        defer { rest.removeFirst(count * layout.size) }
        return (0..<count).flatMap { index in
            values(of: rest[index * layout.size..<(index + 1) * layout.size], now: now)
        }
    }

    private func values(of scan: ArraySlice<UInt8>, now: Instant)
        -> [(kind: IIOSensor.Kind, value: Vector3, instant: Instant)]
    {
        let raw = layout.values(of: scan)
        let instant = raw[BufferSetup.timestamp].flatMap { self.instant(of: $0, now: now) } ?? now
        return sensors.map { sensor in
            (sensor.kind, sensor.value(of: sensor.channels.map { Double(raw[$0] ?? 0) }), instant)
        }
    }

    /// Returns the instant of a scan from the kernel's timestamp; nil if the timestamp is implausible.
    private func instant(of timestamp: Int64, now: Instant) -> Instant? {
        guard let clock else { return nil }
        // The same clock needs no conversion, and two readings of it would differ.
        let ahead =
            clock == CLOCK_BOOTTIME ? 0 : BootTime.nanoseconds(of: clock) - BootTime.nanoseconds(of: CLOCK_BOOTTIME)
        let instant = Instant(nanoseconds: timestamp &- ahead)
        let delay = instant.duration(to: now)
        return delay < Self.longestDelay && delay > .zero - Self.longestDelay ? min(instant, now) : nil
    }
}
