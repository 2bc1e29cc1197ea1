import Glibc

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
