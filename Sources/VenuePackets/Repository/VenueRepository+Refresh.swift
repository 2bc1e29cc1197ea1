import IndoorVocabulary
import VenueModel

// What is stored answers at once, or nearly: the server's answer may come behind it.
extension VenueRepository {
    /// Why the stored catalogue still counts, nil if the server's does; or why there is no answer from it.
    typealias RefreshOutcome = Result<VenueRepositoryError?, VenueRepositoryError>
    /// What was fetched and stored, nil if nothing was; or why what is stored must not be used.
    typealias FetchOutcome = Result<StoredVersion?, VenueRepositoryError>

    /// Makes the server's catalogue known, or goes on with what is stored once the grace is over.
    ///
    /// - Parameter hasLocal: whether there are venues without it.
    func refreshCatalogue(hasLocal: Bool) async throws(VenueRepositoryError) {
        guard let server else { return }
        // A server that is late already is not waited for again.
        guard refresh == nil else { return }
        reportedProblems = []
        recallCatalogue()
        guard hasLocal || catalogueContent != nil else {
            if let failure = try await loadCatalogue(hasLocal: false) {
                report(failure, goingOnWith: "the stored catalogue")
            }
            return
        }
        let task = Task { await runRefresh(hasLocal: hasLocal) }
        (refresh, isRefreshAwaited) = (task, true)
        let outcome = await outcome(of: task, within: server.patience.grace)
        isRefreshAwaited = false
        if Task.isCancelled {
            task.cancel()
            throw .cancelled
        }
        if let outcome { return try tell(outcome) }
        // It may have come to its end at this very moment.
        guard refresh != nil else { return try tell(await task.value) }
        report(
            .late(server.address(of: CatalogueDocument.fileName), after: server.patience.grace),
            goingOnWith: "what is stored; the server's catalogue counts as soon as it is there")
    }

    private func runRefresh(hasLocal: Bool) async -> RefreshOutcome {
        let outcome: RefreshOutcome
        do throws(VenueRepositoryError) { outcome = .success(try await loadCatalogue(hasLocal: hasLocal)) } catch {
            outcome = .failure(error)
        }
        let local = await localSummaries()
        refresh = nil
        if case .success(nil) = outcome {
            updateBroadcast.send(.catalogue(summaries(beside: local)))
            // Of what was handed out before the catalogue came, a newer version is fetched behind it.
            if !isRefreshAwaited { for stored in versionsInUse { fetchBehind(stored) } }
        }
        if !isRefreshAwaited {
            do throws(VenueRepositoryError) { try tell(outcome) } catch { report(error) }
        }
        return outcome
    }

    /// Reports why the server's catalogue is not there; throws it if it forbids to go on without.
    private func tell(_ outcome: RefreshOutcome) throws(VenueRepositoryError) {
        switch outcome {
        case .success(nil): break
        case .success(let failure?): report(failure, goingOnWith: "the stored catalogue")
        case .failure(let error) where error.isFinal: throw error
        case .failure(let error): report(error, goingOnWith: "the stored venues")
        }
    }

    /// The venues of the server's catalogue, and those that are stored; of each the newest version.
    func summaries(beside local: [VenueID: VenueSummary]) -> [VenueSummary] {
        var summaries = local
        for entry in (entries ?? [:]).values {
            let known = summaries[entry.summary.id]
            if known.map({ entry.summary.version > $0.version }) ?? true { summaries[entry.summary.id] = entry.summary }
        }
        return summaries.values.sorted { $0.id < $1.id }
    }

    /// The server's version of a venue, if it is newer than the stored one and there before the grace is over.
    func newerVersion(
        than stored: StoredVersion?, of id: VenueID, _ progress: MonotoneProgress
    ) async throws(VenueRepositoryError) -> StoredVersion? {
        guard let stored else {
            if let fetch = fetches[id], case .success(let fetched?) = await fetch.value { return fetched }
            return try await fetchNewer(than: nil, of: id, progress)
        }
        guard let server, let task = fetchBehind(stored, progress) else { return nil }
        awaitedFetches.insert(id)
        let isServerLate = refresh != nil
        let outcome = await outcome(of: task, within: isServerLate ? .zero : server.patience.grace)
        awaitedFetches.remove(id)
        if Task.isCancelled {
            task.cancel()
            throw .cancelled
        }
        if let outcome { return try outcome.get() }
        guard fetches[id] != nil else { return try await task.value.get() }
        if let entry = newerEntry(than: stored, of: id) {
            report(
                .late(server.address(of: entry.packet.path), after: server.patience.grace),
                goingOnWith: "stored version \(stored.version); version \(entry.summary.version) is fetched behind it")
        }
        return nil
    }

    /// Begins to fetch a newer version than the stored one; nil if there is none, or if it is being fetched already.
    @discardableResult private func fetchBehind(
        _ stored: StoredVersion, _ progress: MonotoneProgress = MonotoneProgress { _ in }
    ) -> Task<FetchOutcome, Never>? {
        let id = stored.id
        guard fetches[id] == nil, newerEntry(than: stored, of: id) != nil else { return nil }
        let task = Task { await runFetch(over: stored, progress) }
        fetches[id] = task
        return task
    }

    private func runFetch(over stored: StoredVersion, _ progress: MonotoneProgress) async -> FetchOutcome {
        let outcome: FetchOutcome
        do throws(VenueRepositoryError) {
            outcome = .success(try await fetchNewer(than: stored, of: stored.id, progress))
        } catch {
            outcome = .failure(error)
        }
        fetches[stored.id] = nil
        guard !awaitedFetches.contains(stored.id) else { return outcome }
        do throws(VenueRepositoryError) {
            if let fetched = try outcome.get() { updateBroadcast.send(.packet(try await Self.read(fetched))) }
        } catch {
            report(error)
        }
        return outcome
    }

    /// What a task comes to; nil if that takes longer than the grace, or if the caller was cancelled.
    private func outcome<Outcome: Sendable>(
        of task: Task<Outcome, Never>, within grace: Duration
    ) async -> Outcome? {
        guard grace > .zero else { return nil }
        let (outcomes, teller) = AsyncStream.makeStream(of: Outcome.self)
        let waiting = Task {
            teller.yield(await task.value)
            teller.finish()
        }
        let timing = Task { [retry] in
            do { try await retry.sleep(grace) } catch { return }
            teller.finish()
        }
        defer {
            waiting.cancel()
            timing.cancel()
        }
        for await outcome in outcomes { return outcome }
        return nil
    }

    /// Ends what is still being fetched behind answers that were given: for a program that ends.
    package func endRefreshing() {
        refresh?.cancel()
        fetches.values.forEach { $0.cancel() }
    }
}

extension VenueRepositoryError {
    /// The server takes longer than what is stored can wait.
    fileprivate static func late(_ url: String, after grace: Duration) -> VenueRepositoryError {
        .timedOut(url: url, reason: "it has not come within \(grace.seconds) s")
    }
}
