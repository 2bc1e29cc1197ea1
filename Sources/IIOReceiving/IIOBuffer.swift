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

/// One element of a scan: the format of a channel's raw value in a buffer.
///
/// The format of the type is `[be|le]:[s|u]BITS/STORAGEBITS[XREPEAT]>>SHIFT`. Source: the Linux kernel,
/// Documentation/ABI/testing/sysfs-bus-iio, *scan_elements/…_type*.
struct IIOScanElement: Hashable, Sendable {
    let channel: String
    let index: Int
    private let isBigEndian: Bool
    private let isSigned: Bool
    private let bits: Int
    private let shift: Int
    /// The size of the element in bytes.
    let size: Int

    /// Parses a type; returns nil if it isn't a valid type of a number of up to 64 bits.
    init?(channel: String, index: Int, type: String) {
        guard let match = type.wholeMatch(of: #/(be|le):(s|u)(\d+)\/(\d+)(?:X(\d+))?>>(\d+)/#),
            let bits = Int(match.output.3), let storage = Int(match.output.4), let shift = Int(match.output.6),
            [8, 16, 32, 64].contains(storage), bits >= 1, bits + shift <= storage,
            match.output.5.map({ $0 == "1" }) ?? true
        else { return nil }
        self.channel = channel
        self.index = index
        isBigEndian = match.output.1 == "be"
        isSigned = match.output.2 == "s"
        self.bits = bits
        self.shift = shift
        size = storage / 8
    }

    /// Returns the raw value in the element's bytes.
    func value(of bytes: ArraySlice<UInt8>) -> Int64 {
        var stored: UInt64 = 0
        if isBigEndian {
            for byte in bytes { stored = stored << 8 | UInt64(byte) }
        } else {
            for byte in bytes.reversed() { stored = stored << 8 | UInt64(byte) }
        }
        let unused = UInt64(64 - bits)
        let left = (stored >> UInt64(shift)) << unused
        return isSigned ? Int64(bitPattern: left) >> Int64(unused) : Int64(bitPattern: left >> unused)
    }
}

/// The layout of a scan: its elements in order of their indexes, each aligned to its own size.
struct IIOScanLayout: Sendable {
    private let places: [(element: IIOScanElement, offset: Int)]
    /// The size of a scan in bytes.
    let size: Int

    init(_ elements: [IIOScanElement]) {
        var offset = 0
        var places: [(element: IIOScanElement, offset: Int)] = []
        for element in elements.sorted(by: { $0.index < $1.index }) {
            offset = Self.aligned(offset, to: element.size)
            places.append((element, offset))
            offset += element.size
        }
        self.places = places
        size = Self.aligned(offset, to: elements.map(\.size).max() ?? 1)
    }

    private static func aligned(_ offset: Int, to size: Int) -> Int { (offset + size - 1) / size * size }

    /// Returns the raw values of one scan by channel.
    func values(of scan: ArraySlice<UInt8>) -> [String: Int64] {
        var values: [String: Int64] = [:]
        for (element, offset) in places {
            let start = scan.startIndex + offset
            values[element.channel] = element.value(of: scan[start..<start + element.size])
        }
        return values
    }
}

/// The changes to a device's attributes for its buffer, with the former values.
struct BufferSetup {
    static let timestamp = "in_timestamp"

    private let device: SysfsFolder
    private(set) var changes: [(name: String, before: String)] = []

    init(_ device: SysfsFolder) { self.device = device }

    /// Sets an attribute, unless it already has the value.
    mutating func change(_ name: String, to text: String) throws(IIOError) {
        let before = try device.text(name)
        guard before != text else { return }
        try device.write(text, to: name)
        changes.append((name, before))
    }

    func undo() { Self.undo(changes, of: device) }

    /// Restores the changed attributes in reverse order. Ignores errors, because the device may be gone.
    static func undo(_ changes: [(name: String, before: String)], of device: SysfsFolder) {
        for change in changes.reversed() { try? device.write(change.before, to: change.name) }
    }

    /// Selects the device's own trigger for the buffer, if no trigger is selected.
    ///
    /// - Returns: True if a trigger fills the buffer. A device without selectable triggers fills its buffer itself.
    mutating func chooseTrigger(of name: String, among devices: SysfsFolder) throws(IIOError) -> Bool {
        guard device.has("trigger/current_trigger") else { return true }
        guard try device.text("trigger/current_trigger").isEmpty else { return true }
        let number = name.dropFirst("iio:device".count)
        let own = try device.optionalText("name").map { "\($0)-dev\(number)" }
        for folder in devices.names where folder.hasPrefix("trigger") {
            guard let trigger = try devices.folder(folder).optionalText("name"), trigger == own else { continue }
            // An empty line restores an empty attribute.
            try device.write(trigger, to: "trigger/current_trigger")
            changes.append(("trigger/current_trigger", "\n"))
            return true
        }
        return false
    }

    /// Enables these channels and the timestamp in the buffer, and disables all others.
    mutating func enable(_ channels: [String]) throws(IIOError) -> [IIOScanElement] {
        let scan = device.folder("scan_elements")
        var elements: [IIOScanElement] = []
        for name in scan.names where name.hasSuffix("_en") {
            let channel = String(name.dropLast("_en".count))
            let isWanted = channels.contains(channel) || channel == Self.timestamp
            try change("scan_elements/" + name, to: isWanted ? "1" : "0")
            guard isWanted else { continue }
            let type = try scan.text(channel + "_type")
            let index = try scan.number(channel + "_index")
            guard let index = Int(exactly: index),
                let element = IIOScanElement(channel: channel, index: index, type: type)
            else { throw .malformed(path: "\(scan.path)/\(channel)_type", text: type) }
            elements.append(element)
        }
        guard channels.allSatisfy({ channel in elements.contains { $0.channel == channel } }) else {
            throw .noDevice(folder: scan.path)
        }
        return elements
    }

    /// Sets the sampling frequency, if the device supports it. A device that refuses keeps its own.
    mutating func set(rate: Double) {
        let names = device.names.filter { $0.hasSuffix("sampling_frequency") }
        for name in names {
            let offered = (try? device.text(name + "_available"))?.split(separator: " ").compactMap { Double($0) } ?? []
            let chosen = offered.filter { $0 >= rate }.min() ?? offered.max() ?? rate
            // Compare as numbers, because the kernel writes 50 as 50.000000.
            guard let now = try? device.number(name), now != chosen else { continue }
            try? change(name, to: Self.text(chosen))
        }
    }

    private static func text(_ number: Double) -> String { Int(exactly: number).map(String.init) ?? "\(number)" }

    /// Selects the clock since boot for timestamps, if the device supports it.
    ///
    /// - Returns: The clock of the timestamps; nil if it is unknown.
    mutating func chooseClock() throws(IIOError) -> clockid_t? {
        guard device.has("current_timestamp_clock") else { return CLOCK_REALTIME }
        try? change("current_timestamp_clock", to: "boottime")
        switch try device.text("current_timestamp_clock") {
        case "boottime": return CLOCK_BOOTTIME
        case "monotonic": return CLOCK_MONOTONIC
        case "realtime": return CLOCK_REALTIME
        default: return nil
        }
    }
}
