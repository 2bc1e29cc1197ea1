import FoundationEssentials
import IndoorVocabulary
import TextFormats
import VenueModel

/// A venue source that stores packets on disk and downloads missing and newer ones from a server.
///
///     let server = try VenueServer("https://venues.example.org", credentials: .bearer(token))
///     let repository = VenueRepository(cache: folder, server: server)
///     let localizer = Localizer(source: source, venues: repository)
///
/// The repository looks for a packet in the cache, then among the bundled packets, then on the server, and uses the
/// newest version. If a venue is stored, it waits for the server no longer than `RetryPolicy.grace`; then a session
/// begins with the stored version, and the server's response becomes an update. Such failures are reported by `errors`
/// and `updates`, not thrown. Several repositories and processes may share one cache.
public actor VenueRepository: VenueSource {
    /// The use of a returned venue; its files are kept until another venue is returned for the same use.
    private enum Purpose: Hashable { case session, lookUp }

    let server: VenueServer?
    let transport: (any PacketTransport)?
    let cache: VenueCache
    let retry: RetryPauses
    /// Measures the age of the catalogue.
    let clock: SessionClock
    /// The content of the server's catalogue, downloaded in this run or stored.
    var catalogueContent: CatalogueContent?
    var entries: [VenueID: CatalogueEntry]? { catalogueContent?.entries }
    /// The problems of the catalogue that were reported since the last call of `catalogue()`.
    var reportedProblems: [VenueProblem] = []
    /// The request for the catalogue in progress while content is stored; nil if there is none.
    var refresh: Task<RefreshOutcome, Never>?
    /// The request for which a caller of `catalogue()` still waits.
    private var awaitedRefresh: Task<RefreshOutcome, Never>?
    /// The clock's time of the latest request for the catalogue; nil before the first one.
    var catalogueRequestedAt: Duration?
    /// The task that loads the catalogue every hour; nil while nothing follows the updates.
    private var renewal: Task<Void, Never>?
    /// The server's versions that cannot be used.
    var rejected: [VenueID: RejectedVersion] = [:]
    /// The downloads of newer versions while an older version is stored.
    var fetches: [VenueID: Task<FetchOutcome, Never>] = [:]
    /// The downloads that a caller still waits for.
    var awaitedFetches: Set<VenueID> = []
    /// The time between two requests for the catalogue while something follows the updates.
    private let renewalInterval: Duration
    private let bundled: [VenueID: BundledPacket]
    private var bundledSummaries: [VenueID: VenueSummary] = [:]
    private var brokenBundles: Set<VenueID> = []
    private var isPrepared = false
    private var inUse: [Purpose: (stored: StoredVersion, venue: Venue)] = [:]
    private var busy: Set<VenueID> = []
    private var waiting: [VenueID: [AsyncStream<Never>.Continuation]] = [:]
    private nonisolated let errorBroadcast = Broadcast<LocalizationError>(.bufferingNewest(256))
    nonisolated let updateBroadcast = Broadcast<VenueUpdate>(.bufferingNewest(256))

    /// Creates a repository; it doesn't read or write before the first request.
    ///
    /// - Parameters:
    ///   - cache: the path of the cache's own folder, which is created if it is missing.
    ///   - server: the server of packets; nil to use only stored and bundled packets.
    ///   - bundled: the packets that are part of the program; if several are of one venue, the newest is used.
    ///   - limit: the largest total size of the stored packets in bytes; nil for no limit. After a packet is stored,
    ///     the least recently used packets are removed until the total is within the limit, except those in use.
    ///   - clock: measures the pauses before retries, and the age of the catalogue.
    ///   - seed: the seed of the random part of these pauses and of the time between two requests for the catalogue.
    public init(
        cache: String, server: VenueServer? = nil, bundled: [BundledPacket] = [], limit: Int? = nil,
        clock: some Clock<Duration> = ContinuousClock(), seed: UInt64 = .random(in: 0...UInt64.max)
    ) {
        self.init(
            cache: cache, server: server, transport: server.map(CurlTransport.init), bundled: bundled, limit: limit,
            clock: clock, seed: seed)
    }

    /// Creates a repository that sends its requests through `transport`.
    init(
        cache: String, server: VenueServer?, transport: (any PacketTransport)?, bundled: [BundledPacket], limit: Int?,
        clock: some Clock<Duration>, seed: UInt64, reader: VenuePacketReader = VenuePacketReader()
    ) {
        self.server = server
        self.transport = transport
        self.cache = VenueCache(path: LocalPath.absolute(cache), limit: limit, reader: reader)
        self.clock = SessionClock(clock)
        var generator = SeededGenerator(seed: seed)
        // Whole seconds, because a clock can't wait for a part of a nanosecond.
        renewalInterval = .seconds(
            Int(Self.longestRenewalInterval.seconds * (1 - Self.renewalSpread * generator.uniform())))
        self.bundled = Dictionary(bundled.map { ($0.venueID, $0) }) { $0.version >= $1.version ? $0 : $1 }
        retry = RetryPauses(first: server?.patience.firstPause ?? .zero, seed: seed) {
            try await clock.sleep(for: $0)
        } report: { [errorBroadcast, updateBroadcast] error, pause in
            var reported = LocalizationError(error)
            reported.message += "; retrying in \((pause.seconds * 10).rounded() / 10) s"
            errorBroadcast.send(reported)
            updateBroadcast.send(.failure(reported))
        }
    }

    deinit { renewal?.cancel() }

    /// The failures after which the repository can still respond, from now on, such as an unreachable server of a
    /// stored venue, or an invalid entry of the catalogue.
    public nonisolated var errors: AsyncStream<LocalizationError> { errorBroadcast.subscribe() }

    /// The updates after a response, from now on: a catalogue or a version that arrives after the grace period, and all
    /// `errors`.
    ///
    /// While something reads the stream, the repository asks the server every 54 to 60 minutes for a new catalogue, and
    /// downloads newer versions of the venues that it has returned.
    public nonisolated var updates: AsyncStream<VenueUpdate> { updateBroadcast.subscribe() }

    /// Returns the summaries of all venues: those of the server, and those that are stored or bundled.
    ///
    /// If something is stored or bundled, the call waits for the server no longer than `RetryPolicy.grace`; a later
    /// response is an update.
    /// - Throws: `LocalizationError`: code `credential` if the server refuses the credentials, `network` if it cannot
    ///   be reached and nothing is stored.
    public func catalogue() async throws(LocalizationError) -> [VenueSummary] {
        do throws(VenueRepositoryError) {
            try prepare()
            let local = await localSummaries()
            try await refreshCatalogue(hasLocal: !local.isEmpty)
            return summaries(beside: local)
        } catch {
            throw LocalizationError(error)
        }
    }

    /// Returns the packet of a venue for a session, as `venue(_:progress:)` does.
    ///
    /// If the catalogue is older than five minutes, the repository then asks the server for a new one in the background,
    /// so that the session uses a newer version the next time it enters the venue.
    /// - Throws: `LocalizationError`: code `credential` if the server refuses the credentials, `network` if it cannot
    ///   be reached, `generic` if there is no such venue or its packet cannot be used.
    public func packet(
        for id: VenueID, progress: @escaping @Sendable (Double) -> Void
    ) async throws(LocalizationError) -> Venue {
        do throws(VenueRepositoryError) {
            return try await provide(id, for: .session, progress)
        } catch {
            throw LocalizationError(error)
        }
    }

    /// Returns a venue, also while no session runs.
    ///
    /// A stored or bundled venue is returned immediately, unless the downloaded catalogue contains a newer version. The
    /// files of plan images and tiles exist until the next call of this method.
    /// - Parameter progress: called with the fraction that is complete, from 0 to 1, never decreasing.
    public func venue(
        _ id: VenueID, progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws(VenueRepositoryError) -> Venue {
        try await provide(id, for: .lookUp, progress)
    }

    /// Returns the folder of a venue's stored packet, as a path for `VenuePacketReader`; nil if there is none.
    ///
    /// The folder exists as long as the venue is the last one that was returned for a session or by
    /// `venue(_:progress:)`.
    package func storedPacket(of id: VenueID) -> String? { cache.newest(of: id)?.packetPath }

    private func prepare() throws(VenueRepositoryError) {
        guard !isPrepared else { return }
        try VenueRepositoryError.storing(cache.prepare)
        isPrepared = true
    }

    private func provide(
        _ id: VenueID, for purpose: Purpose, _ progress: @escaping @Sendable (Double) -> Void
    ) async throws(VenueRepositoryError) -> Venue {
        try prepare()
        let progress = MonotonicProgress(progress)
        progress.report(0)
        // A second request for the same venue waits for the first one.
        try await waitForTurn(for: id)
        defer { endTurn(for: id) }
        for isLast in [false, true] {
            switch try await attempt(id, for: purpose, progress) {
            case .venue(let venue):
                // The older version was in use until here, because of its files.
                cache.removeReplaced(of: id)
                progress.report(1)
                if purpose == .session { renewCatalogue(olderThan: Self.sessionAge) }
                return venue
            case .damaged(let version, let error):
                // Files were changed or lost: the version is removed and installed again.
                if isLast { throw error }
                report(error)
                inUse = inUse.filter { $0.value.stored.id != id }
                try VenueRepositoryError.storing { () throws(FileSystemError) in try cache.remove(id, version) }
            }
        }
        throw .unknownVenue(id)
    }

    private enum Attempt {
        case venue(Venue)
        case damaged(version: Int, VenueRepositoryError)
    }

    private func attempt(
        _ id: VenueID, for purpose: Purpose, _ progress: MonotonicProgress
    ) async throws(VenueRepositoryError) -> Attempt {
        var stored = await local(id)
        if let newer = try await newerVersion(than: stored, of: id, progress) { stored = newer }
        guard let stored else { throw .unknownVenue(id) }
        try? cache.use(stored)
        let known = inUse.values.first { $0.stored.id == id && $0.stored.version == stored.version }
        if let known {
            inUse[purpose] = known
            return .venue(known.venue)
        }
        do throws(VenueRepositoryError) {
            let venue = try await read(stored)
            inUse[purpose] = (stored, venue)
            return .venue(venue)
        } catch {
            return .damaged(version: stored.version, error)
        }
    }

    /// Runs outside the actor, because a large packet takes some time.
    @concurrent nonisolated func read(_ stored: StoredVersion) async throws(VenueRepositoryError) -> Venue {
        try stored.venue(cache.reader)
    }

    /// Returns the newest version that is stored or bundled; a bundled one is stored now.
    private func local(_ id: VenueID) async -> StoredVersion? {
        let stored = cache.newest(of: id)
        guard let bundle = bundled[id], !brokenBundles.contains(id), bundle.version > stored?.version ?? .min else {
            return stored
        }
        do throws(VenueRepositoryError) {
            let installed = try await install(
                VenueCache.Parts(packet: bundle.path, id: id, version: bundle.version, source: bundle.path))
            bundledSummaries[id] = installed.record.summary
            return installed
        } catch {
            brokenBundles.insert(id)
            report(error)
            return stored
        }
    }

    /// Checks and stores a packet, outside the actor.
    @concurrent nonisolated func install(
        _ parts: VenueCache.Parts
    ) async throws(VenueRepositoryError) -> StoredVersion {
        try cache.install(parts)
    }

    /// Returns the summaries of the stored and bundled venues.
    func localSummaries() async -> [VenueID: VenueSummary] {
        var summaries: [VenueID: VenueSummary] = [:]
        // The summary of a bundled packet stays known if the cache removes the packet.
        for id in bundled.keys where bundledSummaries[id] == nil { _ = await local(id) }
        for summary in bundledSummaries.values { summaries[summary.id] = summary }
        for id in cache.venueIDs {
            guard let summary = cache.newest(of: id)?.record.summary else { continue }
            if summaries[id].map({ summary.version >= $0.version }) ?? true { summaries[id] = summary }
        }
        return summaries
    }

    /// Reports an error after which the repository continues with `rest`.
    func report(_ error: VenueRepositoryError, goingOnWith rest: String? = nil) {
        // Only the program cancels requests in the background, when it ends.
        guard error != .cancelled else { return }
        var reported = LocalizationError(error)
        if let rest { reported.message += "; going on with \(rest)" }
        report(reported)
    }

    func report(_ error: LocalizationError) {
        errorBroadcast.send(error)
        updateBroadcast.send(.failure(error))
    }

    /// The stored versions that were returned last.
    var versionsInUse: [StoredVersion] { inUse.values.map(\.stored) }
}

// Requests for the same venue run one at a time.
extension VenueRepository {
    private func waitForTurn(for id: VenueID) async throws(VenueRepositoryError) {
        while busy.contains(id) {
            // A stream without elements: the wait ends with the stream or the task.
            let (turn, ending) = AsyncStream.makeStream(of: Never.self)
            waiting[id, default: []].append(ending)
            for await _ in turn {}
            if Task.isCancelled { throw .cancelled }
        }
        busy.insert(id)
    }

    private func endTurn(for id: VenueID) {
        busy.remove(id)
        waiting.removeValue(forKey: id)?.forEach { $0.finish() }
    }
}

/// A packet that is part of a program, for a first start without a network.
public struct BundledPacket: Hashable, Sendable {
    /// The path of the packet: a folder or its zip.
    package var path: String
    /// The packet's venue.
    package var venueID: VenueID
    /// The packet's version; the packet is read only if this is higher than the stored version.
    package var version: Int

    /// Describes a packet without reading it.
    public init(path: String, venueID: VenueID, version: Int) {
        self.path = path
        self.venueID = venueID
        self.version = version
    }

    /// Reads venue and version from the packet.
    ///
    /// - Throws: `VenuePacketError` if the packet cannot be used.
    public init(path: String) throws(VenuePacketError) {
        let venue = try VenuePacketReader().read(path).venue
        self.init(path: path, venueID: venue.id, version: venue.version)
    }
}

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
        keepCatalogueNew()
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
        (refresh, awaitedRefresh) = (task, task)
        let outcome = await outcome(of: task, within: server.patience.grace)
        // Since the response arrived, another caller may have sent the next request.
        if awaitedRefresh == task { awaitedRefresh = nil }
        // The request continues: a session that starts next may rely on it.
        if Task.isCancelled { throw .cancelled }
        if let outcome { return try reportFailure(of: outcome) }
        // The request may have completed at the same moment.
        guard refresh == task else { return try reportFailure(of: await task.value) }
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
        let isAwaited = awaitedRefresh == refresh
        refresh = nil
        if case .success(nil) = outcome {
            updateBroadcast.send(.catalogue(summaries(beside: local)))
            // Newer versions of the venues that were returned before the catalogue arrived are downloaded in the
            // background.
            if !isAwaited { for stored in versionsInUse { fetchBehind(stored) } }
        }
        if !isAwaited {
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
        if Task.isCancelled { throw .cancelled }
        if let outcome { return try outcome.get() }
        guard fetches[id] == task else { return try await task.value.get() }
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
        renewal?.cancel()
        refresh?.cancel()
        fetches.values.forEach { $0.cancel() }
    }
}

// The age of the catalogue, while sessions run for months.
extension VenueRepository {
    /// The age of the catalogue from which on the entry into a venue requests a new one.
    private static let sessionAge = Duration.seconds(5 * 60)
    /// The longest time between two requests while something follows the updates, and the part of it that is random, so
    /// that machines that start together, such as after a power failure, spread their requests within hours.
    private static let (longestRenewalInterval, renewalSpread) = (Duration.seconds(3_600), 0.1)

    /// Requests the catalogue in the background if the latest request is that old. Does nothing before the first
    /// request, and during one.
    private func renewCatalogue(olderThan age: Duration) {
        let now = clock.elapsed()
        guard server != nil, refresh == nil, let requested = catalogueRequestedAt, now - requested >= age else {
            return
        }
        catalogueRequestedAt = now
        refresh = Task { await runRefresh(hasLocal: true) }
    }

    /// Requests the catalogue every hour from now on, as long as something follows the updates.
    private func keepCatalogueNew() {
        guard renewal == nil, updateBroadcast.hasSubscribers else { return }
        // The task must not keep the repository, with which the streams end.
        renewal = Task { [weak self, clock] in
            while let due = await self?.renewWhenDue() {
                do { try await clock.sleep(until: due) } catch { return }
            }
        }
    }

    /// Returns the time of the next request; nil if nothing follows the updates any more.
    private func renewWhenDue() -> Duration? {
        guard updateBroadcast.hasSubscribers else {
            renewal = nil
            return nil
        }
        renewCatalogue(olderThan: renewalInterval)
        let now = clock.elapsed()
        let due = (catalogueRequestedAt ?? now) + renewalInterval
        return due > now ? due : now + renewalInterval
    }
}

extension VenueRepositoryError {
    /// Returns the error for a server whose response exceeds the grace period.
    fileprivate static func late(_ url: String, after grace: Duration) -> VenueRepositoryError {
        .timedOut(url: url, reason: "no complete response within \(grace.seconds) s")
    }
}
