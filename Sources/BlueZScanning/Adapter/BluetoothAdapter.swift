import IndoorVocabulary

/// A Bluetooth controller on this computer.
public struct BluetoothAdapter: Hashable, Sendable, CustomStringConvertible {
    /// The kernel's name of the adapter, such as "hci0".
    ///
    /// The name may change when the adapter is plugged in again; the address doesn't.
    public var name: String
    /// The adapter's own device address.
    public var address: DeviceAddress
    /// Whether the adapter is powered on.
    public var isPowered: Bool

    /// Creates an adapter from its parts.
    package init(name: String, address: DeviceAddress, isPowered: Bool) {
        self.name = name
        self.address = address
        self.isPowered = isPowered
    }

    public var description: String { "\(name) \(address) \(isPowered ? "on" : "off")" }
}

/// The choice of the adapter that scans.
public enum AdapterChoice: Hashable, Sendable, CustomStringConvertible {
    /// The first adapter that is present.
    case first
    /// The adapter with this kernel name, such as "hci0".
    case named(String)
    /// The adapter with this address, under any name.
    case address(DeviceAddress)

    /// Returns whether the choice includes an adapter.
    package func includes(_ adapter: BluetoothAdapter) -> Bool {
        switch self {
        case .first: true
        case .named(let name): adapter.name == name
        case .address(let address): adapter.address.rawValue == address.rawValue
        }
    }

    public var description: String {
        switch self {
        case .first: "any adapter"
        case .named(let name): name
        case .address(let address): "\(address)"
        }
    }
}
