import IndoorVocabulary

/// Downloads a file, as often as it takes: cut short, it goes on where it ended.
struct FileDownload: Sendable {
    let server: VenueServer
    let transport: any PacketTransport
    let retry: RetryPauses
    /// How often it is tried.
    let attempts: Int

    /// Downloads a file whose size and digest are known.
    ///
    /// - Parameters:
    ///   - unless: the file is not wanted if it is still this one.
    ///   - progress: called with the bytes that are there.
    func fetch(
        _ file: PublishedFile, into partial: PartialFile, unless: EntityTag? = nil,
        progress: @escaping @Sendable (Int) -> Void
    ) async throws(VenueRepositoryError) -> Outcome {
        let url = server.address(of: file.path)
        let outcome = try await retry.run(attempts: attempts) { () throws(VenueRepositoryError) in
            try await attempt(file, url, into: partial, unless: unless, progress)
        }
        guard case .fetched = outcome else { return outcome }
        let digest = try FileDigest.sha256(of: partial.path)
        guard digest == file.digest else {
            partial.remove()
            throw .broken(
                url, "$", "has the SHA-256 \(digest), not \(file.digest) as the catalogue says; publish it anew")
        }
        return outcome
    }

    /// What a request for a file came to.
    enum Outcome: Hashable, Sendable {
        /// It is there, with its tag if it has one.
        case fetched(EntityTag?)
        /// It is still the one that is not wanted.
        case unchanged
    }

    private func attempt(
        _ file: PublishedFile, _ url: String, into partial: PartialFile, unless: EntityTag?,
        _ progress: @escaping @Sendable (Int) -> Void
    ) async throws(VenueRepositoryError) -> Outcome {
        let start = try partial.start()
        // Whole already: only the end of an earlier process kept it from being used.
        if let start, start.offset == file.size { return .fetched(start.tag) }
        let body = BodyWriter(partial, url: url, start: start, limit: file.size, progress)
        let request = TransferRequest(url: url, unless: start == nil ? unless : nil, rest: start, size: file.size)
        let head: TransferHead
        do throws(TransferFailure) {
            head = try await transport.fetch(request) { body.take($0, $1) }
        } catch {
            if let failure = body.failure { throw failure }
            guard error == .stopped else { throw VenueRepositoryError(error, url: url) }
            partial.remove()
            throw .broken(url, "$", "has more than the \(file.size) bytes that the catalogue says; publish it anew")
        }
        switch head.status {
        case 304 where request.unless != nil: return .unchanged
        case 200, 206: break
        case 416 where request.rest != nil:
            // The server has nothing behind what is here: all of the file tells whether it is too short.
            try partial.begin(nil)
            return try await attempt(file, url, into: partial, unless: unless, progress)
        default: throw .status(head.status, of: server, url: url)
        }
        let size = try partial.size()
        if size == file.size { return .fetched(head.tag) }
        guard head.ends(at: size) else {
            throw .unreachable(url: url, reason: "it ended after \(size) of \(file.size) bytes")
        }
        partial.remove()
        throw .broken(url, "$", "has \(size) bytes, not \(file.size) as the catalogue says; publish it anew")
    }
}

/// Writes the body of an answer to a file, as it comes.
///
/// A class, as the transfer's thread calls it.
private final class BodyWriter: Sendable {
    private struct State: Sendable {
        var hasBegun = false
        var size: Int
        var failure: VenueRepositoryError?
    }

    private let partial: PartialFile
    private let url: String
    private let offset: Int?
    private let limit: Int
    private let progress: @Sendable (Int) -> Void
    private let state: Guarded<State>

    init(
        _ partial: PartialFile, url: String, start: TransferRequest.Rest?, limit: Int,
        _ progress: @escaping @Sendable (Int) -> Void
    ) {
        self.partial = partial
        self.url = url
        self.offset = start?.offset
        self.limit = limit
        self.progress = progress
        state = Guarded(State(size: start?.offset ?? 0))
    }

    /// What kept bytes from being written; nil if nothing did.
    var failure: VenueRepositoryError? { state.withLock { $0.failure } }

    /// Takes in the next bytes; whether to go on.
    func take(_ head: TransferHead, _ bytes: UnsafeRawBufferPointer) -> Bool {
        var state = state.withLock { $0 }
        do throws(VenueRepositoryError) {
            if !state.hasBegun {
                state.hasBegun = true
                if head.status != 206 || head.offset != offset {
                    // The whole file: it has changed, or the server knows no parts. A part nobody asked for is of no use.
                    guard head.status == 200 else {
                        throw .unreachable(url: url, reason: "the server sent another part than was asked for")
                    }
                    try partial.begin(head.tag)
                    state.size = 0
                }
            }
            state.size += bytes.count
            let isWithin = state.size <= limit
            if isWithin { try partial.append(bytes) }
            let known = state
            self.state.withLock { $0 = known }
            if isWithin { progress(state.size) }
            return isWithin
        } catch {
            let failure = error
            self.state.withLock { $0.failure = failure }
            return false
        }
    }
}
