import CBlueZ
import Glibc

/// A raw HCI socket, closed when it is no longer used.
struct HCISocket: ~Copyable {
    let descriptor: Int32

    /// Opens a socket that is bound to no adapter.
    ///
    /// - Throws: `.noBluetooth`, `.notPermitted`, or what the system says.
    init() throws(BluetoothError) {
        descriptor = try Self.check("socket", cbluez_open())
    }

    deinit { close(descriptor) }

    // MARK: - Adapters

    /// The adapters that can scan, by number. One that is unplugged meanwhile is left out.
    borrowing func devices() throws(BluetoothError) -> [HCIDevice] {
        var ids = [UInt16](repeating: 0, count: Int(CBLUEZ_MAXIMUM_DEVICES))
        let count = try Self.check("HCIGETDEVLIST", cbluez_list_devices(descriptor, &ids))
        return ids.prefix(Int(count)).sorted().compactMap { id in
            var device = cbluez_device()
            guard cbluez_describe_device(descriptor, id, &device) == 0, device.is_primary != 0 else { return nil }
            return HCIDevice(device)
        }
    }

    /// Whether this process may power adapters up and down.
    ///
    /// Asked with a number that no adapter has: the kernel looks at the capability first.
    borrowing func mayPower() -> Bool {
        cbluez_power_up(descriptor, UInt16(CBLUEZ_NO_DEVICE)) != -EPERM
    }

    /// Powers an adapter up, and waits until it is; the error number if that fails.
    borrowing func powerUp(_ id: UInt16) -> Int32? {
        let result = cbluez_power_up(descriptor, id)
        return result < 0 ? -result : nil
    }

    /// Powers an adapter down; the error number if that fails.
    borrowing func powerDown(_ id: UInt16) -> Int32? {
        let result = cbluez_power_down(descriptor, id)
        return result < 0 ? -result : nil
    }

    // MARK: - Setting up

    /// Hears what becomes of the adapters: plugged and unplugged, powered on and off.
    borrowing func listenToAdapters() throws(BluetoothError) {
        try filter(types: 1 << HCIPacket.Kind.event, events: 1 << UInt64(HCIPacket.Code.stackInternal & 63))
        _ = try Self.check("bind", cbluez_bind(descriptor, UInt16(CBLUEZ_NO_DEVICE)))
    }

    /// Hears an adapter's reports, the commands of others, and the answers to commands.
    ///
    /// - Parameter room: bytes for packets that wait to be received.
    borrowing func listen(to device: UInt16, room: Int32) throws(BluetoothError) {
        let codes = [HCIPacket.Code.commandComplete, HCIPacket.Code.commandStatus, HCIPacket.Code.metaEvent]
        try filter(
            types: 1 << HCIPacket.Kind.event | 1 << HCIPacket.Kind.command,
            events: codes.reduce(0) { $0 | 1 << UInt64($1 & 63) })
        _ = try Self.check("HCI_TIME_STAMP", cbluez_enable_timestamps(descriptor))
        // A smaller buffer is no reason not to scan.
        _ = cbluez_set_receive_buffer(descriptor, room)
        _ = try Self.check("bind", cbluez_bind(descriptor, device))
    }

    /// Sets the filter, and sees whether the kernel has taken it over: it leaves out what is not permitted.
    private borrowing func filter(types: UInt32, events: UInt64) throws(BluetoothError) {
        _ = try Self.check("HCI_FILTER", cbluez_set_filter(descriptor, types, events))
        var takenTypes: UInt32 = 0
        var takenEvents: UInt64 = 0
        _ = try Self.check("HCI_FILTER", cbluez_get_filter(descriptor, &takenTypes, &takenEvents))
        guard takenTypes == types, takenEvents == events else {
            let capabilities = mayPower() ? ["CAP_NET_RAW"] : ["CAP_NET_RAW", "CAP_NET_ADMIN"]
            throw .notPermitted(capabilities: capabilities, program: RunningProgram.path)
        }
    }

    // MARK: - Packets

    /// Sends a packet; the error number if the kernel does not take it.
    borrowing func send(_ packet: [UInt8]) -> Int32? {
        let result = cbluez_send(descriptor, packet, packet.count)
        return result < 0 ? -result : nil
    }

    /// How many packets the kernel threw away because they were not received in time.
    borrowing func dropped() -> UInt32 {
        var count: UInt32 = 0
        return cbluez_get_dropped(descriptor, &count) == 0 ? count : 0
    }

    /// Turns a negative result into an error.
    private static func check(_ call: String, _ result: Int32) throws(BluetoothError) -> Int32 {
        guard result < 0 else { return result }
        throw BluetoothError(call: call, number: -result)
    }
}

extension BluetoothError {
    /// What a failed call of the raw route means.
    init(call: String, number: Int32) {
        switch number {
        case EAFNOSUPPORT, EPROTONOSUPPORT: self = .noBluetooth
        case EPERM, EACCES:
            self = .notPermitted(capabilities: ["CAP_NET_RAW", "CAP_NET_ADMIN"], program: RunningProgram.path)
        default: self = .system(call: call, number: number)
        }
    }
}
