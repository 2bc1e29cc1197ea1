import Glibc
import IndoorVocabulary

/// Why a scan cannot begin or go on.
///
/// What passes by itself (an adapter that is off or unplugged, a service that starts again) is no error of the stream
/// but a `RadioEvent` on it.
public indirect enum BluetoothError: Error, Hashable, Sendable {
    /// This process lacks capabilities that the raw route needs, such as "CAP_NET_RAW"; the program is its own path.
    case notPermitted(capabilities: [String], program: String)
    /// The kernel knows no Bluetooth.
    case noBluetooth
    /// The system's message bus cannot be reached; the reason is the bus library's.
    case busUnavailable(reason: String)
    /// The message bus does not let this process talk to the Bluetooth service; the reason is the bus's.
    case busForbidden(reason: String)
    /// Neither the raw route nor the Bluetooth service can be used, and why not.
    case noRoute(hci: BluetoothError, dbus: BluetoothError)
    /// A call of the operating system failed, with its error number.
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
