import Glibc
import IndoorVocabulary

/// Why no satellite positions come from gpsd.
public enum GPSDError: Error, Hashable, Sendable {
    /// Nobody knows an address of that name.
    case unknownHost(String)
    /// Nothing listens there, or the way to it is barred.
    case unreachable(host: String, port: UInt16)
    /// Something listens there, but it does not speak as gpsd does.
    case noAnswer(host: String, port: UInt16)
    /// The connection broke, and a new one could not be made in time; with what the system says.
    case connectionLost(host: String, port: UInt16, reason: String?)
    /// A system call failed, with its name and the error's number.
    case system(call: String, number: Int32)
}

extension GPSDError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch self {
        case .unknownHost, .unreachable, .connectionLost: .noNetwork
        case .noAnswer: .badResponse
        case .system: .sensorFailed
        }
    }

    public var status: LocalizationError.Status? {
        if case .system(_, let number) = self { .system(number) } else { nil }
    }
}

extension GPSDError: CustomStringConvertible {
    /// What was wrong, and what to do about it.
    public var description: String {
        switch self {
        case .unknownHost(let host):
            "No address of the host '\(host)' is known: correct the name, or give its address."
        case .unreachable(let host, let port):
            "No gpsd can be reached at \(host):\(port): start it with \"sudo systemctl start gpsd.socket\", or by hand with "
                + "\"gpsd -n /dev/ttyACM0\" and the receiver's own device; one on another host listens to the network "
                + "only with -G."
        case .noAnswer(let host, let port):
            "What listens at \(host):\(port) is no gpsd: it has not sent the greeting. gpsd's own port is 2947."
        case .connectionLost(let host, let port, let reason):
            "The connection to gpsd at \(host):\(port) is lost\(reason.map { " (\($0))" } ?? ""): see what became of it "
                + "with \"systemctl status gpsd\"."
        case .system(let call, let number):
            "\(call) failed: \(Self.text(ofSystemError: number)) (error \(number))."
        }
    }

    /// What the system says of an error number.
    static func text(ofSystemError number: Int32) -> String {
        guard let text = strerror(number) else { return "unknown error" }
        return String(cString: text)
    }
}
