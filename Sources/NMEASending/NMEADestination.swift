import Glibc
import IndoorVocabulary
import VenueModel

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

/// An error of the output of NMEA 0183 sentences.
public enum NMEAError: Error, Hashable, Sendable {
    /// The text isn't a valid destination.
    case invalidAddress(String)
    /// No map of the venue has a georeference, so its positions have no coordinates.
    case notGeoreferenced([MapID])
    /// The georeference of a map is invalid.
    case wrongGeoreference(MapID, GeoreferenceError)
    /// The host of the destination can't be resolved; the reason is the system's.
    case unknownHost(NMEADestination, reason: String)
    /// Another program listens at the address.
    case addressInUse(NMEADestination)
    /// The destination can't be opened or written to; the number is that of the system's error.
    case unreachable(NMEADestination, number: Int32)
    /// The satellite receiver reports the positions that this session sends.
    case echo
}

extension NMEAError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch self {
        case .invalidAddress, .notGeoreferenced, .wrongGeoreference, .addressInUse, .echo: .badRequest
        case .unknownHost, .unreachable: .noNetwork
        }
    }

    public var status: LocalizationError.Status? {
        if case .unreachable(_, let number) = self { .system(number) } else { nil }
    }
}

extension NMEAError: CustomStringConvertible {
    /// A sentence that describes the error and a remedy.
    public var description: String {
        switch self {
        case .invalidAddress(let text):
            "'\(AddressText.withoutSecrets(text))' is no destination: give udp://HOST:PORT, tcp://HOST:PORT, tcp-listen://HOST:PORT, "
                + "unix-listen://PATH (107 bytes at most) or the path of a file, with an IPv6 address in brackets"
        case .notGeoreferenced(let maps):
            "NMEA 0183 requires coordinates, but map \(maps.map(\.description).joined(separator: ", ")) has no "
                + "georeference; give a center and bearing, or controlPoints, in venue.json"
        case .wrongGeoreference(let map, let error): "the georeference of map \(map) is invalid: \(error)"
        case .unknownHost(let destination, let reason):
            "\(destination): the host is unknown (\(reason)): correct the name, or give its address"
        case .addressInUse(let destination):
            "\(destination): another program listens there: end it, or give another address"
        case .unreachable(let destination, let number): "\(destination): \(Self.text(number))\(Self.advice(number))"
        case .echo:
            "the satellite receiver reports the positions that this session sends as NMEA 0183: remove that device "
                + "from gpsd, or leave out --gnss"
        }
    }

    private static func text(_ number: Int32) -> String {
        guard let text = strerror(number) else { return "error \(number)" }
        return String(cString: text)
    }

    private static func advice(_ number: Int32) -> String {
        switch number {
        case ECONNREFUSED: "; start the program that reads there"
        case ENXIO: "; no program reads the FIFO yet"
        case ENOSPC, EDQUOT: "; free some space"
        case EACCES, EPERM: "; check the permissions"
        case EADDRNOTAVAIL: "; give an address of this machine"
        default: ""
        }
    }
}

extension Venue {
    /// Checks that positions in the venue can be sent: at least one map needs a valid georeference.
    ///
    /// - Throws: `NMEAError.notGeoreferenced` or `.wrongGeoreference` otherwise.
    public func checkCoordinates() throws(NMEAError) {
        var failure = NMEAError.notGeoreferenced(maps.map(\.id))
        for map in maps {
            do throws(GeoreferenceError) {
                if try map.geoTransform() != nil { return }
            } catch {
                failure = .wrongGeoreference(map.id, error)
            }
        }
        throw failure
    }
}
