import CBlueZ
import IndoorVocabulary

/// An adapter as the kernel knows it.
package struct HCIDevice: Hashable, Sendable {
    /// The number in "hci0".
    package var id: UInt16
    /// Its address; nil as long as it has not told it, and of an adapter that has none of its own.
    package var address: DeviceAddress?
    /// Whether it has power.
    package var isPowered: Bool

    /// Creates a device from its parts.
    package init(id: UInt16, address: DeviceAddress?, isPowered: Bool) {
        self.id = id
        self.address = address
        self.isPowered = isPowered
    }

    /// The kernel's name of it.
    package var name: String { "hci\(id)" }

    /// The adapter that users see.
    package var adapter: BluetoothAdapter {
        BluetoothAdapter(name: name, address: address ?? DeviceAddress(rawValue: 0), isPowered: isPowered)
    }
}

extension HCIDevice {
    /// Takes over what the kernel says.
    init(_ device: cbluez_device) {
        let bytes = device.address
        let pairs = [bytes.5, bytes.4, bytes.3, bytes.2, bytes.1, bytes.0]
        let value = pairs.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        self.init(
            id: device.id, address: value == 0 ? nil : DeviceAddress(rawValue: value, kind: .public),
            isPowered: device.is_powered != 0)
    }
}
