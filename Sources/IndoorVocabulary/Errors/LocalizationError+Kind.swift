extension LocalizationError {
    /// What went wrong, as a word for programs; the message tells it to people.
    ///
    /// ``LocalizationError/code`` tells what the error means for the session, the kind what caused it.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// None of the others, or an error of an application's own source.
        case unknown
        /// Whoever asked for something cancelled it.
        case cancelled
        /// No answer came in time.
        case timedOut
        /// What came cannot be used: a broken packet, catalogue, recording or message.
        case badResponse
        /// What was asked for makes no sense to the other side: an address, a request, a text.
        case badRequest
        /// What was asked for is not there: a venue, a packet, an image.
        case contentUnavailable
        /// The server or the broker is there, and does not serve at present.
        case serviceUnavailable
        /// What came is of a newer format than this package reads.
        case versionMismatch
        /// The system or the broker does not permit it.
        case permissionDenied
        /// The server wants credentials, or others.
        case invalidCredentials
        /// No position came in time.
        case positionUnavailable
        /// A proxy wants credentials.
        case proxyRefused
        /// The host cannot be reached, or the connection broke.
        case noNetwork
        /// The radio or another sensor does not deliver.
        case sensorFailed
        /// The instants of what the source delivers do not advance.
        case sampling
        /// The venue has no such map.
        case mapNotFound
        /// This system or this server does not support it.
        case notSupported
        /// The TLS certificate of the other side is not trusted.
        case untrusted
        /// A file or folder of this machine cannot be read or written.
        case storage
        /// A setting is out of range, unknown or contradictory.
        case settings
        /// Beacons are heard, and none of a known venue.
        case unknownBeacons
        /// There is no route.
        case noRoute
    }

    /// A number that the other side gave.
    public enum Status: Hashable, Sendable {
        /// The status of an answer over HTTP, such as 404.
        case http(Int)
        /// The number of an error of the operating system: `errno`.
        case system(Int32)
    }

    /// The status of the answer over HTTP, such as 404; nil if the error is not one of a server's answer.
    public var httpStatus: Int? {
        if case .http(let number) = status { number } else { nil }
    }

    /// The number of the operating system's error, `errno`; nil if none is known.
    public var systemErrorNumber: Int32? {
        if case .system(let number) = status { number } else { nil }
    }
}

/// An error that tells programs what went wrong, beside its text.
///
/// A session's errors take kind and status from the error of a source that conforms.
public protocol ClassifiedError: Error {
    /// What went wrong.
    var kind: LocalizationError.Kind { get }
    /// The number that the server or the operating system gave; nil for none.
    var status: LocalizationError.Status? { get }
}

extension ClassifiedError {
    /// No number.
    public var status: LocalizationError.Status? { nil }
}

extension LocalizationError: ClassifiedError {}

extension LocalizationError.Kind {
    /// The kind of an answer with that status, which is no success (RFC 9110, section 15).
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

    /// The kind of an error that says no kind.
    init(of code: LocalizationError.Code) {
        self =
            switch code {
            case .generic, .critical: .unknown
            case .network: .serviceUnavailable
            case .credential: .invalidCredentials
            }
    }
}
