import CBlueZ
import Glibc

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
