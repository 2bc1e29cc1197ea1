import VenuePackets

/// Why a batch was not taken.
public struct UploadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is, which decides what becomes of the batch.
    public enum Kind: Hashable, Sendable {
        /// The server could not be reached, did not answer, or could not do it now: it is tried again, with growing pauses.
        case unreachable
        /// The server does not let this device in, or has nothing at that address: it is tried again at the interval.
        case refused
        /// The batch is too large for the server: it is sent in halves.
        case tooLarge
        /// The server will never take the batch: it is discarded, and counted.
        case rejected
        /// The queue cannot be read or written: it is tried again, with growing pauses.
        case queue
    }

    /// What kind of failure it is.
    public var kind: Kind
    /// The server's HTTP status; nil if it gave none.
    public var status: Int?
    /// What is wrong, where, and what to do.
    public var description: String

    /// Creates an error.
    public init(_ kind: Kind, status: Int? = nil, _ description: String) {
        self.kind = kind
        self.status = status
        self.description = description
    }
}

extension UploadError {
    /// What a failed request means for the batch that it carried.
    init(_ error: VenueRepositoryError) {
        let kind: Kind =
            switch error {
            case .failed(413, _): .tooLarge
            case .failed(let status, _) where [400, 415, 422].contains(status): .rejected
            // Time-out of the request, too many requests, and what is wrong with the server.
            case .failed(let status, _) where [408, 425, 429].contains(status) || status >= 500: .unreachable
            case .failed, .refused, .badServer, .untrusted: .refused
            default: .unreachable
            }
        self.init(kind, status: error.statusCode, "\(error)")
    }
}
