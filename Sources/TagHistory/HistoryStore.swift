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
