/// What went wrong in a session, and what to do about it.
public struct LocalizationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What an error means for the session.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// Something failed; the session goes on and tries again.
        case generic
        /// The network or a server failed; the session goes on and tries again.
        case network
        /// A server refused the credentials; the session ends.
        case credential
        /// The session cannot go on; start a new one once the cause is gone.
        case critical
    }

    /// A cause that a program may want to tell from others.
    public enum Reason: Hashable, Sendable {
        /// Beacons were heard for 5 s, and none of a known venue: up to eight of them, in the order of being heard.
        case unknownBeacons([UnknownBeacon])
        /// The instants of what the source delivers do not advance; where they stand still.
        case instantsStandStill(Instant)
    }

    /// What the error means for the session.
    public var code: Code
    /// What was wrong, where, and what to do.
    public var message: String
    /// The description of the underlying error; nil if there is none.
    public var cause: String?
    /// The cause as a value, for those that have one; nil for others.
    public var reason: Reason?
    /// What went wrong, for programs.
    public var kind: Kind
    /// The number that a server or the operating system gave; nil if there is none.
    public var status: Status?

    /// Creates an error; without a kind, it has that of its code: of credentials, of a server, or unknown.
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

    /// Whether the session ends with this error.
    public var endsSession: Bool { code == .credential || code == .critical }

    public var description: String {
        cause.map { "\(code.rawValue) error: \(message) (\($0))" } ?? "\(code.rawValue) error: \(message)"
    }
}

extension LocalizationError {
    /// Passes on a `LocalizationError`; wraps any other error with what was being done, its kind and its status.
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
    /// Beacons are heard, but none of a known venue; a session reports it once, and goes on searching.
    public static func unknownBeacons(_ beacons: [UnknownBeacon]) -> LocalizationError {
        let names = beacons.map(\.description).joined(separator: ", ")
        return LocalizationError(
            code: .generic,
            message: "the beacons that are heard are of no known venue: \(names); correct uuid, major and minor in the "
                + "packet, or add the venue",
            reason: .unknownBeacons(beacons), kind: .unknownBeacons)
    }

    /// Readings come, but their instants do not advance; a session reports it once, and goes on.
    public static func instantsStandStill(at instant: Instant) -> LocalizationError {
        LocalizationError(
            code: .generic,
            message:
                "the instants of the readings do not advance beyond \(instant.seconds) s, so that positions come late "
                + "or not at all; have the source give each reading the instant at which it was sensed",
            reason: .instantsStandStill(instant), kind: .sampling)
    }
}
