import Glibc
import IndoorVocabulary

/// An error of the reception of satellite positions from gpsd.
public enum GPSDError: Error, Hashable, Sendable {
    /// The name of the host can't be resolved.
    case unknownHost(String)
    /// No server is reachable at this host and port.
    case unreachable(host: String, port: UInt16)
    /// The server at this host and port isn't gpsd.
    case noAnswer(host: String, port: UInt16)
    /// The connection broke, and reconnecting failed within the time limit; `reason` is the system's.
    case connectionLost(host: String, port: UInt16, reason: String?)
    /// gpsd reads this device, to which this program sends its own positions.
    case ownPositions(device: String, host: String, port: UInt16)
    /// A system call failed with this error number.
    case system(call: String, number: Int32)
}

extension GPSDError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch self {
        case .unknownHost, .unreachable, .connectionLost: .noNetwork
        case .noAnswer: .badResponse
        case .ownPositions: .badRequest
        case .system: .sensorFailed
        }
    }

    public var status: LocalizationError.Status? {
        if case .system(_, let number) = self { .system(number) } else { nil }
    }
}

extension GPSDError: CustomStringConvertible {
    /// A sentence that describes the error and a remedy.
    public var description: String {
        switch self {
        case .unknownHost(let host):
            "The host '\(host)' is unknown: correct the name, or give its address."
        case .unreachable(let host, let port):
            "gpsd is not reachable at \(host):\(port): start it with \"sudo systemctl start gpsd.socket\", or manually "
                + "with \"gpsd -n /dev/ttyACM0\" and the receiver's device. On another host, gpsd listens to the "
                + "network only with -G."
        case .noAnswer(let host, let port):
            "The server at \(host):\(port) is not gpsd: it did not send gpsd's greeting. gpsd's standard port is 2947."
        case .connectionLost(let host, let port, let reason):
            "The connection to gpsd at \(host):\(port) was lost\(reason.map { " (\($0))" } ?? ""): check gpsd "
                + "with \"systemctl status gpsd\"."
        case .ownPositions(let device, let host, let port):
            "gpsd at \(host):\(port) reads \(device), to which this session sends its own positions: they would come back "
                + "as satellite positions. Remove that device from gpsd, or send the positions to another gpsd, or don't "
                + "read satellite positions from this one."
        case .system(let call, let number):
            "\(call) failed: \(Self.text(ofSystemError: number)) (error \(number))."
        }
    }

    /// Returns the system's description of an error number.
    static func text(ofSystemError number: Int32) -> String {
        guard let text = strerror(number) else { return "unknown error" }
        return String(cString: text)
    }
}
