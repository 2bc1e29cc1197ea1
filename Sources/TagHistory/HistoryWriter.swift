import IndoorVocabulary

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
        let rows = try connection.run(HistorySchema.deleteOld, ["\(retention.seconds)", "\(Self.deletionSize)"])
        let count = (rows.first?.first ?? nil).flatMap { Int($0) } ?? 0
        store.state.withLock { $0.counts.deleted += count }
        // If more old rows remain, the next deletion follows after the next batch.
        if count < Self.deletionSize { nextRetention = .now + Self.retentionInterval }
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
