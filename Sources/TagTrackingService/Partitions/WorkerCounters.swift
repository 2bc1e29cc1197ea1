import IndoorVocabulary
import SessionMetrics
import TagTracking

/// The counts of a process of workers, for its metrics.
package final class WorkerCounters: Sendable {
    private struct Counts: Sendable {
        var readings = 0
        var outputs = 0
        var damaged = 0
        var snapshots = 0
        var failures = 0
        var fences = 0
        var largestSnapshot = 0
        /// The lag of each owned partition in seconds.
        var lags: [Int: Double] = [:]
        var epochs: [Int: UInt64] = [:]
    }

    private let counts = Guarded(Counts())

    package init() {}

    /// The number of readings that the workers of this process have observed.
    package var readings: Int { counts.withLock(\.readings) }

    /// The partitions of this process with their epochs.
    package var epochs: [Int: UInt64] { counts.withLock(\.epochs) }

    /// The longest time from a reading to its worker, over the partitions of this process.
    package var lag: Duration { .seconds(counts.withLock { $0.lags.values.max() } ?? 0) }

    func begin(_ partition: Int) { counts.withLock { $0.lags[partition] = 0 } }

    func end(_ partition: Int) {
        counts.withLock { counts in
            counts.lags[partition] = nil
            counts.epochs[partition] = nil
        }
    }

    func recordClaim(_ partition: Int, epoch: UInt64) { counts.withLock { $0.epochs[partition] = epoch } }

    func record(_ partition: Int, _ batch: LogBatch, outputs: Int, lag: Duration) {
        counts.withLock { counts in
            counts.readings += batch.entries.count
            counts.damaged += batch.damaged
            counts.outputs += outputs
            if !batch.entries.isEmpty { counts.lags[partition] = lag.seconds }
        }
    }

    func recordSnapshot(bytes: Int) {
        counts.withLock { counts in
            counts.snapshots += 1
            counts.largestSnapshot = max(counts.largestSnapshot, bytes)
        }
    }

    func recordFailure() { counts.withLock { $0.failures += 1 } }

    func recordFence() { counts.withLock { $0.fences += 1 } }

    /// The metrics of the process.
    package var families: [MetricFamily] {
        let counts = counts.withLock(\.self)
        func family(
            _ name: String, _ kind: MetricFamily.Kind, unit: MetricFamily.Unit? = nil, _ value: Double?, _ help: String
        ) -> MetricFamily {
            MetricFamily(
                "indoorloc_worker_" + name, kind, unit: unit, help: help,
                samples: value.map { [.init(.number($0))] } ?? [])
        }
        return [
            family("readings", .counter, Double(counts.readings), "Readings that the tags' sessions have observed."),
            family("outputs", .counter, Double(counts.outputs), "Emitted outputs."),
            family("damaged_entries", .counter, Double(counts.damaged), "Entries of the log that can't be read."),
            family("snapshots", .counter, Double(counts.snapshots), "Stored states of partitions."),
            family("failures", .counter, Double(counts.failures), "Failed requests to the log or its stores."),
            family("fences", .counter, Double(counts.fences), "Ends of a partition's work by another owner."),
            family("partitions", .gauge, Double(counts.lags.count), "Partitions that this process works on."),
            family(
                "snapshot_bytes", .gauge, unit: .bytes, Double(counts.largestSnapshot),
                "Largest stored state of a partition."),
            family(
                "lag_seconds", .gauge, unit: .seconds, counts.lags.values.max(),
                "Longest time from a reading to its worker, over the partitions."),
        ]
    }
}
