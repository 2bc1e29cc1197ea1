extension LocalizationError {
    /// The cause of an error, for programs. The message describes it for people.
    ///
    /// ``LocalizationError/code`` states the effect on the session, and the kind states the cause.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Any other cause, including errors from an application's own source.
        case unknown
        /// The caller cancelled the operation.
        case cancelled
        /// The operation timed out.
        case timedOut
        /// The received data is invalid: a corrupt packet, catalogue, recording or message.
        case badResponse
        /// The request is invalid: an address, a request or a text that the other side doesn't accept.
        case badRequest
        /// The requested content doesn't exist: a venue, a packet or an image.
        case contentUnavailable
        /// The server or broker responds but is temporarily unavailable.
        case serviceUnavailable
        /// The data uses a newer format than this package supports.
        case versionMismatch
        /// The system or the broker denied permission.
        case permissionDenied
        /// The server requires credentials, or rejected those given.
        case invalidCredentials
        /// No position was available before the timeout.
        case positionUnavailable
        /// A proxy requires credentials.
        case proxyRefused
        /// The host is unreachable, or the connection was lost.
        case noNetwork
        /// The radio or another sensor failed.
        case sensorFailed
        /// The instants of the readings don't advance.
        case sampling
        /// The venue doesn't have the map.
        case mapNotFound
        /// The system or the server doesn't support the operation.
        case notSupported
        /// The TLS certificate of the other side isn't trusted.
        case untrusted
        /// A local file or folder can't be read or written.
        case storage
        /// A setting is out of range, unknown or contradictory.
        case settings
        /// The radio receives beacons, but none of a known venue.
        case unknownBeacons
        /// There is no route.
        case noRoute
    }

    /// A status number from a server or the operating system.
    public enum Status: Hashable, Sendable {
        /// The status of an HTTP response, such as 404.
        case http(Int)
        /// The error number of the operating system, `errno`.
        case system(Int32)
    }

    /// The status of the HTTP response, such as 404; nil if the error doesn't come from a response.
    public var httpStatus: Int? {
        if case .http(let number) = status { number } else { nil }
    }

    /// The error number of the operating system, `errno`; nil if unknown.
    public var systemErrorNumber: Int32? {
        if case .system(let number) = status { number } else { nil }
    }
}

/// An error that provides its cause as a value for programs.
///
/// If a source throws a conforming error, the session's error has the same kind and status.
public protocol ClassifiedError: Error {
    /// The cause of the error.
    var kind: LocalizationError.Kind { get }
    /// The status number from a server or the operating system; nil if there is none.
    var status: LocalizationError.Status? { get }
}

extension ClassifiedError {
    /// The default status: nil.
    public var status: LocalizationError.Status? { nil }
}

extension LocalizationError: ClassifiedError {}

extension LocalizationError.Kind {
    /// Creates the kind of an unsuccessful HTTP response with this status (RFC 9110, section 15).
    public init(httpStatus status: Int) {
        self =
            switch status {
            case 401, 403: .invalidCredentials
            case 404, 410: .contentUnavailable
            case 407: .proxyRefused
            case 408, 504: .timedOut
            case 429: .serviceUnavailable
            case 400..<500: .badRequest
            case 501, 505: .notSupported
            case 500..<600: .serviceUnavailable
            default: .badResponse
            }
    }

    /// Creates the default kind of an error with this code.
    init(of code: LocalizationError.Code) {
        self =
            switch code {
            case .generic, .critical: .unknown
            case .network: .serviceUnavailable
            case .credential: .invalidCredentials
            }
    }
}
