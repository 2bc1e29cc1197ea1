import VenuePackets

/// The reason a batch was not confirmed.
public struct UploadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, which determines what happens to the batch.
    public enum Kind: Hashable, Sendable {
        /// The server was unreachable, did not answer, or was temporarily unable to accept the batch.
        ///
        /// The uploader tries again, with growing pauses.
        case unreachable
        /// The server denied access to this device, or has no resource at that address.
        ///
        /// The uploader tries again after the interval of its settings.
        case refused
        /// The batch is too large for the server; the uploader sends it in halves.
        case tooLarge
        /// The server will never accept the batch; the uploader discards and counts it.
        case rejected
        /// The queue cannot be read or written; the uploader tries again, with growing pauses.
        case queue
    }

    /// The kind of failure.
    public var kind: Kind
    /// The server's HTTP status; nil if there was none.
    public var status: Int?
    /// The problem, its place and the remedy.
    public var description: String

    /// Creates an error.
    package init(_ kind: Kind, status: Int? = nil, _ description: String) {
        self.kind = kind
        self.status = status
        self.description = description
    }
}

extension UploadError {
    /// Creates the upload error for a failed request.
    init(_ error: VenueRepositoryError) {
        let kind: Kind =
            switch error {
            case .failed(413, _): .tooLarge
            case .failed(let status, _) where [400, 415, 422].contains(status): .rejected
            // Request time-out, too many requests, and errors of the server itself.
            case .failed(let status, _) where [408, 425, 429].contains(status) || status >= 500: .unreachable
            case .failed, .refused, .badServer, .untrusted: .refused
            default: .unreachable
            }
        self.init(kind, status: error.statusCode, "\(error)")
    }
}
