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
