import IndoorVocabulary

/// The detection of gpsd devices that deliver the positions that this program sends.
package struct GPSDFeedback {
    private let source: GPSDSource
    private let hosts: HostNames

    package init(_ source: GPSDSource, hosts: HostNames = .ofSystem) {
        self.source = source
        self.hosts = hosts
    }

    /// - Throws: `GPSDError.ownPositions` for the first device that delivers positions that this program sends.
    package func check(_ devices: [String]) throws(GPSDError) {
        guard !source.ownDevices.isEmpty else { return }
        for device in devices where source.ownDevices.contains(where: { feeds($0, device) }) {
            throw .ownPositions(device: device, host: source.host, port: source.port)
        }
    }

    /// Whether positions sent to `own` arrive at gpsd's `device`.
    package func feeds(_ own: String, _ device: String) -> Bool {
        guard let own = GPSDDevice(own), let device = GPSDDevice(device) else { return false }
        switch (own, device) {
        case (.path(let own), .path(let path)): return isLocal && hosts.resolvedPath(own) == hosts.resolvedPath(path)
        case (.udp(let host, let port), .udp(let listened, let otherPort)):
            return port == otherPort && reaches(host, listened)
        case (.tcp(_, let port), .tcp(let server, let otherPort)):
            return port == otherPort && serves(server)
        case (.path, _), (.udp, _), (.tcp, _): return false
        }
    }

    /// Whether gpsd runs on this machine.
    private var isLocal: Bool { isThisMachine(source.host) }

    private func isThisMachine(_ host: String) -> Bool {
        LoopbackHost.contains(host) || hosts.addresses(host).contains(where: hosts.isOwn)
    }

    /// Whether a host is the loopback interface of the machine that resolves its name.
    private func isLoopback(_ host: String) -> Bool {
        if LoopbackHost.contains(host) { return true }
        let addresses = hosts.addresses(host)
        return !addresses.isEmpty && addresses.allSatisfy(LoopbackHost.contains)
    }

    /// Whether datagrams to a host arrive at an address at which gpsd listens.
    private func reaches(_ host: String, _ listened: String) -> Bool {
        let target = hosts.addresses(host)
        // A multicast group, or all machines of a network.
        if target.contains(where: HostNames.isShared) { return true }
        if !hosts.addresses(listened).isDisjoint(with: target) { return isLocal || !isLoopback(listened) }
        guard GPSDDevice.isAny(listened) else { return false }
        return isLocal ? isThisMachine(host) : !hosts.addresses(source.host).isDisjoint(with: target)
    }

    /// Whether the server that gpsd connects to is on this machine.
    private func serves(_ server: String) -> Bool {
        guard isLoopback(server) else { return isThisMachine(server) }
        return isLocal
    }
}

/// The address of a device in gpsd's notation (gpsd(8)).
enum GPSDDevice: Hashable {
    case path(String)
    case udp(host: String, port: UInt16)
    case tcp(host: String, port: UInt16)

    /// Returns nil for another kind of device.
    init?(_ text: String) {
        guard let scheme = text.firstRange(of: "://") else {
            self = .path(text)
            return
        }
        let rest = text[scheme.upperBound...]
        guard let colon = rest.lastIndex(of: ":"), let port = UInt16(rest[rest.index(after: colon)...]) else {
            return nil
        }
        var host = rest[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        switch text[..<scheme.lowerBound] {
        case "udp": self = .udp(host: String(host), port: port)
        case "tcp": self = .tcp(host: String(host), port: port)
        default: return nil
        }
    }

    /// Whether the host stands for all addresses of a machine.
    static func isAny(_ host: String) -> Bool { ["", "*", "0.0.0.0", "::"].contains(host) }
}
