import CBlueZ
import Dispatch
import Glibc
import IndoorVocabulary

/// A raw HCI socket, which closes at the end of its lifetime.
struct HCISocket: ~Copyable {
    let descriptor: Int32

    /// Opens a socket that isn't bound to an adapter.
    ///
    /// - Throws: `.noBluetooth`, `.notPermitted`, or `.system` if the system call fails.
    init() throws(BluetoothError) {
        descriptor = try Self.check("socket", cbluez_open())
    }

    deinit { close(descriptor) }

    // MARK: - Adapters

    /// Returns the adapters that can scan, in order of their numbers. It omits an adapter that is unplugged during the
    /// call.
    borrowing func devices() throws(BluetoothError) -> [HCIDevice] {
        var ids = [UInt16](repeating: 0, count: Int(CBLUEZ_MAXIMUM_DEVICES))
        let count = try Self.check("HCIGETDEVLIST", cbluez_list_devices(descriptor, &ids))
        return ids.prefix(Int(count)).sorted().compactMap { id in
            var device = cbluez_device()
            guard cbluez_describe_device(descriptor, id, &device) == 0, device.is_primary != 0 else { return nil }
            return HCIDevice(device)
        }
    }

    /// Returns whether this process may power adapters on and off.
    ///
    /// The call uses a number that no adapter has: the kernel checks the capability before the number.
    borrowing func mayPower() -> Bool {
        cbluez_power_up(descriptor, UInt16(CBLUEZ_NO_DEVICE)) != -EPERM
    }

    /// Powers an adapter on and waits for the result. Returns the error number if that fails.
    borrowing func powerUp(_ id: UInt16) -> Int32? {
        let result = cbluez_power_up(descriptor, id)
        return result < 0 ? -result : nil
    }

    /// Powers an adapter off. Returns the error number if that fails.
    borrowing func powerDown(_ id: UInt16) -> Int32? {
        let result = cbluez_power_down(descriptor, id)
        return result < 0 ? -result : nil
    }

    // MARK: - Setup

    /// Subscribes to changes of the adapters: plugged in and unplugged, powered on and off.
    borrowing func listenToAdapters() throws(BluetoothError) {
        try filter(types: 1 << HCIPacket.Kind.event, events: 1 << UInt64(HCIPacket.Code.stackInternal & 63))
        _ = try Self.check("bind", cbluez_bind(descriptor, UInt16(CBLUEZ_NO_DEVICE)))
    }

    /// Subscribes to an adapter's reports, the commands of other programs, and the answers to commands.
    ///
    /// - Parameter room: The size of the receive buffer in bytes.
    borrowing func listen(to device: UInt16, room: Int32) throws(BluetoothError) {
        let codes = [HCIPacket.Code.commandComplete, HCIPacket.Code.commandStatus, HCIPacket.Code.metaEvent]
        try filter(
            types: 1 << HCIPacket.Kind.event | 1 << HCIPacket.Kind.command,
            events: codes.reduce(0) { $0 | 1 << UInt64($1 & 63) })
        _ = try Self.check("HCI_TIME_STAMP", cbluez_enable_timestamps(descriptor))
        // A scan also works with a smaller buffer.
        _ = cbluez_set_receive_buffer(descriptor, room)
        _ = try Self.check("bind", cbluez_bind(descriptor, device))
    }

    /// Sets the filter and verifies it, because the kernel silently removes packet types that aren't permitted.
    private borrowing func filter(types: UInt32, events: UInt64) throws(BluetoothError) {
        _ = try Self.check("HCI_FILTER", cbluez_set_filter(descriptor, types, events))
        var acceptedTypes: UInt32 = 0
        var acceptedEvents: UInt64 = 0
        _ = try Self.check("HCI_FILTER", cbluez_get_filter(descriptor, &acceptedTypes, &acceptedEvents))
        guard acceptedTypes == types, acceptedEvents == events else {
            let capabilities = mayPower() ? ["CAP_NET_RAW"] : ["CAP_NET_RAW", "CAP_NET_ADMIN"]
            throw .notPermitted(capabilities: capabilities, program: RunningProgram.path)
        }
    }

    // MARK: - Packets

    /// Sends a packet. Returns the error number if the kernel rejects it.
    borrowing func send(_ packet: [UInt8]) -> Int32? {
        let result = cbluez_send(descriptor, packet, packet.count)
        return result < 0 ? -result : nil
    }

    /// Returns the number of packets that the kernel discarded because the receive buffer was full.
    borrowing func dropped() -> UInt32 {
        var count: UInt32 = 0
        return cbluez_get_dropped(descriptor, &count) == 0 ? count : 0
    }

    /// Returns a result, or throws an error if it is negative.
    private static func check(_ call: String, _ result: Int32) throws(BluetoothError) -> Int32 {
        guard result < 0 else { return result }
        throw BluetoothError(call: call, number: -result)
    }
}

extension BluetoothError {
    /// Creates the error for a failed call of the raw route.
    init(call: String, number: Int32) {
        switch number {
        case EAFNOSUPPORT, EPROTONOSUPPORT: self = .noBluetooth
        case EPERM, EACCES:
            self = .notPermitted(capabilities: ["CAP_NET_RAW", "CAP_NET_ADMIN"], program: RunningProgram.path)
        default: self = .system(call: call, number: number)
        }
    }
}

/// An open HCI socket that is read whenever packets arrive.
///
/// A class because the socket must stay open until its watch has ended, and the watch calls back into it. `@unchecked
/// Sendable` because its mutable state is used only on the queue of its scan, and so needs no lock.
final class HCIChannel: @unchecked Sendable {
    let socket: HCISocket
    private var watch: ReadinessWatch?
    private var buffer = [UInt8](repeating: 0, count: HCIChannel.longestPacket)

    /// The size of the receive buffer in bytes. The longest packet that passes the filters is an event or a command
    /// with 255 bytes of parameters; the rest is a margin.
    private static let longestPacket = 1024
    /// The largest number of packets read at a wake-up, so that other work on the queue isn't delayed.
    private static let batch = 256

    init(_ socket: consuming HCISocket) { self.socket = socket }

    /// Starts to call `whenReady` on the queue whenever packets wait.
    func watch(on queue: DispatchQueue, whenReady: @escaping @Sendable () -> Void) {
        // The handler retains the channel, and is released after its call.
        watch = ReadinessWatch(
            socket.descriptor, on: queue, whenReady: whenReady, whenDone: { [self] in watch = nil })
    }

    /// Ends the watch. The socket closes when the watch has ended.
    func cancel() { watch?.cancel() }

    /// Passes the waiting packets to `body`, each with its time of reception on the wall clock in nanoseconds.
    ///
    /// - Returns: The error number if the socket has failed; otherwise nil.
    func drain(_ body: (Span<UInt8>, Int64) -> Void) -> Int32? {
        for _ in 0..<Self.batch {
            var wall: Int64 = -1
            let count = buffer.withUnsafeMutableBufferPointer { bytes in
                cbluez_receive(socket.descriptor, bytes.baseAddress, bytes.count, &wall)
            }
            guard count >= 0 else { return count == Int(-HCIErrorNumber.nothingWaits) ? nil : Int32(-count) }
            body(buffer.span.extracting(0..<count), wall)
        }
        return nil
    }
}

/// An adapter as the kernel describes it.
package struct HCIDevice: Hashable, Sendable {
    /// The number in "hci0".
    package var id: UInt16
    /// The adapter's address; nil until the adapter reports it, and for an adapter without an address of its own.
    package var address: DeviceAddress?
    /// Whether the adapter is powered on.
    package var isPowered: Bool

    /// Creates a device from its parts.
    package init(id: UInt16, address: DeviceAddress?, isPowered: Bool) {
        self.id = id
        self.address = address
        self.isPowered = isPowered
    }

    /// The kernel's name of the adapter.
    package var name: String { "hci\(id)" }

    /// The adapter in the form of the public API.
    package var adapter: BluetoothAdapter {
        BluetoothAdapter(name: name, address: address ?? DeviceAddress(rawValue: 0), isPowered: isPowered)
    }
}

extension HCIDevice {
    /// Creates a device from the kernel's description.
    init(_ device: cbluez_device) {
        let bytes = device.address
        let pairs = [bytes.5, bytes.4, bytes.3, bytes.2, bytes.1, bytes.0]
        let value = pairs.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        self.init(
            id: device.id, address: value == 0 ? nil : DeviceAddress(rawValue: value, kind: .public),
            isPowered: device.is_powered != 0)
    }
}

/// A change of an adapter. The raw values are the kernel's.
package enum HCIDeviceChange: UInt16, Hashable, Sendable, CaseIterable {
    case registered = 1
    case unregistered = 2
    case up = 3
    case down = 4
}

extension BluetoothAdapter {
    /// Returns the adapters of this computer that can scan, in order of their numbers. Needs no capability.
    ///
    /// An adapter that was plugged in a moment ago may have the address 00:00:00:00:00:00 until it reports its own.
    /// - Throws: `.noBluetooth`, or `.system` if a system call fails.
    public static func all() throws(BluetoothError) -> [BluetoothAdapter] {
        try HCISocket().devices().map(\.adapter)
    }
}

/// The kernel's radio switches, read when they change.
struct RadioSwitches: ~Copyable {
    let descriptor: Int32
    private(set) var table = RadioSwitchTable()

    /// Opens the switches; returns nil if they aren't readable. The scan then retries blocked adapters periodically.
    init?() {
        descriptor = cbluez_open_rfkill()
        guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Applies the changes since the last call.
    mutating func update() {
        var event = [UInt8](repeating: 0, count: RadioSwitchTable.eventLength)
        while read(descriptor, &event, event.count) == event.count {
            table.apply(event.span, adapterOf: Self.adapter(ofSwitch:))
        }
    }

    /// Returns the adapter number in a switch's name, such as "hci0".
    private static func adapter(ofSwitch index: UInt32) -> UInt16? {
        guard let file = fopen("/sys/class/rfkill/rfkill\(index)/name", "re") else { return nil }
        defer { fclose(file) }
        var id: UInt16?
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { line in
            guard let start = line.baseAddress, fgets(start, Int32(line.count), file) != nil else { return }
            id = number(inName: String(cString: start))
        }
        return id
    }

    private static func number(inName line: String) -> UInt16? {
        guard line.hasPrefix("hci") else { return nil }
        return UInt16(line.dropFirst(3).prefix { $0.isNumber })
    }
}

/// System error numbers that the scan must distinguish.
package enum HCIErrorNumber {
    /// The adapter is already powered on.
    package static let already = EALREADY
    /// A radio switch (rfkill) blocks the adapter.
    package static let blockedBySwitch = ERFKILL
    /// No packet is waiting.
    package static let nothingWaits = EAGAIN
    /// A capability is missing.
    package static let notPermitted = EPERM
}

/// The executable that this process runs.
enum RunningProgram {
    /// The path of the executable, for error messages; "PROGRAM" if the system doesn't report it.
    static var path: String {
        guard let path = realpath("/proc/self/exe", nil) else { return "PROGRAM" }
        defer { free(path) }
        return String(cString: path)
    }
}
