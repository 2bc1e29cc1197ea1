import Glibc
import IndoorVocabulary

/// The buffer of a device, into which the kernel puts a scan whenever the trigger fires; used by one thread.
///
/// What it changes in sysfs it sets back when it goes away.
final class IIOBuffer {
    /// Scans that may wait in the kernel: a second at a high rate.
    private static let length = 256
    /// A time stamp further from now than this is of another clock than the kernel says.
    private static let longestDelay = Duration.seconds(10)

    /// The sensors that it delivers.
    let sensors: [IIOSensor]
    let descriptor: Int32
    private let device: SysfsFolder
    private let node: String
    private let layout: IIOScanLayout
    private let clock: clockid_t?
    private var changes: [(name: String, before: String)]
    private var rest: [UInt8] = []

    /// Starts the buffer of a device; nil if it has none, if no trigger fills it, or if it may not be used.
    ///
    /// - Parameters:
    ///   - sensors: of one device.
    ///   - devices: the folder of all devices, and of triggers.
    ///   - nodes: the folder of device nodes.
    ///   - rate: scans a second; of those that the device offers, the lowest that is not below is set.
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
            // Polling is the way for whoever may not set up a buffer.
            setup.undo()
            return nil
        }
    }

    deinit {
        BufferSetup.undo(changes, of: device)
        close(descriptor)
    }

    /// What has come since the last call: each sensor's value with its instant, in order.
    ///
    /// - Parameter now: the present, for scans without a time of their own.
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

    /// When a scan was taken, by the kernel's time stamp; nil if that is not to be believed.
    private func instant(of timestamp: Int64, now: Instant) -> Instant? {
        guard let clock else { return nil }
        // Two looks at one clock would differ.
        let ahead =
            clock == CLOCK_BOOTTIME ? 0 : BootTime.nanoseconds(of: clock) - BootTime.nanoseconds(of: CLOCK_BOOTTIME)
        let instant = Instant(nanoseconds: timestamp &- ahead)
        let delay = instant.duration(to: now)
        return delay < Self.longestDelay && delay > .zero - Self.longestDelay ? min(instant, now) : nil
    }
}
