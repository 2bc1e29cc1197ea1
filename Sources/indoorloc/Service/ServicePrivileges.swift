import CPrivileges

/// The privileges that a command needs while it runs.
///
/// A service that runs for months and reads data from the network keeps only the capabilities of its radio. It must
/// keep them permanently, because the kernel checks them for each command to the radio, not only when the socket is
/// opened.
package enum ServicePrivileges {
    /// Removes the privileges that a service doesn't need. Other commands keep theirs: they end soon, and may have to
    /// write files for the user who called them with `sudo`. In commands with a radio, makes its permitted capabilities
    /// effective.
    ///
    /// Call this before the first thread starts, because capabilities belong to threads.
    ///
    /// - Parameter words: the words after the program's name.
    package static func reduce(for words: [String]) {
        switch words.first {
        case "serve":
            keep(usesRawRadio(words) ? CPRIVILEGES_RADIO : 0)
            raise()
        case "track": keep(0)
        case "scan", "locate", "regions", "rooms": raise()
        default: break
        }
    }

    /// Whether the options allow the route that needs capabilities.
    static func usesRawRadio(_ words: [String]) -> Bool {
        func gives(_ option: String, _ value: String? = nil) -> Bool {
            words.enumerated().contains { index, word in
                guard let value else { return word == option || word.hasPrefix(option + "=") }
                return word == "\(option)=\(value)" || word == option && words.dropFirst(index + 1).first == value
            }
        }
        return !gives("--replay") && !gives("--route", "dbus")
    }

    /// Without the capabilities, the command scans through bluetoothd and reports this, so an error here needs no
    /// message.
    private static func raise() { _ = cprivileges_raise(CPRIVILEGES_RADIO) }

    private static func keep(_ capabilities: UInt64) {
        let status = cprivileges_keep(capabilities)
        if status != 0 {
            StandardError.line("the privileges of the service could not be reduced (error \(-status))")
        }
    }
}
