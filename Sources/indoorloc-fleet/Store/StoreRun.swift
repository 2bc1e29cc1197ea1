import IndoorLocalization
import TagHistory
import TagTracking
import indoorloc

/// The service of the command `store`: reports the state of its parts, until a signal, a time limit or an error ends it.
struct StoreRun {
    /// An event of a part of the service.
    enum Event: Sendable {
        case store(HistoryStore.Event)
        /// The source has a connection to this host.
        case connected(to: String)
        /// The source's connection failed or broke. It tries again.
        case disconnected(any Error)
        /// A message under a topic isn't an output.
        case invalid(topic: String, FleetOutputError)
        /// The source failed with an error that a retry can't resolve.
        case failed(any Error)
    }

    /// The time between two lines with counts.
    private static let reportInterval = Duration.seconds(60)
    /// The time to write the waiting outputs at the end.
    private static let closingTime = Duration.seconds(10)

    private let store: HistoryStore
    private let manager = ServiceManager()
    private var isReady = false
    private var invalid = 0
    private var reported = HistoryStore.Counts()
    private var status = ""
    private var nextReport = ContinuousClock.now + reportInterval
    private var failure: (any Error)?

    init(_ store: HistoryStore) { self.store = store }

    /// Runs the service.
    ///
    /// - Parameter receive: receives outputs, adds them to the store, and ends when its task is cancelled.
    /// - Throws: the error that ended the store.
    mutating func run(
        limit: Duration?, _ receive: @escaping @Sendable (_ give: @escaping @Sendable (Event) -> Void) async -> Void
    ) async throws {
        let tick = min(.milliseconds(500), manager.watchdogInterval.map { $0 / 4 } ?? .seconds(1))
        let work = LiveWork<Event>(tick: tick, limit: limit) { [store] give in
            await withTaskGroup { group in
                group.addTask { for await event in store.events { give(.store(event)) } }
                group.addTask { await receive(give) }
            }
        }
        loop: for await occurrence in work.occurrences {
            switch occurrence {
            case .element(let event): handle(event)
            case .tick: pulse()
            case .interrupted, .limitReached, .ended: break loop
            }
            if failure != nil { break }
        }
        manager.notify(.stopping)
        await work.stop()
        await store.stop(within: Self.closingTime)
        report()
        if let failure { throw failure }
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .store(.connected):
            StandardError.line("connected to the database", .info)
            becomeReady()
        case .store(.disconnected(let error)):
            StandardError.line("\(error); trying again", .warning)
            becomeReady()
        case .store(.refused(let error)): StandardError.line("\(error)", .warning)
        case .store(.ended(let error)): failure = error
        case .connected(let place): StandardError.line("connected to \(place)", .info)
        case .disconnected(let error): StandardError.line("\(error); trying again", .warning)
        case .failed(let error): failure = error
        case .invalid(let topic, let error):
            invalid += 1
            // One line for many messages of the same origin.
            if invalid == 1 { StandardError.line("\(topic): \(error)", .warning) }
        }
    }

    /// Reports to the service manager that the service works, with or without a database: it waits for one.
    private mutating func becomeReady() {
        guard !isReady else { return }
        isReady = true
        manager.notify(.ready)
    }

    private mutating func pulse() {
        manager.notify(.watchdog)
        let text = text(of: store.counts)
        if text != status { manager.notify(.status(text)) }
        status = text
        guard ContinuousClock.now >= nextReport else { return }
        nextReport = .now + Self.reportInterval
        report()
    }

    /// Writes the counts, if they have changed.
    private mutating func report() {
        let counts = store.counts
        guard counts != reported else { return }
        let isLosing = counts.lost > reported.lost
        reported = counts
        StandardError.line(text(of: counts), isLosing ? .warning : .info)
    }

    private func text(of counts: HistoryStore.Counts) -> String {
        var parts = ["\(counts.stored) outputs stored"]
        for (count, name) in [
            (counts.waiting, "waiting"), (counts.lost, "lost"), (counts.refused, "refused by the database"),
            (invalid, "invalid"), (counts.deleted, "rows deleted"),
        ] where count > 0 { parts.append("\(count) \(name)") }
        return parts.joined(separator: ", ")
    }
}
