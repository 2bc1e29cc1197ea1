import Glibc
import IndoorVocabulary
import TextFormats

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

/// A route from the Bluetooth controller to this process.
public enum ScanRoute: String, Hashable, Sendable, CaseIterable {
    /// The kernel's raw HCI socket. It delivers every report unchanged, and needs the capabilities CAP_NET_RAW and
    /// CAP_NET_ADMIN.
    case hci
    /// The Bluetooth service's D-Bus API. It needs no capability, but the service merges reports.
    case dbus
}

/// The readings that a scan delivers.
public enum ScanContent: Hashable, Sendable, CaseIterable {
    /// The sightings of beacons, without the advertisements that contain them.
    case beacons
    /// Every advertisement. The sighting follows an advertisement that contains a beacon.
    case everything
}

/// A text that the first event of a stream adds to its own detail, such as the reason for the selected route.
struct InitialDetail: Hashable, Sendable {
    private var text: String?

    /// - Parameter text: One or two sentences; nil for none.
    init(_ text: String?) { self.text = text }

    /// Returns the detail of an event. The first call appends the text.
    mutating func added(to detail: String?) -> String? {
        guard let addition = text else { return detail }
        text = nil
        guard let detail else { return addition }
        return "\(detail.last == "." ? detail : detail + ".") \(addition)"
    }
}

/// An error that prevents or ends a scan.
///
/// Temporary conditions, such as an adapter that is off or unplugged or a service that restarts, don't end the stream:
/// the stream delivers them as `RadioEvent`s.
public indirect enum BluetoothError: Error, Hashable, Sendable {
    /// This process lacks capabilities that the raw route needs, such as "CAP_NET_RAW". `program` is the path of its
    /// executable.
    case notPermitted(capabilities: [String], program: String)
    /// The kernel has no Bluetooth support.
    case noBluetooth
    /// The system message bus is not reachable. The bus library reports the reason.
    case busUnavailable(reason: String)
    /// The message bus denies this process access to the Bluetooth service. The bus reports the reason.
    case busForbidden(reason: String)
    /// Neither the raw route nor the Bluetooth service is usable; each has an error of its own.
    case noRoute(hci: BluetoothError, dbus: BluetoothError)
    /// A system call failed with this error number.
    case system(call: String, number: Int32)
}

extension BluetoothError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch self {
        case .notPermitted, .busForbidden: .permissionDenied
        case .noBluetooth: .notSupported
        case .busUnavailable: .sensorFailed
        case .noRoute(let hci, let dbus):
            hci.kind == .permissionDenied || dbus.kind == .permissionDenied ? .permissionDenied : hci.kind
        case .system(_, let number): [EPERM, EACCES].contains(number) ? .permissionDenied : .sensorFailed
        }
    }

    public var status: LocalizationError.Status? {
        switch self {
        case .system(_, let number): .system(number)
        case .noRoute(let hci, let dbus): hci.status ?? dbus.status
        case .notPermitted, .noBluetooth, .busUnavailable, .busForbidden: nil
        }
    }
}

extension BluetoothError: CustomStringConvertible {
    /// A sentence that describes the error and a remedy.
    public var description: String {
        switch self {
        case .notPermitted(let capabilities, let program):
            "Raw access to the Bluetooth adapter is not permitted: this process lacks "
                + "\(capabilities.joined(separator: ", ")). Grant it with: \(Self.grant(to: program))"
        case .noBluetooth:
            "The kernel has no Bluetooth support: load the module with \"sudo modprobe bluetooth\". In a container, "
                + "use the host's network: Bluetooth sockets exist only there."
        case .busUnavailable(let reason):
            "The system message bus is not reachable (\(reason)): start it with \"sudo systemctl start dbus\". In a "
                + "container, mount its socket, /run/dbus/system_bus_socket."
        case .busForbidden(let reason):
            "The message bus denies this process access to the Bluetooth service (\(reason)): add the user to the "
                + "group \"bluetooth\" with \"sudo usermod -aG bluetooth USER\", and log in again."
        case .noRoute(let hci, let dbus):
            "The Bluetooth adapter is not accessible. Raw HCI: \(hci.description) Bluetooth service: "
                + dbus.description
        case .system(let call, let number):
            "\(call) failed: \(Self.text(ofSystemError: number)) (error \(number))."
        }
    }

    /// Returns the command that grants a program the capabilities of the raw route.
    ///
    /// The command names all of them, because setcap removes capabilities that it doesn't name.
    static func grant(to program: String) -> String {
        "sudo setcap cap_net_raw,cap_net_admin+ep \(ShellWord.quoted(program))"
    }

    /// Returns the system's description of an error number.
    static func text(ofSystemError number: Int32) -> String {
        guard let text = strerror(number) else { return "unknown error" }
        return String(cString: text)
    }
}
