/// A transport that fetches files from a server: libcurl, or a script in a test.
protocol PacketTransport: Sendable {
    /// Fetches a file with one attempt.
    ///
    /// - Parameter receive: called with the response's head and the next bytes of its body if the status is 200 or 206;
    ///   returns whether to continue.
    /// - Returns: the response's head, after the whole body if the status is 200 or 206, otherwise immediately.
    func fetch(
        _ request: TransferRequest, _ receive: @escaping @Sendable (TransferHead, UnsafeRawBufferPointer) -> Bool
    ) async throws(TransferFailure) -> TransferHead
}

/// A request for a file.
struct TransferRequest: Hashable, Sendable {
    /// The part of a file to fetch if the file hasn't changed.
    struct Rest: Hashable, Sendable {
        /// The first byte.
        var offset: Int
        /// The entity tag of the file that the earlier bytes are from.
        var tag: EntityTag
    }

    /// The file's URL.
    var url: String
    /// The file is fetched only if its entity tag differs from this one.
    var unless: EntityTag?
    /// Only the rest of the file is fetched.
    var rest: Rest?
    /// Whether the response may be compressed; the body is delivered uncompressed.
    var acceptsCompressed = false
    /// The size of the file in bytes according to the catalogue; nil if unknown.
    var size: Int?
    /// A document to send instead; then the response's head is the result, and redirects aren't followed.
    var post: Post?

    /// A document for a server.
    struct Post: Hashable, Sendable {
        var bytes: [UInt8]
        /// Header lines of the request, such as `Content-Type: application/json`.
        var headers: [String]
    }
}

/// The head of a response.
struct TransferHead: Hashable, Sendable {
    /// The status, such as 200.
    var status = 0
    /// The file's entity tag; nil if the server sends none.
    var tag: EntityTag?
    /// The first byte of a partial response.
    var offset: Int?
    /// The size of the whole file for a partial response, in bytes; nil if the server doesn't send it.
    var total: Int?
    /// Whether a truncated response can be detected, because its length or its end is marked (RFC 9112 6.3).
    var isDelimited = false

    /// Returns whether the file on the server ends at this size, after the last byte was received.
    func ends(at size: Int) -> Bool { status == 206 ? total == size : isDelimited }
}

/// An entity tag, which identifies one state of a file (RFC 9110 8.8.3), including its quotes.
struct EntityTag: Hashable, Sendable {
    let text: String

    /// Creates a tag from a header's value; nil if it cannot be sent back.
    init?(_ text: String) {
        let isTag = text.utf8.count <= 512 && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        guard isTag, text.hasSuffix("\""), text.hasPrefix("\"") || text.hasPrefix("W/\"") else { return nil }
        self.text = text
    }

    /// Whether equal tags mean equal bytes, so that parts of a file can be combined.
    var isStrong: Bool { text.hasPrefix("\"") }
}

/// The reason why a transfer didn't complete.
enum TransferFailure: Error, Hashable, Sendable {
    case cancelled
    case timedOut(String)
    /// The server could not be reached, or the connection was interrupted.
    case broken(String)
    case untrusted(String)
    /// The receiver stopped the transfer.
    case stopped
}

extension VenueRepositoryError {
    /// Creates the repository's error for a failed transfer.
    init(_ failure: TransferFailure, url: String) {
        switch failure {
        case .cancelled: self = .cancelled
        case .timedOut(let reason): self = .timedOut(url: url, reason: reason)
        case .broken(let reason): self = .unreachable(url: url, reason: reason)
        case .untrusted(let reason): self = .untrusted(url: url, reason: reason)
        case .stopped: self = .unreachable(url: url, reason: "the response is longer than expected")
        }
    }

    /// Returns the error for a status other than success.
    static func status(_ status: Int, of server: VenueServer, url: String) -> VenueRepositoryError {
        guard [401, 403].contains(status) else { return .failed(status: status, url: url) }
        return .refused(status: status, url: url, hadCredentials: server.credentials != nil)
    }
}
