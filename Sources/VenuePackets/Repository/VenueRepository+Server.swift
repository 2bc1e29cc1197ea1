import FoundationEssentials
import IndoorVocabulary
import TextFormats
import VenueModel

// The requests for the catalogue and for packets.
extension VenueRepository {
    /// Loads the stored catalogue of the server, unless one is already loaded.
    func recallCatalogue() {
        guard let server, catalogueContent == nil, let stored = CachedCatalogue(of: server, in: cache) else { return }
        catalogueContent = try? Self.content(
            of: stored.document, url: server.address(of: VenueServer.catalogueFile))
    }

    /// Downloads the server's catalogue, or uses the stored one if that fails; reports the problems of its entries.
    ///
    /// - Parameter hasLocal: whether venues are known without the catalogue; then only one attempt is made.
    /// - Returns: the reason why the stored catalogue is used, which isn't reported yet.
    func loadCatalogue(hasLocal: Bool) async throws(VenueRepositoryError) -> VenueRepositoryError? {
        guard let server else { return nil }
        let url = server.address(of: VenueServer.catalogueFile)
        catalogueRequestedAt = clock.elapsed()
        recallCatalogue()
        let stored = CachedCatalogue(of: server, in: cache)
        let storedContent = stored.flatMap { try? Self.content(of: $0.document, url: url) }
        let hasStored = storedContent != nil
        do throws(VenueRepositoryError) {
            let attempts = hasStored || hasLocal ? 1 : server.patience.attempts
            guard let answer = try await fetchCatalogue(unless: hasStored ? stored?.tag : nil, attempts: attempts)
            else {
                catalogueContent = storedContent
                reportEntries(of: url)
                return nil
            }
            let document = try Self.document(answer.bytes, url: url)
            catalogueContent = try Self.content(of: document, url: url)
            reportEntries(of: url)
            do throws(FileSystemError) {
                try CachedCatalogue(server: server.url, tag: answer.tag, document: document).store(in: cache)
            } catch {
                report(VenueRepositoryError(error))
            }
            return nil
        } catch {
            guard !error.isFinal, catalogueContent != nil else { throw error }
            reportEntries(of: url)
            return error
        }
    }

    /// Reports the problems of the catalogue's entries, unless they were reported since the last call of `catalogue()`.
    private func reportEntries(of url: String) {
        let problems = catalogueContent?.problems ?? []
        guard problems != reportedProblems else { return }
        reportedProblems = problems
        guard let cause = LocalizationError.cause(problems) else { return }
        let message = "\(url) has errors, and entries with an error are ignored; correct them there"
        report(LocalizationError(code: .generic, message: message, cause: cause, kind: .badResponse))
    }

    /// Downloads the catalogue; returns nil if it still has the given entity tag.
    private func fetchCatalogue(
        unless tag: EntityTag?, attempts: Int
    ) async throws(VenueRepositoryError) -> (bytes: [UInt8], tag: EntityTag?)? {
        guard let server, let transport else { return nil }
        let url = server.address(of: VenueServer.catalogueFile)
        let request = TransferRequest(url: url, unless: tag, acceptsCompressed: true)
        return try await retry.run(attempts: attempts) {
            () throws(VenueRepositoryError) -> (bytes: [UInt8], tag: EntityTag?)? in
            let (head, bytes): (TransferHead, [UInt8])
            do throws(TransferFailure) {
                (head, bytes) = try await transport.content(of: request, limit: CatalogueDocument.limit)
            } catch {
                guard error == .stopped else { throw VenueRepositoryError(error, url: url) }
                throw .brokenCatalogue(url: url, "has more than \(CatalogueDocument.limit) bytes; publish fewer venues")
            }
            switch head.status {
            case 200: return (bytes, head.tag)
            case 304 where tag != nil: return nil
            default: throw .status(head.status, of: server, url: url)
            }
        }
    }

    private static func document(_ bytes: [UInt8], url: String) throws(VenueRepositoryError) -> JSONTree {
        do throws(JSONDocumentError) {
            return try JSONTree(bytes)
        } catch {
            throw .brokenCatalogue(url: url, error.message)
        }
    }

    private static func content(
        of document: JSONTree, url: String
    ) throws(VenueRepositoryError) -> CatalogueContent {
        var parser = VenueParser()
        guard let content = parser.catalogue(document) else {
            throw .brokenCatalogue(url: url, problems: parser.problems)
        }
        return content
    }

    /// The venues whose entries in the server's catalogue have errors.
    package var venuesWithBrokenEntries: Set<VenueID> { Set((catalogueContent?.broken ?? [:]).keys) }

    /// Downloads the server's version of a venue if it is newer than the stored one.
    ///
    /// - Returns: the version that was downloaded and stored; nil to continue with the stored one.
    func fetchNewer(
        than stored: StoredVersion?, of id: VenueID, _ progress: MonotonicProgress
    ) async throws(VenueRepositoryError) -> StoredVersion? {
        if stored == nil, entries?[id] == nil {
            let failure = try await loadCatalogue(hasLocal: false)
            // The venue may be new on the server, so the failed request is the reason why there is no packet.
            if let failure, entries?[id] == nil { throw failure }
            if let failure { report(failure, goingOnWith: "the stored catalogue") }
            if entries?[id] == nil, let server, let problems = catalogueContent?.broken[id] {
                throw .brokenEntry(id, url: server.address(of: VenueServer.catalogueFile), problems: problems)
            }
        }
        guard let entry = newerEntry(than: stored, of: id) else { return nil }
        // A corrected version arrives with the next catalogue, which sessions request in the background.
        if let stored, let known = rejection(of: entry) { return try keep(stored, despite: known.error) }
        do throws(VenueRepositoryError) {
            return try await fetch(entry, over: stored, progress)
        } catch {
            guard error.mayMeanOldCatalogue else { return try keep(stored, despite: error) }
            // The packet may have been replaced or corrected since the catalogue was downloaded.
            if let failure = try await loadCatalogue(hasLocal: stored != nil) {
                report(failure, goingOnWith: "the stored catalogue")
            }
            guard let now = newerEntry(than: stored, of: id), now != entry else {
                return try keep(stored, despite: error)
            }
            do throws(VenueRepositoryError) {
                return try await fetch(now, over: stored, progress)
            } catch {
                return try keep(stored, despite: error)
            }
        }
    }

    func newerEntry(than stored: StoredVersion?, of id: VenueID) -> CatalogueEntry? {
        guard let entry = entries?[id], entry.summary.version > stored?.version ?? .min else { return nil }
        return entry
    }

    /// Reports the error and continues with the stored version; throws the error if it is final or nothing is stored.
    private func keep(
        _ stored: StoredVersion?, despite error: VenueRepositoryError
    ) throws(VenueRepositoryError) -> StoredVersion? {
        guard let stored, !error.isFinal else { throw error }
        report(error, goingOnWith: "stored version \(stored.version)")
        return nil
    }

    private func fetch(
        _ entry: CatalogueEntry, over stored: StoredVersion?, _ progress: MonotonicProgress
    ) async throws(VenueRepositoryError) -> StoredVersion? {
        guard let server, let transport else { return nil }
        let id = entry.summary.id
        if let known = rejection(of: entry) { throw known.error }
        let attempts = stored == nil ? server.patience.attempts : 1
        let download = FileDownload(server: server, transport: transport, retry: retry, attempts: attempts)
        do throws(VenueRepositoryError) {
            let version = try await VenueDownload(entry: entry, stored: stored, download: download, cache: cache)
                .run(progress)
            rejected[id] = nil
            return version
        } catch {
            if case .brokenPacket = error {
                rejected[id] = RejectedVersion(of: entry, error: error, at: clock.elapsed(), after: rejected[id])
            }
            throw error
        }
    }

    /// Returns what is known of a version that cannot be used; nil if it is to be downloaded.
    private func rejection(of entry: CatalogueEntry) -> RejectedVersion? {
        rejected[entry.summary.id].flatMap { $0.applies(to: entry, at: clock.elapsed()) ? $0 : nil }
    }
}

/// A version on the server that cannot be used, so that the same files aren't downloaded again and again.
struct RejectedVersion: Sendable {
    /// The time after which the files are downloaded again, because they may have been corrected in place: the first one,
    /// which doubles with each further download of the same files, and the longest one.
    private static let (firstLifetime, longestLifetime) = (Duration.seconds(10 * 60), Duration.seconds(86_400))

    private let entry: CatalogueEntry
    let error: VenueRepositoryError
    /// The clock's time of the download.
    private let since: Duration
    private let lifetime: Duration

    /// Creates the record of a download.
    ///
    /// - Parameter earlier: the latest rejected version of the venue.
    init(of entry: CatalogueEntry, error: VenueRepositoryError, at now: Duration, after earlier: Self?) {
        (self.entry, self.error, since) = (entry, error, now)
        let isKnown = earlier?.hasFiles(of: entry) ?? false
        lifetime = isKnown ? min((earlier?.lifetime ?? .zero) * 2, Self.longestLifetime) : Self.firstLifetime
    }

    private func hasFiles(of other: CatalogueEntry) -> Bool {
        entry.packet == other.packet && entry.files == other.files
    }

    /// Returns whether an entry of the catalogue has the same files, and they were downloaded recently.
    func applies(to other: CatalogueEntry, at now: Duration) -> Bool {
        hasFiles(of: other) && now - since < lifetime
    }
}

extension VenueRepositoryError {
    /// Whether a failed download may be due to an old catalogue: the server has replaced, removed or corrected the file.
    fileprivate var mayMeanOldCatalogue: Bool {
        switch self {
        case .failed(let status, _): [403, 404, 410].contains(status)
        case .brokenPacket: true
        case .badServer, .refused, .timedOut, .unreachable, .untrusted, .brokenCatalogue, .brokenEntry, .unknownVenue,
            .storage, .cancelled:
            false
        }
    }

    /// Returns the error for one problem of the whole catalogue.
    fileprivate static func brokenCatalogue(url: String, _ message: String) -> VenueRepositoryError {
        .brokenCatalogue(url: url, problems: [VenueProblem(severity: .error, path: "$", message: message)])
    }
}
