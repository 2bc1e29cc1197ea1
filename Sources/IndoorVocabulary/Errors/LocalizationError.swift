/// An error of a session, with advice on how to resolve it.
public struct LocalizationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The effect of an error on the session.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// An operation failed; the session continues and tries again.
        case generic
        /// The network or a server failed; the session continues and tries again.
        case network
        /// A server refused the credentials; the session ends.
        case credential
        /// The session can't continue; start a new one when the cause is resolved.
        case critical
    }

    /// A cause with details for programs.
    public enum Reason: Hashable, Sendable {
        /// The radio received beacons for 5 s, but none of a known venue. The array contains up to eight of them, in
        /// the order of reception.
        case unknownBeacons([UnknownBeacon])
        /// The instants of the readings don't advance beyond this instant.
        case instantsStandStill(Instant)
        /// The readings of a beacon contradict the venue.
        case beaconFault(BeaconFault)
        /// Beacons of a known venue send a measured power that can't be a signal strength at 1 m, in the order of
        /// reception.
        case uncalibratedBeacons([BeaconIdentity])
    }

    /// The effect of the error on the session.
    public var code: Code
    /// A description of the problem, its location and its remedy.
    public var message: String
    /// The description of the underlying error; nil if there is none.
    public var cause: String?
    /// The details of the cause; nil for causes without details.
    public var reason: Reason?
    /// The cause, for programs.
    public var kind: Kind
    /// The status number from a server or the operating system; nil if there is none.
    public var status: Status?

    /// Creates an error. Without a kind, the error has the default kind of its code.
    public init(
        code: Code, message: String, cause: String? = nil, reason: Reason? = nil, kind: Kind? = nil,
        status: Status? = nil
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.reason = reason
        self.kind = kind ?? Kind(of: code)
        self.status = status
    }

    /// Whether this error ends the session.
    public var endsSession: Bool { code == .credential || code == .critical }

    public var description: String {
        cause.map { "\(code.rawValue) error: \(message) (\($0))" } ?? "\(code.rawValue) error: \(message)"
    }
}

extension LocalizationError {
    /// Creates an error from another one: copies a `LocalizationError`, and wraps any other error with a message, its
    /// kind and its status.
    package init(reporting error: any Error, code: Code, _ message: String) {
        if let error = error as? LocalizationError {
            self = error
            return
        }
        let classified = error as? any ClassifiedError
        self.init(
            code: code, message: message, cause: "\(error)",
            kind: error is CancellationError ? .cancelled : classified?.kind, status: classified?.status)
    }
}

extension LocalizationError {
    /// Returns the error for beacons that belong to no known venue. A session reports it once and continues to search.
    package static func unknownBeacons(_ beacons: [UnknownBeacon]) -> LocalizationError {
        let names = beacons.map(\.description).joined(separator: ", ")
        return LocalizationError(
            code: .generic,
            message: "the received beacons belong to no known venue: \(names); correct the names of the beacons in the "
                + "packet, such as uuid, major and minor, or add the venue",
            reason: .unknownBeacons(beacons), kind: .unknownBeacons)
    }

    /// Returns the error for beacons that send no valid measured power. A session reports each beacon once, and uses the
    /// power of the packet, the survey or the settings for it.
    package static func uncalibratedBeacons(_ beacons: [BeaconIdentity]) -> LocalizationError {
        let isOne = beacons.count == 1
        let names = (isOne ? "beacon " : "beacons ") + beacons.map(\.description).joined(separator: ", ")
        return LocalizationError(
            code: .generic,
            message:
                "\(names) \(isOne ? "sends" : "send") no valid measured power, so the session uses the "
                + "power in the packet, the survey or the settings; calibrate the \(isOne ? "beacon" : "beacons")",
            reason: .uncalibratedBeacons(beacons), kind: .beaconFault)
    }

    /// Returns the error for readings whose instants don't advance. A session reports it once and continues.
    package static func instantsStandStill(at instant: Instant) -> LocalizationError {
        LocalizationError(
            code: .generic,
            message:
                "the instants of the readings do not advance beyond \(instant.seconds) s, so positions are late "
                + "or missing; set the instant of each reading to the time of its measurement",
            reason: .instantsStandStill(instant), kind: .sampling)
    }
}

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
        /// The readings of a beacon contradict the venue, or it sends no valid measured power.
        case beaconFault
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
    package init(httpStatus status: Int) {
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

/// A received beacon that belongs to no known venue.
public struct UnknownBeacon: Hashable, Sendable, CustomStringConvertible {
    /// The identity of the beacon.
    public var identity: BeaconIdentity
    /// The known beacons with the most similar identity, such as those with the same UUID and major; nil if none are
    /// similar.
    public var nearest: BeaconRegion?
    /// The venue of `nearest`; nil without one.
    public var venueID: VenueID?

    /// Creates a beacon from its parts.
    package init(identity: BeaconIdentity, nearest: BeaconRegion? = nil, venueID: VenueID? = nil) {
        self.identity = identity
        self.nearest = nearest
        self.venueID = venueID
    }

    /// The beacon and the most similar known beacons.
    public var description: String {
        guard let nearest, let venueID else { return "\(identity)" }
        let numbers = [nearest.major, nearest.minor].compactMap(\.self).map { "/\($0)" }.joined()
        return "\(identity) (nearest: \(nearest.uuid)\(numbers) of venue \(venueID))"
    }
}

/// Addresses in messages.
package enum AddressText {
    /// Returns the text of an address with an ellipsis in place of each part that may be a password.
    ///
    /// Users write passwords into parts of an address that should not contain one: `HOST/?password=…`, or `USER:…@HOST`
    /// in a scheme without users. A password may contain slashes, colons, question marks and `@`; in case of doubt, the
    /// function hides more.
    package static func withoutSecrets(_ text: String) -> String {
        let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
        let rest = text[start...]
        let query = rest.firstIndex { "?#".contains($0) }
        guard let at = rest.lastIndex(of: "@") else { return query.map { text[...$0] + "…" } ?? text }
        if let query, query < at { return text[..<start] + "…" }
        let hidden = rest[..<at].firstIndex(of: ":").map { text[...$0] + "…" + text[at...] } ?? text
        return query == nil ? hidden : withoutQuery(hidden)
    }

    private static func withoutQuery(_ text: String) -> String {
        text.firstIndex { "?#".contains($0) }.map { text[...$0] + "…" } ?? text
    }
}
