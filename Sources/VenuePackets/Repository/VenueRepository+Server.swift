import FoundationEssentials
import IndoorLocalization

extension VenueRepository {
    /// Fetches the server's catalogue, or takes the stored one if that fails.
    ///
    /// - Parameter hasLocal: whether there are venues without it; then one attempt must do.
    /// - Returns: why the stored one was taken; it was reported.
    @discardableResult
    func loadCatalogue(hasLocal: Bool) async throws(VenueRepositoryError) -> VenueRepositoryError? {
        guard let server else { return nil }
        let stored = CachedCatalogue(of: server, in: cache)
        var storedEntries: [VenueID: CatalogueEntry]?
        if let stored {
            storedEntries = try? Self.entries(of: stored.document, url: server.url).entries
            entries = entries ?? storedEntries
        }
        let hasStored = storedEntries != nil
        do throws(VenueRepositoryError) {
            let attempts = hasStored || hasLocal ? 1 : server.patience.attempts
            guard let answer = try await fetchCatalogue(unless: hasStored ? stored?.tag : nil, attempts: attempts)
            else {
                entries = storedEntries
                return nil
            }
            let url = server.address(of: CatalogueDocument.fileName)
            let document = try Self.document(answer.bytes, url: url)
            let (known, problems) = try Self.entries(of: document, url: url)
            entries = known
            if !problems.isEmpty { report(.brokenCatalogue(url: url, problems: problems)) }
            do throws(VenueRepositoryError) {
                try CachedCatalogue(server: server.url, tag: answer.tag, document: document).store(in: cache)
            } catch {
                report(error)
            }
            return nil
        } catch {
            guard !error.isFinal, entries != nil else { throw error }
            report(error)
            return error
        }
    }

    /// The catalogue's bytes; nil if it is still the one with that tag.
    private func fetchCatalogue(
        unless tag: EntityTag?, attempts: Int
    ) async throws(VenueRepositoryError) -> (bytes: [UInt8], tag: EntityTag?)? {
        guard let server, let transport else { return nil }
        let url = server.address(of: CatalogueDocument.fileName)
        let request = TransferRequest(url: url, unless: tag, acceptsCompressed: true)
        return try await retry.run(attempts: attempts) {
            () throws(VenueRepositoryError) -> (bytes: [UInt8], tag: EntityTag?)? in
            let body = Guarded<[UInt8]>([])
            let head: TransferHead
            do throws(TransferFailure) {
                head = try await transport.fetch(request) { _, bytes in
                    let piece = [UInt8](bytes)
                    return body.withLock { body in
                        body += piece
                        return body.count <= CatalogueDocument.limit
                    }
                }
            } catch {
                guard error == .stopped else { throw VenueRepositoryError(error, url: url) }
                throw .brokenCatalogue(url: url, "has more than \(CatalogueDocument.limit) bytes; publish fewer venues")
            }
            switch head.status {
            case 200: return (body.withLock { $0 }, head.tag)
            case 304 where tag != nil: return nil
            default: throw .status(head.status, url: url)
            }
        }
    }

    private static func document(_ bytes: [UInt8], url: String) throws(VenueRepositoryError) -> JSONTree {
        do throws(JSONSyntaxError) {
            return try JSONTree(bytes)
        } catch {
            throw .brokenCatalogue(url: url, error.message)
        }
    }

    private static func entries(
        of document: JSONTree, url: String
    ) throws(VenueRepositoryError) -> (entries: [VenueID: CatalogueEntry], problems: [VenueProblem]) {
        var parser = VenueParser()
        guard let list = parser.catalogue(document) else {
            throw .brokenCatalogue(url: url, problems: parser.problems)
        }
        return (Dictionary(list.map { ($0.summary.id, $0) }) { first, _ in first }, parser.problems)
    }

    /// Fetches the server's version of a venue if it is newer than the stored one.
    ///
    /// - Returns: what was fetched and stored; nil to go on with what was stored before.
    func fetchNewer(
        than stored: StoredVersion?, of id: VenueID, _ progress: MonotoneProgress
    ) async throws(VenueRepositoryError) -> StoredVersion? {
        if stored == nil, entries?[id] == nil {
            let failure = try await loadCatalogue(hasLocal: false)
            // The server may have it by now: that it could not be asked is why there is no packet.
            if let failure, entries?[id] == nil { throw failure }
        }
        guard let entry = newerEntry(than: stored, of: id) else { return nil }
        do throws(VenueRepositoryError) {
            return try await fetch(entry, over: stored, progress)
        } catch .failed(status: 404, url: let url) {
            // The packet may have been replaced since the catalogue was fetched.
            try await loadCatalogue(hasLocal: stored != nil)
            guard let now = newerEntry(than: stored, of: id), now != entry else {
                return try keep(stored, despite: .failed(status: 404, url: url))
            }
            do throws(VenueRepositoryError) {
                return try await fetch(now, over: stored, progress)
            } catch {
                return try keep(stored, despite: error)
            }
        } catch {
            return try keep(stored, despite: error)
        }
    }

    private func newerEntry(than stored: StoredVersion?, of id: VenueID) -> CatalogueEntry? {
        guard let entry = entries?[id], entry.summary.version > stored?.version ?? .min else { return nil }
        return entry
    }

    /// Goes on with what is stored, and reports the error; throws it if nothing is stored or it forbids that.
    private func keep(
        _ stored: StoredVersion?, despite error: VenueRepositoryError
    ) throws(VenueRepositoryError) -> StoredVersion? {
        guard stored != nil, !error.isFinal else { throw error }
        report(error)
        return nil
    }

    private func fetch(
        _ entry: CatalogueEntry, over stored: StoredVersion?, _ progress: MonotoneProgress
    ) async throws(VenueRepositoryError) -> StoredVersion? {
        guard let server, let transport else { return nil }
        let attempts = stored == nil ? server.patience.attempts : 1
        let download = FileDownload(server: server, transport: transport, retry: retry, attempts: attempts)
        return try await VenueDownload(entry: entry, stored: stored, download: download, cache: cache).run(progress)
    }
}

extension VenueRepositoryError {
    /// One thing that is wrong with a catalogue as a whole.
    fileprivate static func brokenCatalogue(url: String, _ message: String) -> VenueRepositoryError {
        .brokenCatalogue(url: url, problems: [VenueProblem(severity: .error, path: "$", message: message)])
    }
}
