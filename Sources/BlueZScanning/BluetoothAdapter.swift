import IndoorVocabulary

/// A Bluetooth controller of this machine.
public struct BluetoothAdapter: Hashable, Sendable, CustomStringConvertible {
    /// The kernel's name of it, as in "hci0". It may change when the adapter is plugged again; the address does not.
    public var name: String
    /// The adapter's own device address.
    public var address: DeviceAddress
    /// Whether it has power.
    public var isPowered: Bool

    /// Creates an adapter from its parts.
    public init(name: String, address: DeviceAddress, isPowered: Bool) {
        self.name = name
        self.address = address
        self.isPowered = isPowered
    }

    public var description: String { "\(name) \(address) \(isPowered ? "on" : "off")" }
}

/// Which adapter is to scan.
public enum AdapterChoice: Hashable, Sendable, CustomStringConvertible {
    /// The first one that is there.
    case first
    /// The one that the kernel calls so, as in "hci0".
    case named(String)
    /// The one with this address, whatever its name.
    case address(DeviceAddress)

    /// Whether an adapter is meant.
    public func includes(_ adapter: BluetoothAdapter) -> Bool {
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
