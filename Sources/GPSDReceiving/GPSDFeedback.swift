import Glibc
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

/// The addresses of hosts and files, as the system knows them.
package struct HostNames {
    /// Returns the numeric addresses of a host; empty if it is unknown.
    package var addresses: (String) -> Set<String>
    /// Returns the path behind symbolic links.
    package var resolvedPath: (String) -> String
    /// Returns whether a numeric address is one of this machine.
    package var isOwn: (String) -> Bool

    package init(
        addresses: @escaping (String) -> Set<String>, resolvedPath: @escaping (String) -> String,
        isOwn: @escaping (String) -> Bool
    ) {
        self.addresses = addresses
        self.resolvedPath = resolvedPath
        self.isOwn = isOwn
    }

    /// The names as this machine resolves them.
    package static var ofSystem: HostNames {
        HostNames(addresses: systemAddresses, resolvedPath: systemPath, isOwn: canBind)
    }

    /// Whether several machines share a numeric address: a multicast group (224.0.0.0/4, ff00::/8), or all of a
    /// network.
    static func isShared(_ address: String) -> Bool {
        if address.contains(":") { return address.lowercased().hasPrefix("ff") }
        guard let first = address.split(separator: ".").first.flatMap({ UInt8($0) }) else { return false }
        return first >= 224 || address.hasSuffix(".255")
    }

    private static func systemAddresses(_ host: String) -> Set<String> {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard !host.isEmpty, getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: Set<String> = []
        var next = list
        while let entry = next {
            if let text = text(of: entry.pointee.ai_addr, entry.pointee.ai_addrlen) { found.insert(text) }
            next = entry.pointee.ai_next
        }
        return found
    }

    /// Whether a socket can be bound to the address. This also works for a service that isn't permitted to list the
    /// interfaces.
    private static func canBind(_ address: String) -> Bool {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, nil, &hints, &list) == 0, let entry = list?.pointee else { return false }
        defer { freeaddrinfo(list) }
        let descriptor = socket(entry.ai_family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return bind(descriptor, entry.ai_addr, entry.ai_addrlen) == 0
    }

    private static func text(of address: UnsafePointer<sockaddr>?, _ length: socklen_t) -> String? {
        guard let address else { return nil }
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(address, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0 else {
            return nil
        }
        return String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func systemPath(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
