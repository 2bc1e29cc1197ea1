import Glibc

/// The addresses of hosts and files, as the system knows them.
package struct HostNames {
    /// Returns the numeric addresses of a host; empty if it is unknown.
    package var addresses: (String) -> Set<String>
    /// Returns the path behind symbolic links.
    package var resolvedPath: (String) -> String
    /// The addresses of this machine.
    package var own: Set<String>

    package init(
        addresses: @escaping (String) -> Set<String>, resolvedPath: @escaping (String) -> String, own: Set<String>
    ) {
        self.addresses = addresses
        self.resolvedPath = resolvedPath
        self.own = own
    }

    /// The names as this machine resolves them.
    package static var ofSystem: HostNames {
        HostNames(addresses: systemAddresses, resolvedPath: systemPath, own: interfaceAddresses)
    }

    /// Whether a numeric address is that of several machines: a group (224.0.0.0/4, ff00::/8), or all of a network.
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

    private static var interfaceAddresses: Set<String> {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: Set<String> = []
        var next = list
        while let entry = next {
            next = entry.pointee.ifa_next
            guard let address = entry.pointee.ifa_addr else { continue }
            let length: Int
            switch Int32(address.pointee.sa_family) {
            case AF_INET: length = MemoryLayout<sockaddr_in>.size
            case AF_INET6: length = MemoryLayout<sockaddr_in6>.size
            default: continue
            }
            if let text = text(of: address, socklen_t(length)) { found.insert(text) }
        }
        return found
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
