/// The ordered log of a fleet's readings, which persists when the processes that write and read it end.
package protocol ReadingLog: Sendable {
    /// Appends readings in order, and returns after the log has acknowledged all of them.
    ///
    /// An implementation sends a reading again if an acknowledgement is missing, and gives it the same identifier, so
    /// that the log stores it once.
    ///
    /// - Throws: an error that isn't transient; or `.unavailable` if the task was cancelled. Some of the readings may be
    ///   in the log.
    func append(_ readings: [TagReading]) async throws(FleetStoreError)

    /// Returns a reader of a partition.
    ///
    /// - Parameter sequence: the last entry that the caller has; 0 for none.
    func reader(ofPartition partition: Int, after sequence: UInt64) async throws(FleetStoreError)
        -> any ReadingLogReader
}

/// A reader of one partition of a log.
package protocol ReadingLogReader: Sendable {
    /// Waits for entries, and returns those that follow, in the order of the log.
    ///
    /// - Parameters:
    ///   - count: the maximum number of entries.
    ///   - patience: the time to wait for the first entry; the batch is empty after it.
    func next(atMost count: Int, within patience: Duration) async throws(FleetStoreError) -> LogBatch

    /// Ends the reader.
    func close() async
}

/// Consecutive entries of a partition.
package struct LogBatch: Hashable, Sendable {
    /// The entries.
    package var entries: [LogEntry]
    /// The entries of the partition that follow and are known to the reader.
    package var pending: UInt64
    /// The entries whose bytes can't be read, which the reader has skipped.
    package var damaged: Int

    /// Creates a batch.
    package init(entries: [LogEntry] = [], pending: UInt64 = 0, damaged: Int = 0) {
        self.entries = entries
        self.pending = pending
        self.damaged = damaged
    }
}
