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
