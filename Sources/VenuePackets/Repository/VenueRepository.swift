import IndoorVocabulary
import VenueModel

/// A venue source that keeps packets on disk, and fetches from a server what is missing or has become newer.
///
///     let server = try VenueServer("https://venues.example.org", credentials: .bearer(token))
///     let repository = VenueRepository(cache: folder, server: server)
///     let localizer = Localizer(source: source, venues: repository)
///
/// A packet is looked for in the cache, then among the bundled packets, then on the server; of a venue that is in several
/// of these the newest version counts. What is stored waits no longer than `RetryPolicy.grace` for the server: then
/// a session begins with it, and what the server still sends comes as an update. A failure is told by `errors` and
/// `updates`, not thrown. Several repositories and processes may share one cache.
public actor VenueRepository: VenueSource {
    /// For what a venue was handed out last; its files stay until another one is handed out for that.
    private enum Purpose: Hashable { case session, lookUp }

    let server: VenueServer?
    let transport: (any PacketTransport)?
    let cache: VenueCache
    let retry: RetryPauses
    /// What the server's catalogue says, fetched in this run or stored.
    var catalogueContent: CatalogueContent?
    var entries: [VenueID: CatalogueEntry]? { catalogueContent?.entries }
    /// What of it was reported as wrong since it was last asked for.
    var reportedProblems: [VenueProblem] = []
    /// The request for the catalogue that is under way while something stored is there; nil if none is.
    var refresh: Task<RefreshOutcome, Never>?
    /// Whether whoever asked for the catalogue still waits for it.
    var isRefreshAwaited = false
    /// Newer versions that are being fetched while an older one is stored.
    var fetches: [VenueID: Task<FetchOutcome, Never>] = [:]
    /// Of these, those that somebody still waits for.
    var awaitedFetches: Set<VenueID> = []
    private let bundled: [VenueID: BundledPacket]
    private var bundledSummaries: [VenueID: VenueSummary] = [:]
    private var brokenBundles: Set<VenueID> = []
    private var isPrepared = false
    private var inUse: [Purpose: (stored: StoredVersion, venue: Venue)] = [:]
    private var busy: Set<VenueID> = []
    private var waiting: [VenueID: [AsyncStream<Never>.Continuation]] = [:]
    private nonisolated let errorBroadcast = Broadcast<LocalizationError>(.bufferingNewest(256))
    nonisolated let updateBroadcast = Broadcast<VenueUpdate>(.bufferingNewest(256))

    /// Creates a repository; nothing is read or written before it is first asked for something.
    ///
    /// - Parameters:
    ///   - cache: the path of a folder of its own, which is created if need be.
    ///   - server: where packets come from; nil for those that are stored or bundled.
    ///   - bundled: packets that come with the program; of several of one venue, the newest counts.
    ///   - limit: bytes that the stored packets together may have; nil for any number. After each one that is stored,
    ///     those that were not used for longest are removed until the rest fits, but none that is in use.
    ///   - clock: passes the pauses before a request is tried again.
    ///   - seed: of what is random in these pauses.
    public init(
        cache: String, server: VenueServer? = nil, bundled: [BundledPacket] = [], limit: Int? = nil,
        clock: some Clock<Duration> = ContinuousClock(), seed: UInt64 = .random(in: 0...UInt64.max)
    ) {
        self.init(
            cache: cache, server: server, transport: server.map(CurlTransport.init), bundled: bundled, limit: limit,
            clock: clock, seed: seed)
    }

    /// Creates a repository that talks to its server through `transport`.
    init(
        cache: String, server: VenueServer?, transport: (any PacketTransport)?, bundled: [BundledPacket], limit: Int?,
        clock: some Clock<Duration>, seed: UInt64
    ) {
        self.server = server
        self.transport = transport
        self.cache = VenueCache(path: LocalPath.absolute(cache), limit: limit)
        self.bundled = Dictionary(bundled.map { ($0.venueID, $0) }) { $0.version >= $1.version ? $0 : $1 }
        retry = RetryPauses(first: server?.patience.firstPause ?? .zero, seed: seed) {
            try await clock.sleep(for: $0)
        } report: { [errorBroadcast, updateBroadcast] error, pause in
            var told = LocalizationError(error)
            told.message += "; trying again in \((pause.seconds * 10).rounded() / 10) s"
            errorBroadcast.send(told)
            updateBroadcast.send(.failure(told))
        }
    }

    /// What failed without keeping the repository from giving an answer, from now on: a server that cannot be reached while
    /// the venue is stored, an entry of the catalogue that cannot be read.
    public nonisolated var errors: AsyncStream<LocalizationError> { errorBroadcast.subscribe() }

    /// What becomes known after an answer was given, from now on: a catalogue or a version that came later than `grace`
    /// allows, and all `errors`.
    public nonisolated var updates: AsyncStream<VenueUpdate> { updateBroadcast.subscribe() }

    /// What is needed to recognise each venue: those of the server, and those that are stored or bundled.
    ///
    /// If something is stored or bundled, the server's answer is waited for no longer than `RetryPolicy.grace`; a
    /// later one is told by `updates`.
    /// - Throws: `LocalizationError`: code `credential` if the server refuses them, `network` if it cannot be reached and
    ///   nothing is stored.
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

    /// The packet of a venue, for a session: as `venue(_:progress:)`.
    ///
    /// - Throws: `LocalizationError`: code `credential` if the server refuses them, `network` if it cannot be reached,
    ///   `generic` if there is no such venue or its packet cannot be used.
    public func packet(
        for id: VenueID, progress: @escaping @Sendable (Double) -> Void
    ) async throws(LocalizationError) -> Venue {
        do throws(VenueRepositoryError) {
            return try await provide(id, for: .session, progress)
        } catch {
            throw LocalizationError(error)
        }
    }

    /// All that is known of a venue, also while no session runs.
    ///
    /// What is stored or bundled is given at once, unless the catalogue, if it was fetched, tells of a newer version. The
    /// paths of plan images and tiles can be opened, until the next venue is asked for in this way.
    /// - Parameter progress: called with the fraction that is there, from 0 to 1, never decreasing.
    public func venue(
        _ id: VenueID, progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws(VenueRepositoryError) -> Venue {
        try await provide(id, for: .lookUp, progress)
    }

    /// The path of the folder with a venue's stored packet, as `VenuePacketReader` takes it; nil if there is none.
    ///
    /// It stays for as long as the venue that was handed out last in each way.
    public func storedPacket(of id: VenueID) -> String? { cache.newest(of: id)?.packetPath }

    private func prepare() throws(VenueRepositoryError) {
        guard !isPrepared else { return }
        try cache.prepare()
        isPrepared = true
    }

    private func provide(
        _ id: VenueID, for purpose: Purpose, _ progress: @escaping @Sendable (Double) -> Void
    ) async throws(VenueRepositoryError) -> Venue {
        try prepare()
        let progress = MonotoneProgress(progress)
        progress.reach(0)
        // Who asks for what is being fetched waits for that.
        try await takeTurn(for: id)
        defer { endTurn(for: id) }
        for isLast in [false, true] {
            switch try await attempt(id, for: purpose, progress) {
            case .venue(let venue):
                // The older version was in use until here, for the sake of its files.
                cache.removeReplaced(of: id)
                progress.reach(1)
                return venue
            case .damaged(let version, let error):
                // Its files were changed or lost: as if it had never been stored.
                if isLast { throw error }
                report(error)
                inUse = inUse.filter { $0.value.stored.id != id }
                try cache.remove(id, version)
            }
        }
        throw .unknownVenue(id)
    }

    private enum Attempt {
        case venue(Venue)
        case damaged(version: Int, VenueRepositoryError)
    }

    private func attempt(
        _ id: VenueID, for purpose: Purpose, _ progress: MonotoneProgress
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
            let venue = try await Self.read(stored)
            inUse[purpose] = (stored, venue)
            return .venue(venue)
        } catch {
            return .damaged(version: stored.version, error)
        }
    }

    /// Not on the actor: a large packet takes a while.
    @concurrent static func read(_ stored: StoredVersion) async throws(VenueRepositoryError) -> Venue {
        try stored.venue()
    }

    /// The newest version that is stored or bundled; a bundled one is stored now.
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

    /// Checks and stores a packet, not on the actor.
    @concurrent nonisolated func install(
        _ parts: VenueCache.Parts
    ) async throws(VenueRepositoryError) -> StoredVersion {
        try cache.install(parts)
    }

    /// What is needed to recognise the venues that are stored or bundled.
    func localSummaries() async -> [VenueID: VenueSummary] {
        var summaries: [VenueID: VenueSummary] = [:]
        // One that was removed to make room need not be stored again to be known.
        for id in bundled.keys where bundledSummaries[id] == nil { _ = await local(id) }
        for summary in bundledSummaries.values { summaries[summary.id] = summary }
        for id in cache.venueIDs {
            guard let summary = cache.newest(of: id)?.record.summary else { continue }
            if summaries[id].map({ summary.version >= $0.version }) ?? true { summaries[id] = summary }
        }
        return summaries
    }

    /// Something failed, and the repository goes on with what is named.
    func report(_ error: VenueRepositoryError, goingOnWith rest: String? = nil) {
        var told = LocalizationError(error)
        if let rest { told.message += "; going on with \(rest)" }
        report(told)
    }

    func report(_ error: LocalizationError) {
        errorBroadcast.send(error)
        updateBroadcast.send(.failure(error))
    }

    /// The stored versions that were handed out last.
    var versionsInUse: [StoredVersion] { inUse.values.map(\.stored) }
}

// One request for a venue at a time.
extension VenueRepository {
    private func takeTurn(for id: VenueID) async throws(VenueRepositoryError) {
        while busy.contains(id) {
            // A stream of nothing: its end, or that of the task, ends the wait.
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
