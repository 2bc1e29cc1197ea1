/// What fetches files from a server: libcurl, or a script in a test.
protocol PacketTransport: Sendable {
    /// Fetches one file, once.
    ///
    /// - Parameter receive: called with the answer's head and the next bytes of its body, if the answer has status 200 or
    ///   206; whether to go on.
    /// - Returns: the answer's head: of status 200 or 206 after all of its body, of another one at once.
    func fetch(
        _ request: TransferRequest, _ receive: @escaping @Sendable (TransferHead, UnsafeRawBufferPointer) -> Bool
    ) async throws(TransferFailure) -> TransferHead
}

/// A request for a file.
struct TransferRequest: Hashable, Sendable {
    /// The part of a file that is wanted, if it is still the same file.
    struct Rest: Hashable, Sendable {
        /// The first byte.
        var offset: Int
        /// The tag of the file that the bytes before are of.
        var tag: EntityTag
    }

    /// The file's address.
    var url: String
    /// The file is wanted only if it is not this one.
    var unless: EntityTag?
    /// Only the rest of the file is wanted.
    var rest: Rest?
    /// Whether it may come compressed; it is delivered uncompressed.
    var acceptsCompressed = false
    /// Bytes of the file, as the catalogue says; nil if unknown.
    var size: Int?
    /// A document that is brought instead; then the answer's head is all that is wanted, and no redirect is followed.
    var post: Post?

    /// A document for a server.
    struct Post: Hashable, Sendable {
        var bytes: [UInt8]
        /// Lines of the request's head, such as `Content-Type: application/json`.
        var headers: [String]
    }
}

/// What an answer says before its body.
struct TransferHead: Hashable, Sendable {
    /// The status, such as 200.
    var status = 0
    /// The file's tag; nil if the server has none.
    var tag: EntityTag?
    /// The first byte that is sent, of a part.
    var offset: Int?
    /// Bytes of the whole file, of a part; nil if the server does not tell.
    var total: Int?
    /// Whether an answer that was cut would be told from a whole one: its length or its end is marked (RFC 9112 6.3).
    var isDelimited = false

    /// Whether the file on the server has that many bytes, of which the last one has just come.
    func ends(at size: Int) -> Bool { status == 206 ? total == size : isDelimited }
}

/// What a server calls one state of a file (RFC 9110 8.8.3), quotes included.
struct EntityTag: Hashable, Sendable {
    let text: String

    /// Takes a header's value; nil for what cannot be sent back.
    init?(_ text: String) {
        let isTag = text.utf8.count <= 512 && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        guard isTag, text.hasSuffix("\""), text.hasPrefix("\"") || text.hasPrefix("W/\"") else { return nil }
        self.text = text
    }

    /// Whether equal tags mean equal bytes: only then parts of a file fit together.
    var isStrong: Bool { text.hasPrefix("\"") }
}

/// Why a transfer did not come to its end.
enum TransferFailure: Error, Hashable, Sendable {
    case cancelled
    case timedOut(String)
    /// The server could not be reached, or the connection ended in the middle.
    case broken(String)
    case untrusted(String)
    /// The receiver wanted no more.
    case stopped
}

extension VenueRepositoryError {
    /// What a transfer's failure means for who asked for the file.
    init(_ failure: TransferFailure, url: String) {
        switch failure {
        case .cancelled: self = .cancelled
        case .timedOut(let reason): self = .timedOut(url: url, reason: reason)
        case .broken(let reason): self = .unreachable(url: url, reason: reason)
        case .untrusted(let reason): self = .untrusted(url: url, reason: reason)
        case .stopped: self = .unreachable(url: url, reason: "the answer is longer than it should be")
        }
    }

    /// The error of a status that is no success.
    static func status(_ status: Int, of server: VenueServer, url: String) -> VenueRepositoryError {
        guard [401, 403].contains(status) else { return .failed(status: status, url: url) }
        return .refused(status: status, url: url, hadCredentials: server.credentials != nil)
    }
}
