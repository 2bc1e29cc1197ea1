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

    /// What the error means for the session.
    public var code: Code
    /// What was wrong, where, and what to do.
    public var message: String
    /// The description of the underlying error; nil if there is none.
    public var cause: String?

    /// Creates an error.
    public init(code: Code, message: String, cause: String? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Whether the session ends with this error.
    public var endsSession: Bool { code == .credential || code == .critical }

    public var description: String {
        cause.map { "\(code.rawValue) error: \(message) (\($0))" } ?? "\(code.rawValue) error: \(message)"
    }
}

extension LocalizationError {
    /// Passes on a `LocalizationError`; wraps any other error with what was being done.
    init(reporting error: any Error, code: Code, _ message: String) {
        self = error as? LocalizationError ?? LocalizationError(code: code, message: message, cause: "\(error)")
    }
}

extension LocalizationError {
    /// A venue whose model would be larger than a session may hold; nil if it isn't.
    init?(tooLarge venue: Venue) {
        guard let problem = ModelSize.problem(of: venue) else { return nil }
        self.init(
            code: .critical, message: "venue \(venue.id) is too large: \(problem.path) \(problem.message)")
    }
}
