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
    public static func unknownBeacons(_ beacons: [UnknownBeacon]) -> LocalizationError {
        let names = beacons.map(\.description).joined(separator: ", ")
        return LocalizationError(
            code: .generic,
            message: "the received beacons belong to no known venue: \(names); correct uuid, major and minor in the "
                + "packet, or add the venue",
            reason: .unknownBeacons(beacons), kind: .unknownBeacons)
    }

    /// Returns the error for readings whose instants don't advance. A session reports it once and continues.
    public static func instantsStandStill(at instant: Instant) -> LocalizationError {
        LocalizationError(
            code: .generic,
            message:
                "the instants of the readings do not advance beyond \(instant.seconds) s, so positions are late "
                + "or missing; set the instant of each reading to the time of its measurement",
            reason: .instantsStandStill(instant), kind: .sampling)
    }
}
