import IndoorVocabulary

/// Downloads a file with retries; an interrupted download resumes where it ended.
struct FileDownload: Sendable {
    let server: VenueServer
    let transport: any PacketTransport
    let retry: RetryPauses
    /// The number of attempts.
    let attempts: Int

    /// Downloads a file whose size and digest are known.
    ///
    /// - Parameters:
    ///   - unless: the file is downloaded only if its entity tag differs from this one.
    ///   - progress: called with the number of bytes so far.
    func fetch(
        _ file: PublishedFile, into partial: PartialFile, unless: EntityTag? = nil,
        progress: @escaping @Sendable (Int) -> Void
    ) async throws(VenueRepositoryError) -> Outcome {
        let url = server.address(of: file.path)
        let outcome: Outcome
        do throws(VenueRepositoryError) {
            outcome = try await retry.run(attempts: attempts) { () throws(VenueRepositoryError) in
                try await attempt(file, url, into: partial, unless: unless, progress)
            }
        } catch {
            // Removed explicitly, because the transfer's thread may still hold the file for a moment.
            partial.removeUnlessResumable()
            throw error
        }
        guard case .fetched = outcome else { return outcome }
        let digest = try VenueRepositoryError.storing { () throws(FileSystemError) in
            try FileDigest.sha256(of: partial.path)
        }
        guard digest == file.digest else {
            partial.remove()
            throw .broken(
                url, "$", "has the SHA-256 \(digest), not \(file.digest) as in the catalogue; publish it again")
        }
        return outcome
    }

    /// The result of a download.
    enum Outcome: Hashable, Sendable {
        /// The file is complete, with its entity tag if it has one.
        case fetched(EntityTag?)
        /// The file still has the entity tag of `unless`.
        case unchanged
    }

    private func attempt(
        _ file: PublishedFile, _ url: String, into partial: PartialFile, unless: EntityTag?,
        _ progress: @escaping @Sendable (Int) -> Void
    ) async throws(VenueRepositoryError) -> Outcome {
        let start = try VenueRepositoryError.storing(partial.start)
        // The file is already complete: an earlier process ended before it used the file.
        if let start, start.offset == file.size { return .fetched(start.tag) }
        let body = BodyWriter(partial, url: url, start: start, limit: file.size, progress)
        let request = TransferRequest(url: url, unless: start == nil ? unless : nil, rest: start, size: file.size)
        let head: TransferHead
        do throws(TransferFailure) {
            head = try await transport.fetch(request) { body.write($0, $1) }
        } catch {
            if let failure = body.failure { throw failure }
            guard error == .stopped else { throw VenueRepositoryError(error, url: url) }
            partial.remove()
            throw .broken(url, "$", "has more than the \(file.size) bytes given in the catalogue; publish it again")
        }
        switch head.status {
        case 304 where request.unless != nil: return .unchanged
        case 200, 206: break
        case 416 where request.rest != nil:
            // The server has no bytes after the local ones: only the whole file shows whether the local one is too
            // short.
            try VenueRepositoryError.storing { () throws(FileSystemError) in try partial.begin(nil) }
            return try await attempt(file, url, into: partial, unless: unless, progress)
        default: throw .status(head.status, of: server, url: url)
        }
        let size = try VenueRepositoryError.storing(partial.size)
        if size == file.size { return .fetched(head.tag) }
        guard head.ends(at: size) else {
            throw .unreachable(url: url, reason: "the response ended after \(size) of \(file.size) bytes")
        }
        partial.remove()
        throw .broken(url, "$", "has \(size) bytes, not \(file.size) as in the catalogue; publish it again")
    }
}

/// Writes the body of a response to a file while it arrives.
///
/// A class because the transfer's thread calls it.
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

    /// The error that prevented a write; nil if there is none.
    var failure: VenueRepositoryError? { state.withLock { $0.failure } }

    /// Writes the next bytes; returns whether to continue.
    func write(_ head: TransferHead, _ bytes: UnsafeRawBufferPointer) -> Bool {
        var state = state.withLock { $0 }
        do throws(VenueRepositoryError) {
            if !state.hasBegun {
                state.hasBegun = true
                if head.status != 206 || head.offset != offset {
                    // Status 200 sends the whole file: the file has changed, or the server doesn't support ranges. Any
                    // other range isn't usable.
                    guard head.status == 200 else {
                        throw .unreachable(url: url, reason: "the server sent a range that was not requested")
                    }
                    try VenueRepositoryError.storing { () throws(FileSystemError) in try partial.begin(head.tag) }
                    state.size = 0
                }
            }
            state.size += bytes.count
            let isWithin = state.size <= limit
            if isWithin {
                try VenueRepositoryError.storing { () throws(FileSystemError) in try partial.append(bytes) }
            }
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
