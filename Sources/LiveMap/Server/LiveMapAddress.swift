import Glibc
import IndoorVocabulary

/// The address at which a live map's server listens.
public struct LiveMapAddress: Hashable, Sendable {
    /// The default: port 8080, reachable only from this host.
    public static let standard = LiveMapAddress(host: "127.0.0.1", port: 8080)

    /// An IPv4 or IPv6 address without brackets, or `localhost`, which means both 127.0.0.1 and ::1.
    public let host: String
    /// The port; 0 for any free one.
    public let port: UInt16

    private init(host: String, port: UInt16) { (self.host, self.port) = (host, port) }

    /// Creates an address from `HOST:PORT`, `[IPV6]:PORT`, or `PORT` for 127.0.0.1.
    ///
    /// - Throws: `LiveMapError.badAddress` if the host isn't a numeric address or `localhost`, or the port isn't in
    ///   0...65535.
    public init(_ text: String) throws(LiveMapError) {
        func bad(_ reason: String) -> LiveMapError { .badAddress(text: text, reason: reason) }
        var (host, port) = (Substring("127.0.0.1"), Substring(text))
        if let colon = text.lastIndex(of: ":") {
            (host, port) = (text[..<colon], text[text.index(after: colon)...])
        }
        guard !port.isEmpty, port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(port) else {
            throw bad("expected HOST:PORT or PORT with a port in 0...65535, such as \(Self.standard)")
        }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        guard isBracketed || !host.contains(":") else {
            throw bad("an IPv6 address needs brackets, such as [::1]:8080")
        }
        if isBracketed { host = host.dropFirst().dropLast() }
        let address = Self(host: host.lowercased(), port: number)
        guard !isBracketed || host.contains(":"), address.host == "localhost" || address.isNumeric else {
            throw bad("the host must be localhost or a numeric address, such as \(Self.standard)")
        }
        self = address
    }

    /// Returns the same host with another port.
    func withPort(_ port: UInt16) -> LiveMapAddress { LiveMapAddress(host: host, port: port) }

    /// The numeric addresses to listen at.
    var numericAddresses: [LiveMapAddress] {
        guard host == "localhost" else { return [self] }
        return ["127.0.0.1", "::1"].map { LiveMapAddress(host: $0, port: port) }
    }

    private var isNumeric: Bool { withSystemAddress { _, _ in } == 0 }

    /// Whether only processes of this host reach the address.
    package var isLoopback: Bool {
        if host == "localhost" { return true }
        var (isLoopback, ip4, ip6) = (false, in_addr(), in6_addr())
        if inet_pton(AF_INET, host, &ip4) == 1 {
            isLoopback = UInt32(bigEndian: ip4.s_addr) >> 24 == 127
        } else if inet_pton(AF_INET6, host, &ip6) == 1 {
            isLoopback = withUnsafeBytes(of: ip6) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
        }
        return isLoopback
    }

    /// Calls `body` with the system's form of a numeric address. Returns the status of `getaddrinfo`, 0 on success.
    func withSystemAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Void) -> Int32 {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        defer { if list != nil { freeaddrinfo(list) } }
        guard status == 0, let address = list?.pointee.ai_addr, let length = list?.pointee.ai_addrlen else {
            return status == 0 ? EAI_NONAME : status
        }
        body(address, length)
        return 0
    }
}

extension LiveMapAddress: CustomStringConvertible {
    /// `HOST:PORT`, with brackets around an IPv6 address.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// An error in starting a live map's server.
public enum LiveMapError: Error, Hashable, Sendable {
    /// The text isn't an address; `reason` describes the expected form.
    case badAddress(text: String, reason: String)
    /// Another process uses the address.
    case addressInUse(LiveMapAddress)
    /// This host doesn't have the address.
    case addressNotAvailable(LiveMapAddress)
    /// This process isn't permitted to listen at the address; ports below 1024 need a privilege.
    case notPermitted(LiveMapAddress)
    /// The address is reachable from other hosts, which requires a token.
    case tokenRequired(LiveMapAddress)
    /// The token is too short, or has a character that a header or a cookie can't transport.
    case badToken(reason: String)
    /// A call of the system failed with this error number.
    case system(call: String, number: Int32)
}

extension LiveMapError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch self {
        case .badAddress: .badRequest
        case .addressInUse, .addressNotAvailable: .serviceUnavailable
        case .notPermitted: .permissionDenied
        case .tokenRequired, .badToken: .invalidCredentials
        case .system: .unknown
        }
    }

    public var status: LocalizationError.Status? {
        switch self {
        case .addressInUse: .system(EADDRINUSE)
        case .addressNotAvailable: .system(EADDRNOTAVAIL)
        case .notPermitted: .system(EACCES)
        case .system(_, let number): .system(number)
        case .badAddress, .tokenRequired, .badToken: nil
        }
    }
}

extension LiveMapError: CustomStringConvertible {
    /// A sentence that describes the error and a remedy.
    public var description: String {
        switch self {
        case .badAddress(let text, let reason): "Invalid address '\(AddressText.withoutSecrets(text))': \(reason)."
        case .addressInUse(let address):
            "The address \(address) is in use: end the other process, or choose another port."
        case .addressNotAvailable(let address):
            "This host does not have the address \(address.host): choose an address that 'ip address' lists."
        case .notPermitted(let address):
            "This process is not permitted to listen at \(address): choose a port of at least 1024."
        case .tokenRequired(let address):
            "The address \(address) is reachable from other hosts: set a token of at least "
                + "\(LiveMapAccess.shortestToken) characters, or use 127.0.0.1."
        case .badToken(let reason): "Invalid token: \(reason)."
        case .system(let call, let number):
            "The HTTP server did not start: \(call) failed: \(Self.text(ofSystemError: number)) (error \(number))."
        }
    }

    private static func text(ofSystemError number: Int32) -> String {
        guard let text = strerror(number) else { return "unknown error" }
        return String(cString: text)
    }
}
