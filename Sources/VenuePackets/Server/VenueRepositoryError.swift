import IndoorVocabulary

/// The use of a server, on which the advice in an error depends.
package enum ServerUse: Hashable, Sendable {
    /// The server sends venues and settings.
    case venues
    /// The server receives records.
    case records
    /// The server receives events, in requests without credentials.
    case webhook

    /// The server as the subject of a sentence.
    fileprivate var server: String {
        switch self {
        case .venues: "the venue server"
        case .records: "the server"
        case .webhook: "the webhook"
        }
    }
}

/// An error of a venue repository or its server.
///
/// The URLs in it never contain credentials.
public enum VenueRepositoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The server's URL, credentials or certificate cannot be used; the message describes the correction.
    case badServer(String)
    /// The server requires other credentials, or any: status 401, or 403 although credentials were given;
    /// `hadCredentials` is whether some were given.
    case refused(status: Int, url: String, hadCredentials: Bool)
    /// The server responded with a status other than success.
    case failed(status: Int, url: String)
    /// The response didn't arrive or complete within its timeout.
    case timedOut(url: String, reason: String)
    /// The server could not be reached, or the connection was interrupted.
    case unreachable(url: String, reason: String)
    /// The server's TLS certificate is not trusted.
    case untrusted(url: String, reason: String)
    /// The catalogue cannot be used, with all its problems.
    case brokenCatalogue(url: String, problems: [VenueProblem])
    /// The catalogue's entry of that venue cannot be used, with all its problems.
    case brokenEntry(VenueID, url: String, problems: [VenueProblem])
    /// A packet cannot be used, with all its problems.
    case brokenPacket(source: String, problems: [VenueProblem])
    /// Neither the cache, the bundled packets nor the server has that venue.
    case unknownVenue(VenueID)
    /// A file or folder on this machine cannot be read or written.
    case storage(path: String, reason: String)
    /// The task was cancelled.
    case cancelled

    /// The status of the server's response; nil if the error has no status.
    public var statusCode: Int? {
        switch self {
        case .refused(let status, _, _), .failed(let status, _): status
        case .badServer, .timedOut, .unreachable, .untrusted, .brokenCatalogue, .brokenEntry, .brokenPacket,
            .unknownVenue, .storage, .cancelled:
            nil
        }
    }

    /// The problems of the catalogue or packet; empty for other errors.
    public var problems: [VenueProblem] {
        switch self {
        case .brokenCatalogue(_, let problems), .brokenEntry(_, _, let problems), .brokenPacket(_, let problems):
            problems
        case .badServer, .refused, .failed, .timedOut, .unreachable, .untrusted, .unknownVenue, .storage, .cancelled: []
        }
    }

    public var description: String {
        ([PrintableText.line(problems.isEmpty ? title : title + ":")] + problems.map { "  \($0)" }).joined(
            separator: "\n")
    }

    /// The error in one line, without the list of problems of a catalogue or packet.
    var title: String { title(of: .venues) }

    /// Returns the error in one line, with the advice that fits the use of the server.
    package func title(of use: ServerUse) -> String {
        let server = use.server
        return switch self {
        case .badServer(let message): message
        case .refused(let status, let url, _) where use == .webhook: Self.refusedEvent(status, url)
        case .refused(let status, let url, hadCredentials: true):
            "\(server) refused the credentials (status \(status) for \(url)); correct the token or password"
        case .refused(let status, let url, hadCredentials: false):
            "\(server) refused \(url) (status \(status)), and no credentials were given; give a token, or user "
                + "and password"
        case .failed(404, let url) where url.hasSuffix("/" + VenueServer.catalogueFile):
            "the venue server has no \(url) (status 404); is the server's address right? It must be the folder with "
                + VenueServer.catalogueFile
        case .failed(403, let url) where use == .webhook: Self.refusedEvent(403, url)
        case .failed(403, let url):
            "\(server) answered with status 403 for \(url), and no credentials were given; check that the server "
                + (use == .records ? "accepts records at this address" : "has the file and may read it")
                + ", or give a token, or user and password"
        case .failed(let status, let url): "\(server) answered with status \(status) for \(url)"
        case .timedOut(let url, let reason):
            "\(server) did not \(use == .venues ? "send" : "answer at") \(url) within the timeout: \(reason)"
        case .unreachable(let url, let reason):
            "\(url) cannot be \(use == .venues ? "fetched" : "reached"): \(reason)"
        case .untrusted(let url, let reason): "\(server) of \(url) is not trusted: \(reason)"
        case .brokenCatalogue(let url, _): "\(url) is not a usable catalogue"
        case .brokenEntry(let id, let url, _):
            "venue \(id) cannot be fetched, because its entry in \(url) cannot be used"
        case .brokenPacket(let source, _): "\(source) is not a usable venue packet"
        case .unknownVenue(let id):
            "there is no packet of venue \(id) in the cache, among the bundled packets or in the server's catalogue"
        case .storage(let path, let reason): "\(path): \(reason)"
        case .cancelled: "the request was cancelled"
        }
    }

    /// Requests of a webhook have a signature in place of credentials.
    private static func refusedEvent(_ status: Int, _ url: String) -> String {
        "the webhook refused the event (status \(status) for \(url)); check its address, and the key of the signatures"
    }

    /// Whether the same request may succeed later.
    var isTransient: Bool {
        switch self {
        // Request time-out, too early, too many requests: RFC 9110 15.5.9, RFC 8470 5.2, RFC 6585 4.
        case .failed(let status, _): status >= 500 || [408, 425, 429].contains(status)
        case .timedOut, .unreachable: true
        case .badServer, .refused, .untrusted, .brokenCatalogue, .brokenEntry, .brokenPacket, .unknownVenue, .storage,
            .cancelled:
            false
        }
    }

    /// Whether a stored packet or catalogue must not replace the requested one.
    var isFinal: Bool {
        switch self {
        case .refused, .badServer, .cancelled: true
        case .failed, .timedOut, .unreachable, .untrusted, .brokenCatalogue, .brokenEntry, .brokenPacket, .unknownVenue,
            .storage:
            false
        }
    }
}

extension VenueRepositoryError {
    /// Returns the error for one problem of a packet.
    static func broken(_ source: String, _ path: String, _ message: String) -> VenueRepositoryError {
        .brokenPacket(source: source, problems: [VenueProblem(severity: .error, path: path, message: message)])
    }

    /// Creates the error for a failed operation on a file or folder.
    init(_ error: FileSystemError) {
        let reason = "\(error.reason); check the folder, its permissions and the free space"
        self = .storage(path: error.path, reason: reason)
    }

    /// Runs an operation on files and throws its failure as `.storage`.
    static func storing<Success>(
        _ operation: () throws(FileSystemError) -> Success
    ) throws(VenueRepositoryError) -> Success {
        do throws(FileSystemError) { return try operation() } catch { throw VenueRepositoryError(error) }
    }
}

extension VenueRepositoryError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch self {
        case .badServer: .badRequest
        case .failed(403, _): .contentUnavailable
        case .refused(let status, _, _), .failed(let status, _): LocalizationError.Kind(httpStatus: status)
        case .timedOut: .timedOut
        case .unreachable: .noNetwork
        case .untrusted: .untrusted
        case .brokenCatalogue, .brokenEntry, .brokenPacket: problems.kind
        case .unknownVenue: .contentUnavailable
        case .storage: .storage
        case .cancelled: .cancelled
        }
    }

    public var status: LocalizationError.Status? { statusCode.map { .http($0) } }
}

extension LocalizationError {
    /// Creates a session's error: its message is one line, its cause lists the problems of a catalogue or packet.
    package init(_ error: VenueRepositoryError) {
        let code: Code =
            switch error {
            case .badServer: .critical
            case .refused: .credential
            case .failed, .timedOut, .unreachable, .untrusted: .network
            case .brokenCatalogue, .brokenEntry, .brokenPacket, .unknownVenue, .storage, .cancelled: .generic
            }
        self.init(
            code: code, message: error.title, cause: Self.cause(error.problems), kind: error.kind, status: error.status)
    }

    /// Returns the problems in one line; nil if there are none.
    static func cause(_ problems: [VenueProblem]) -> String? {
        problems.isEmpty ? nil : problems.map(\.description).joined(separator: "; ")
    }
}
