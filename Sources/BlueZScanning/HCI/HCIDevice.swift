import CBlueZ
import IndoorVocabulary

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
