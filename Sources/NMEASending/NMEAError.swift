import Glibc
import IndoorVocabulary
import VenueModel

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
