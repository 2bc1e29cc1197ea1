import IndoorVocabulary

/// Why a repository has no packet or no catalogue.
///
/// Addresses in it never hold credentials.
public enum VenueRepositoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The server's address, credentials or certificate cannot be used; what to change.
    case badServer(String)
    /// The server refused the credentials, or wants some: status 401 or 403; whether some were given.
    case refused(status: Int, url: String, hadCredentials: Bool)
    /// The server answered with a status that is no success.
    case failed(status: Int, url: String)
    /// No answer, or nothing more of it, came in time.
    case timedOut(url: String, reason: String)
    /// The server could not be reached, or the connection ended in the middle.
    case unreachable(url: String, reason: String)
    /// The server's TLS certificate is not trusted.
    case untrusted(url: String, reason: String)
    /// The catalogue cannot be used, with all that is wrong with it.
    case brokenCatalogue(url: String, problems: [VenueProblem])
    /// What the catalogue says of that venue cannot be used, with all that is wrong with it.
    case brokenEntry(VenueID, url: String, problems: [VenueProblem])
    /// A packet cannot be used, with all that is wrong with it.
    case brokenPacket(source: String, problems: [VenueProblem])
    /// Neither the cache nor the server, if there is one, has that venue.
    case unknownVenue(VenueID)
    /// A file or folder of this machine cannot be read or written.
    case storage(path: String, reason: String)
    /// The task was cancelled.
    case cancelled

    /// The status with which the server refused; nil if there was none.
    public var statusCode: Int? {
        switch self {
        case .refused(let status, _, _), .failed(let status, _): status
        case .badServer, .timedOut, .unreachable, .untrusted, .brokenCatalogue, .brokenEntry, .brokenPacket,
            .unknownVenue, .storage, .cancelled:
            nil
        }
    }

    /// What is wrong with the catalogue or packet; empty if it is something else.
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

    /// What went wrong, in one line, without the list of what is wrong with a catalogue or packet.
    var title: String {
        switch self {
        case .badServer(let message): message
        case .refused(let status, let url, hadCredentials: true):
            "the venue server refused the credentials (status \(status) for \(url)); correct the token or password"
        case .refused(let status, let url, hadCredentials: false):
            "the venue server refused \(url) (status \(status)), and no credentials were given; give a token, or user "
                + "and password"
        case .failed(404, let url) where url.hasSuffix("/" + CatalogueDocument.fileName):
            "the venue server has no \(url) (status 404); is the server's address right? It is that of the folder with "
                + CatalogueDocument.fileName
        case .failed(let status, let url): "the venue server answered with status \(status) for \(url)"
        case .timedOut(let url, let reason): "the venue server did not send \(url) in time: \(reason)"
        case .unreachable(let url, let reason): "\(url) cannot be fetched: \(reason)"
        case .untrusted(let url, let reason):
            "the venue server of \(url) is not trusted: \(reason)"
        case .brokenCatalogue(let url, _): "\(url) is not a usable catalogue"
        case .brokenEntry(let id, let url, _): "venue \(id) cannot be fetched, as its entry in \(url) cannot be used"
        case .brokenPacket(let source, _): "\(source) is not a usable venue packet"
        case .unknownVenue(let id):
            "there is no packet of venue \(id) in the cache, among the bundled packets or in the server's catalogue"
        case .storage(let path, let reason): "\(path): \(reason)"
        case .cancelled: "the request was cancelled"
        }
    }

    /// Whether the same request may succeed a little later.
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

    /// Whether what is stored already must not take the place of what was asked for.
    var isFinal: Bool {
        switch self {
        case .refused, .badServer, .cancelled: true
        case .failed, .timedOut, .unreachable, .untrusted, .brokenCatalogue, .brokenEntry, .brokenPacket, .unknownVenue,
            .storage:
            false
        }
    }
}

extension VenueRepositoryError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch self {
        case .badServer: .badRequest
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
    /// What a repository's error means for a session: its message is one line, its cause all that is wrong with a catalogue
    /// or packet.
    public init(_ error: VenueRepositoryError) {
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

    /// The problems in one line; nil for none.
    static func cause(_ problems: [VenueProblem]) -> String? {
        problems.isEmpty ? nil : problems.map(\.description).joined(separator: "; ")
    }
}
