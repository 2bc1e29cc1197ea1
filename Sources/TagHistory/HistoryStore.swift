import Dispatch
import IndoorVocabulary
import TagTracking

/// A writer of a fleet's outputs into a PostgreSQL database.
///
/// The table `indoorloc_latest` has one row for each tag, and `indoorloc_history` one for each output. Neither the
/// order nor the repetition of outputs changes the rows. A thread of the store writes batches, each in one transaction.
/// It reconnects after an error, and repeats the batch whose transaction didn't succeed.
package final class HistoryStore: Sendable {
    /// The settings of a store.
    package struct Settings: Hashable, Sendable {
        /// Whether to create the tables.
        package var createsTables = false
        /// The age after which rows of the history are deleted; nil keeps all of them.
        package var retention: Duration?
        /// The largest number of outputs that wait while the database is unavailable, not counting one batch. If more
        /// wait, the oldest are lost. An output takes about 250 bytes.
        package var queueCapacity = 200_000
        /// The largest number of outputs in one transaction.
        package var batchSize = 2000
        /// The time limit of a statement.
        package var statementLimit = Duration.seconds(30)

        /// Creates the default settings.
        package init() {}
    }

    /// The numbers of outputs by result.
    package struct Counts: Hashable, Sendable {
        /// The number of outputs in successful transactions, including those that the database already contained.
        package var stored = 0
        /// The number of outputs that were discarded because the database was unavailable for too long or until the
        /// end.
        package var lost = 0
        /// The number of outputs that the database doesn't accept, such as a tag with an extremely long name.
        package var refused = 0
        /// The number of outputs that wait.
        package var waiting = 0
        /// The number of rows of the history that the store has deleted.
        package var deleted = 0

        /// Creates counts of 0.
        package init() {}
    }

    /// A change of a store.
    package enum Event: Hashable, Sendable {
        /// The store is connected, and the tables have the expected version.
        case connected
        /// A connection failed or ended. The store tries again.
        case disconnected(HistoryError)
        /// The database refused an output for its values.
        case refused(HistoryError)
        /// The store has ended: with an error that a retry can't resolve, or nil after ``HistoryStore/stop(within:)``.
        case ended(HistoryError?)
    }

    struct State: Sendable {
        var queue: HistoryQueue
        var counts = Counts()
        /// The time at which the store gives up; nil until it is stopped.
        var deadline: ContinuousClock.Instant?
        var isEnded = false
        /// Whether the thread waits for outputs, so that the next ones must wake it.
        var awaitsOutputs = false
        var waiters: [Waiter] = []
        var nextWaiter = 0
    }

    /// A caller that waits until the queue has settled a number of rows.
    struct Waiter: Sendable {
        var id: Int
        var target: Int
        var continuation: CheckedContinuation<Void, Never>
    }

    /// The changes, for one reader.
    package let events: AsyncStream<Event>
    let state: Guarded<State>
    let settings: Settings
    let address: DatabaseAddress
    private let continuation: AsyncStream<Event>.Continuation
    private let signal = DispatchSemaphore(value: 0)

    /// Starts a store, which connects on its thread.
    package init(_ address: DatabaseAddress, _ settings: Settings = Settings()) {
        (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(256))
        state = Guarded(State(queue: HistoryQueue(capacity: settings.queueCapacity)))
        self.settings = settings
        self.address = address
        // The thread waits in poll(2) and in libpq, which must not block a thread of Swift's tasks.
        DispatchQueue(label: "IndoorLocalization.HistoryStore", qos: .utility).async {
            var writer = HistoryWriter(self)
            self.end(writer.run())
        }
    }

    /// The outputs so far.
    package var counts: Counts {
        state.withLock { state in
            var counts = state.counts
            counts.lost += state.queue.lost
            counts.waiting = state.queue.count + state.queue.batch.count
            return counts
        }
    }

    /// Adds outputs, and returns without waiting. An output that is added after the end is lost.
    package func add(_ outputs: [FleetOutput]) {
        let rows = outputs.compactMap { HistoryRow($0) }
        let isAwaited = state.withLock { state in
            state.counts.refused += outputs.count - rows.count
            if state.isEnded { state.counts.lost += rows.count } else { state.queue.add(rows) }
            defer { state.awaitsOutputs = false }
            return state.awaitsOutputs
        }
        if isAwaited { signal.signal() }
    }

    /// Waits until all outputs that were added before are in the database, or are lost or refused, or until the task is
    /// cancelled.
    ///
    /// - Returns: true if none of these outputs waits any more and no output was lost so far; false after the store has
    ///   ended.
    @discardableResult package func waitUntilStored() async -> Bool {
        let (id, target) = state.withLock { state in
            state.nextWaiter += 1
            return (state.nextWaiter, state.queue.added)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    if state.isEnded || state.queue.settled >= target || Task.isCancelled { return true }
                    state.waiters.append(Waiter(id: id, target: target, continuation: continuation))
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume()
        }
        return state.withLock { state in
            !state.isEnded && state.queue.settled >= target && state.counts.lost + state.queue.lost == 0
        }
    }

    /// Writes the waiting outputs, and ends the store. After the limit, the remaining outputs are lost.
    package func stop(within limit: Duration) async {
        state.withLock { $0.deadline = .now + limit }
        signal.signal()
        await waitUntilEnd()
    }

    private func waitUntilEnd() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if !state.isEnded { state.waiters.append(Waiter(id: 0, target: .max, continuation: continuation)) }
                return state.isEnded
            }
            if isDone { continuation.resume() }
        }
    }
}

// MARK: The thread

extension HistoryStore {
    /// Whether the store was stopped and its limit has passed.
    var isAbandoned: Bool { state.withLock { $0.deadline.map { $0 <= .now } ?? false } }

    /// Whether the store was stopped.
    var isStopping: Bool { state.withLock { $0.deadline != nil } }

    func report(_ event: Event) { continuation.yield(event) }

    /// Waits until outputs are added or the store is stopped, but at most for a duration.
    func waitForOutputs(atMost duration: Duration) {
        let isIdle = state.withLock { state in
            state.awaitsOutputs = state.queue.count == 0 && state.deadline == nil
            return state.awaitsOutputs
        }
        guard isIdle else { return }
        pause(atMost: duration)
        state.withLock { $0.awaitsOutputs = false }
    }

    /// Waits until the store is stopped, but at most for a duration.
    func pause(atMost duration: Duration) {
        _ = signal.wait(timeout: .now() + .nanoseconds(Int(clamping: duration.nanoseconds)))
    }

    /// Records that the first outputs of the batch are stored or refused, and resumes the callers that wait for them.
    func finish(_ count: Int, isRefused: Bool) {
        let done = state.withLock { state in
            state.queue.finish(count)
            if isRefused { state.counts.refused += count } else { state.counts.stored += count }
            let settled = state.queue.settled
            let done = state.waiters.filter { $0.target <= settled }.map(\.continuation)
            state.waiters.removeAll { $0.target <= settled }
            return done
        }
        for continuation in done { continuation.resume() }
    }

    private func end(_ failure: HistoryError?) {
        let done = state.withLock { state in
            state.isEnded = true
            state.counts.lost += state.queue.count + state.queue.batch.count
            state.counts.lost += state.queue.lost
            state.queue = HistoryQueue(capacity: 0)
            defer { state.waiters = [] }
            return state.waiters.map(\.continuation)
        }
        continuation.yield(.ended(failure))
        continuation.finish()
        for continuation in done { continuation.resume() }
    }
}

/// The rows that wait for the database.
///
/// The queue hands out one batch at a time, and keeps it until the batch is finished. When the queue is full, it
/// discards the oldest waiting rows, because the latest position of a tag is the most important one.
struct HistoryQueue: Sendable {
    /// The largest number of waiting rows, without the batch that was handed out.
    let capacity: Int
    /// The number of rows that were discarded because the queue was full.
    private(set) var lost = 0
    /// The number of rows that were added, including the discarded ones.
    private(set) var added = 0
    /// The batch that was handed out and isn't finished.
    private(set) var batch: [HistoryRow] = []

    private var rows: [HistoryRow] = []
    /// The index in `rows` of the oldest waiting row. The rows before it are removed from time to time.
    private var start = 0
    /// The number of rows that were added before the first one of the batch.
    private var batchStart = 0

    init(capacity: Int) { self.capacity = capacity }

    /// The number of waiting rows, without the batch that was handed out.
    var count: Int { rows.count - start }

    /// The number of rows, counted from the first one ever added, that are either finished or discarded.
    var settled: Int { batch.isEmpty ? added - count : batchStart }

    mutating func add(_ some: [HistoryRow]) {
        rows += some
        added += some.count
        let excess = count - capacity
        guard excess > 0 else { return }
        lost += excess
        start += excess
        compact()
    }

    /// Hands out the oldest rows, at most `limit`. An unfinished batch is handed out again.
    mutating func take(_ limit: Int) -> [HistoryRow] {
        if batch.isEmpty {
            batchStart = added - count
            batch = Array(rows[start..<start + min(limit, count)])
            start += batch.count
            compact()
        }
        return batch
    }

    /// Removes the first rows from the batch that was handed out, because they are finished.
    mutating func finish(_ count: Int) {
        batch.removeFirst(count)
        batchStart += count
    }

    private mutating func compact() {
        guard start > rows.count / 2 else { return }
        rows.removeFirst(start)
        start = 0
    }
}

/// The loop of a store's thread: connects, writes batches, deletes old rows, and tries again after an error.
struct HistoryWriter {
    /// The time between two searches for old rows.
    private static let retentionInterval = Duration.seconds(3600)
    /// The largest number of old rows that one statement deletes.
    private static let deletionSize = 10_000

    private let store: HistoryStore
    private var backoff = Backoff(first: .milliseconds(500), seed: UInt64.random(in: 0...UInt64.max))
    /// Whether a connection has succeeded before. Until then, an error that a retry can't resolve ends the store.
    private var wasConnected = false
    /// The number of outputs in the next batch, smaller while the store searches for a row that the database refuses.
    private var batchSize: Int
    private var nextRetention = ContinuousClock.now

    init(_ store: HistoryStore) {
        self.store = store
        batchSize = store.settings.batchSize
    }

    /// Runs until the store is stopped; returns the error that ended it, nil for none.
    mutating func run() -> HistoryError? {
        while true {
            do throws(HistoryError) {
                try work()
                return nil
            } catch {
                if store.isAbandoned { return nil }
                if !wasConnected, error.isLasting { return error }
                store.report(.disconnected(error))
            }
            let end = ContinuousClock.now + backoff.next()
            while ContinuousClock.now < end, !store.isAbandoned {
                let rest = ContinuousClock.now.duration(to: end)
                store.pause(atMost: store.isStopping ? min(rest, .milliseconds(100)) : rest)
            }
            if store.isAbandoned { return nil }
        }
    }

    /// Connects and writes until the store is stopped and its queue is empty.
    private mutating func work() throws(HistoryError) {
        let store = store
        let connection = try PostgreSQLConnection(store.address, limit: store.settings.statementLimit) {
            store.isAbandoned
        }
        if store.settings.createsTables, !wasConnected { try HistorySchema.create(in: connection) }
        try HistorySchema.check(in: connection)
        try connection.run(HistorySchema.batch)
        wasConnected = true
        store.report(.connected)
        while true {
            let batch = store.state.withLock { [batchSize] in Array($0.queue.take(batchSize).prefix(batchSize)) }
            if !batch.isEmpty {
                try write(batch, to: connection)
            } else if store.isStopping {
                return
            } else {
                store.waitForOutputs(atMost: min(.seconds(30), ContinuousClock.now.duration(to: nextRetention)))
            }
            try deleteOld(in: connection)
        }
    }

    /// Writes a batch in one transaction. A batch with a row that the database refuses is halved until it contains that
    /// row only.
    private mutating func write(
        _ batch: [HistoryRow], to connection: PostgreSQLConnection
    ) throws(HistoryError) {
        do throws(HistoryError) {
            try connection.transaction { () throws(HistoryError) in
                try connection.copy(batch.flatMap(\.line), with: HistorySchema.copy)
                try connection.run(HistorySchema.addToHistory)
                try connection.run(HistorySchema.updateLatest)
            }
            store.finish(batch.count, isRefused: false)
            batchSize = min(batchSize * 2, store.settings.batchSize)
            backoff.reset()
        } catch {
            guard error.reason == .refusedRow else { throw error }
            batchSize = max(1, batch.count / 2)
            guard batch.count == 1 else { return }
            store.finish(1, isRefused: true)
            store.report(.refused(error))
        }
    }

    /// Deletes some old rows if a deletion is due.
    private mutating func deleteOld(in connection: PostgreSQLConnection) throws(HistoryError) {
        guard let retention = store.settings.retention else {
            nextRetention = .now + Self.retentionInterval
            return
        }
        guard ContinuousClock.now >= nextRetention else { return }
        // A deletion that fails ends the connection. If it followed each batch, few outputs would be written.
        nextRetention = .now + Self.retentionInterval
        let rows = try connection.run(HistorySchema.deleteOld, ["\(retention.seconds)", "\(Self.deletionSize)"])
        let count = (rows.first?.first ?? nil).flatMap { Int($0) } ?? 0
        store.state.withLock { $0.counts.deleted += count }
        // If more old rows remain, the next deletion follows after the next batch.
        if count >= Self.deletionSize { nextRetention = .now }
    }
}

extension HistoryError {
    /// Whether a retry fails until someone changes the database or the command line.
    fileprivate var isLasting: Bool {
        switch reason {
        case .badAddress, .insecure, .refused, .notCreated, .otherVersion, .permission: true
        case .unreachable, .refusedRow, .failed: false
        }
    }
}

/// An error in opening or writing the database of a fleet's positions.
package struct HistoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    package enum Reason: Hashable, Sendable {
        /// The address of the database is invalid, or contains a password.
        case badAddress
        /// No server answers, or the connection ended.
        case unreachable
        /// The connection has no TLS, or the server's certificate isn't trusted.
        case insecure
        /// The server runs, but refuses the connection: the database, the user or the password is wrong.
        case refused
        /// The database has no tables of this package.
        case notCreated
        /// The tables have another version. `found` is the version in the database, and `known` that of this package.
        case otherVersion(found: Int, known: Int)
        /// The user has no permission for a statement.
        case permission
        /// The database doesn't accept the values of a row.
        case refusedRow
        /// Another error of the server, which the message describes.
        case failed
    }

    /// The kind of error.
    package var reason: Reason
    /// The message of libpq or of the server; empty without one.
    package var message: String
    /// The SQLSTATE of the server, five characters; empty if the error is not from a statement.
    package var state: String

    /// Creates an error. The message becomes one line.
    package init(_ reason: Reason, _ message: String = "", state: String = "") {
        self.reason = reason
        self.message = message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        self.state = state
    }

    /// Creates the error of a statement.
    ///
    /// Source of the classes: *PostgreSQL 15 Documentation*, appendix A, PostgreSQL Global Development Group 2022.
    init(state: String, _ message: String) {
        let reason: Reason =
            switch (state, state.prefix(2)) {
            case ("42501", _), ("25006", _): .permission
            case ("42P01", _): .notCreated
            // Invalid values, violated constraints, and values beyond a limit such as the size of an index entry.
            case (_, "22"), (_, "23"), (_, "54"): .refusedRow
            // Lost connections, and a server that starts or stops.
            case (_, "08"), (_, "57"): .unreachable
            default: .failed
            }
        self.init(reason, message, state: state)
    }

    package var description: String {
        let details = [message, state.isEmpty ? "" : "SQLSTATE \(state)"].filter { !$0.isEmpty }
        return text + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
    }

    private var text: String {
        switch reason {
        case .badAddress: "the address of the database is invalid"
        case .unreachable: "the database is not reachable"
        case .insecure:
            "the server has not proved its identity by TLS; give the authority of its certificate with sslrootcert=FILE "
                + "in --database, or an explicit sslmode"
        case .refused:
            "the server refuses the connection; check the names of database and user, the password, and pg_hba.conf"
        case .notCreated: "the database has no tables of indoorloc; create them with --create"
        case .otherVersion(let found, let known):
            "the tables in the database have version \(found), but this program writes version \(known); "
                + (found > known ? "update the program" : "use another database or schema")
        case .permission:
            "the user has no permission; grant SELECT, INSERT, UPDATE and DELETE on the tables indoorloc_*, and "
                + "TEMPORARY on the database; --create also requires CREATE on the schema"
        case .refusedRow: "the database does not accept an output"
        case .failed: "the database reports an error"
        }
    }
}
