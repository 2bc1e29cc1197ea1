import IndoorVocabulary
import VenueModel

// Requests that continue in the background: stored content is returned immediately, or after a short wait for the
// server.
extension VenueRepository {
    /// Success: nil if the server's catalogue is in use, or the reason why the stored catalogue is used instead.
    /// Failure: there is no catalogue.
    typealias RefreshOutcome = Result<VenueRepositoryError?, VenueRepositoryError>
    /// Success: the version that was downloaded and stored, or nil. Failure: the reason why the stored version isn't
    /// usable.
    typealias FetchOutcome = Result<StoredVersion?, VenueRepositoryError>

    /// Loads the server's catalogue, or continues with stored content after the grace period.
    ///
    /// - Parameter hasLocal: whether venues are known without the catalogue.
    func refreshCatalogue(hasLocal: Bool) async throws(VenueRepositoryError) {
        guard let server else { return }
        // A request that is already late isn't awaited again.
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
        if let outcome { return try reportFailure(of: outcome) }
        // The request may have completed at the same moment.
        guard refresh != nil else { return try reportFailure(of: await task.value) }
        report(
            .late(server.address(of: VenueServer.catalogueFile), after: server.patience.grace),
            goingOnWith: "what is stored; the server's catalogue is used as soon as it arrives")
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
            // Newer versions of the venues that were returned before the catalogue arrived are downloaded in the
            // background.
            if !isRefreshAwaited { for stored in versionsInUse { fetchBehind(stored) } }
        }
        if !isRefreshAwaited {
            do throws(VenueRepositoryError) { try reportFailure(of: outcome) } catch { report(error) }
        }
        return outcome
    }

    /// Reports why the server's catalogue isn't available; throws the error if it is final.
    private func reportFailure(of outcome: RefreshOutcome) throws(VenueRepositoryError) {
        switch outcome {
        case .success(nil): break
        case .success(let failure?): report(failure, goingOnWith: "the stored catalogue")
        case .failure(let error) where error.isFinal: throw error
        case .failure(let error): report(error, goingOnWith: "the stored venues")
        }
    }

    /// Returns the venues of the server's catalogue and the stored venues, each in its newest version.
    func summaries(beside local: [VenueID: VenueSummary]) -> [VenueSummary] {
        var summaries = local
        for entry in (entries ?? [:]).values {
            let known = summaries[entry.summary.id]
            if known.map({ entry.summary.version > $0.version }) ?? true { summaries[entry.summary.id] = entry.summary }
        }
        return summaries.values.sorted { $0.id < $1.id }
    }

    /// Returns the server's version of a venue if it is newer than the stored one and arrives within the grace period.
    func newerVersion(
        than stored: StoredVersion?, of id: VenueID, _ progress: MonotonicProgress
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
                goingOnWith:
                    "stored version \(stored.version); version \(entry.summary.version) is downloaded in the background"
            )
        }
        return nil
    }

    /// Starts the download of a newer version; returns nil if there is none, or if its download has already started.
    @discardableResult private func fetchBehind(
        _ stored: StoredVersion, _ progress: MonotonicProgress = MonotonicProgress { _ in }
    ) -> Task<FetchOutcome, Never>? {
        let id = stored.id
        guard fetches[id] == nil, newerEntry(than: stored, of: id) != nil else { return nil }
        let task = Task { await runFetch(over: stored, progress) }
        fetches[id] = task
        return task
    }

    private func runFetch(over stored: StoredVersion, _ progress: MonotonicProgress) async -> FetchOutcome {
        let outcome: FetchOutcome
        do throws(VenueRepositoryError) {
            outcome = .success(try await fetchNewer(than: stored, of: stored.id, progress))
        } catch {
            outcome = .failure(error)
        }
        fetches[stored.id] = nil
        guard !awaitedFetches.contains(stored.id) else { return outcome }
        do throws(VenueRepositoryError) {
            if let fetched = try outcome.get() { updateBroadcast.send(.packet(try await read(fetched))) }
        } catch {
            report(error)
        }
        return outcome
    }

    /// Returns a task's outcome; nil after the grace period, or if the caller is cancelled.
    private func outcome<Outcome: Sendable>(
        of task: Task<Outcome, Never>, within grace: Duration
    ) async -> Outcome? {
        guard grace > .zero else { return nil }
        let (outcomes, continuation) = AsyncStream.makeStream(of: Outcome.self)
        let waiting = Task {
            continuation.yield(await task.value)
            continuation.finish()
        }
        let timing = Task { [retry] in
            do { try await retry.sleep(grace) } catch { return }
            continuation.finish()
        }
        defer {
            waiting.cancel()
            timing.cancel()
        }
        for await outcome in outcomes { return outcome }
        return nil
    }

    /// Cancels the requests in the background, before a program ends.
    package func endRefreshing() {
        refresh?.cancel()
        fetches.values.forEach { $0.cancel() }
    }
}

extension VenueRepositoryError {
    /// Returns the error for a server whose response exceeds the grace period.
    fileprivate static func late(_ url: String, after grace: Duration) -> VenueRepositoryError {
        .timedOut(url: url, reason: "no complete response within \(grace.seconds) s")
    }
}
