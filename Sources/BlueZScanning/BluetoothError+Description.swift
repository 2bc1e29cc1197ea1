import Glibc

extension BluetoothError: CustomStringConvertible {
    /// What was wrong, and what to do about it.
    public var description: String {
        switch self {
        case .notPermitted(let capabilities, let program):
            "The Bluetooth adapter may not be used directly: this process lacks \(capabilities.joined(separator: ", "))."
                + " Grant it once with: \(Self.grant(to: program))"
        case .noBluetooth:
            "The kernel offers no Bluetooth sockets: load the module with \"sudo modprobe bluetooth\"; in a container, "
                + "start it with the host's network, as they exist there only."
        case .busUnavailable(let reason):
            "The system's message bus cannot be reached (\(reason)): start it with \"sudo systemctl start dbus\"; in a "
                + "container, hand in its socket, /run/dbus/system_bus_socket."
        case .busForbidden(let reason):
            "The message bus does not let this process talk to the Bluetooth service (\(reason)): add its user to the "
                + "group \"bluetooth\" with \"sudo usermod -aG bluetooth USER\", and log in again."
        case .noRoute(let hci, let dbus):
            "The Bluetooth adapter is not accessible. Raw HCI: \(hci.description) Bluetooth service: "
                + dbus.description
        case .system(let call, let number):
            "\(call) failed: \(Self.text(ofSystemError: number)) (error \(number))."
        }
    }

    /// The command that grants a program what the raw route needs: all of it, as it takes away what it does not name.
    static func grant(to program: String) -> String {
        "sudo setcap cap_net_raw,cap_net_admin+eip \(quoted(program))"
    }

    /// What the system says of an error number.
    static func text(ofSystemError number: Int32) -> String {
        guard let text = strerror(number) else { return "unknown error" }
        return String(cString: text)
    }

    /// As a shell takes it for one word.
    private static func quoted(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"), UInt8(ascii: "+"):
                true
            default: false
            }
        }
        guard !isPlain else { return path }
        return "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
