/// A destination of NMEA 0183 sentences.
public enum NMEADestination: Hashable, Sendable {
    /// Datagrams to a host, one for each position: `udp://HOST:PORT`. gpsd receives them with the same address as its
    /// device.
    case udp(host: String, port: UInt16)
    /// A connection to a program that accepts sentences: `tcp://HOST:PORT`.
    case tcp(host: String, port: UInt16)
    /// A server for programs that connect, such as gpsd and map programs: `tcp-listen://HOST:PORT`. Port 0 is any free
    /// port.
    case tcpListener(host: String, port: UInt16)
    /// A server at a local socket, such as for GeoClue: `unix-listen://PATH`.
    case unixListener(path: String)
    /// A file or a terminal, to which the sentences are appended; a FIFO is opened once it has a reader.
    case file(path: String)

    /// Reads a destination: one of the addresses above, and otherwise the path of a file.
    ///
    /// - Throws: `NMEAError.invalidAddress` for an unknown scheme, a missing host, or a port out of range.
    public init(_ text: String) throws(NMEAError) {
        guard let colon = text.firstRange(of: "://") else {
            guard !text.isEmpty else { throw .invalidAddress(text) }
            self = .file(path: text)
            return
        }
        let rest = text[colon.upperBound...]
        switch text[..<colon.lowerBound] {
        case "udp":
            let (host, port) = try Self.hostAndPort(rest, 1, of: text)
            self = .udp(host: host, port: port)
        case "tcp":
            let (host, port) = try Self.hostAndPort(rest, 1, of: text)
            self = .tcp(host: host, port: port)
        case "tcp-listen":
            let (host, port) = try Self.hostAndPort(rest, 0, of: text)
            self = .tcpListener(host: host, port: port)
        case "unix-listen":
            // The size of a path in sockaddr_un, without the zero at its end.
            guard (1...107).contains(rest.utf8.count) else { throw .invalidAddress(text) }
            self = .unixListener(path: String(rest))
        default: throw .invalidAddress(text)
        }
    }

    /// Reads `HOST:PORT`, with an IPv6 address in brackets.
    private static func hostAndPort(
        _ rest: Substring, _ leastPort: UInt16, of text: String
    ) throws(NMEAError) -> (String, UInt16) {
        guard let colon = rest.lastIndex(of: ":") else { throw .invalidAddress(text) }
        let digits = rest[rest.index(after: colon)...]
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits), port >= leastPort
        else {
            throw .invalidAddress(text)
        }
        var host = rest[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw .invalidAddress(text)
        }
        guard !host.isEmpty, !host.contains(where: { $0.isWhitespace || "/@?#".contains($0) }) else {
            throw .invalidAddress(text)
        }
        return (String(host), port)
    }

    /// Whether each position is a datagram.
    var isDatagram: Bool { if case .udp = self { true } else { false } }

    /// The address of gpsd's device that receives what is sent here; nil if gpsd has no device of this kind.
    package var gpsdDevice: String? {
        switch self {
        case .udp, .file: description
        case .tcpListener(let host, let port): Self.tcp(host: host, port: port).description
        case .tcp, .unixListener: nil
        }
    }
}

extension NMEADestination: CustomStringConvertible {
    /// The destination in the form that `init(_:)` reads.
    public var description: String {
        switch self {
        case .udp(let host, let port): "udp://" + Self.text(host, port)
        case .tcp(let host, let port): "tcp://" + Self.text(host, port)
        case .tcpListener(let host, let port): "tcp-listen://" + Self.text(host, port)
        case .unixListener(let path): "unix-listen://" + path
        case .file(let path): path
        }
    }

    private static func text(_ host: String, _ port: UInt16) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
