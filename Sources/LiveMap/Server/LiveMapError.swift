import Glibc
import IndoorVocabulary

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
