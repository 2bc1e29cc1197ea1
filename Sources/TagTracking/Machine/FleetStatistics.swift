import IndoorVocabulary
import SessionMetrics

/// The counters of a fleet machine since it was created, and its present state.
package struct FleetStatistics: Hashable, Sendable {
    /// A histogram of durations in buckets with fixed bounds.
    package struct Histogram: Hashable, Sendable {
        /// The upper bounds of the buckets in seconds. A duration belongs to the first bucket whose bound it doesn't
        /// exceed; the last bucket has no bound.
        package static let bounds = [0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 10, 30]
        /// The number of durations in each bucket, one more than there are bounds.
        package internal(set) var counts = Array(repeating: 0, count: bounds.count + 1)
        /// The sum of all durations in seconds.
        package internal(set) var sum = 0.0

        /// Adds a duration.
        mutating func add(_ duration: Duration) {
            let seconds = duration.seconds
            counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
            sum += seconds
        }
    }

    /// The limit on the number of names in `unknownReceivers`.
    static let nameLimit = 100

    /// The number of readings that the sessions of tags used.
    package internal(set) var readings = 0
    /// The number of readings that arrived after the end of the reorder window, used or not.
    package internal(set) var lateReadings = 0
    /// The number of late readings that were too old for a session and were discarded.
    package internal(set) var expiredReadings = 0
    /// The number of readings that were discarded because the machine had the maximum number of tags, or because a
    /// snapshot belonged to another version of the venue.
    package internal(set) var droppedReadings = 0
    /// The number of readings whose RSSI isn't a measurement.
    package internal(set) var invalidReadings = 0
    /// The number of readings of receivers that the venue doesn't have.
    package internal(set) var unknownReceiverReadings = 0
    /// The number of these readings by the name of the receiver, for the first 100 names.
    package internal(set) var unknownReceivers: [String: Int] = [:]
    /// The number of readings of a receiver by another one.
    package internal(set) var receiverReadings = 0
    /// The number of emitted positions.
    package internal(set) var positions = 0
    /// The number of positions that a long step skipped.
    package internal(set) var skippedPositions = 0
    /// The number of entries into rooms and fences and of exits from them.
    package internal(set) var events = 0
    /// The number of tags that are present.
    package internal(set) var presentTags = 0
    /// The number of sessions that ended: their tags are away, or left the register.
    package internal(set) var endedSessions = 0
    /// The number of tags outside of the register whose sessions ended because these sessions together needed too much
    /// memory.
    package internal(set) var evictedTags = 0
    /// The memory of the sessions of tags outside of the register in bytes.
    package internal(set) var unknownTagBytes = 0
    /// The number of tags with a state: the present ones, and those that left in the last minutes.
    package internal(set) var knownTags = 0
    /// The number of readings that wait for the end of the reorder window.
    package internal(set) var pendingReadings = 0
    /// The time of the latest reading that a session used; nil before any.
    package internal(set) var latestReading: Instant?
    /// The times from the oldest new reading of each position to the call that returned the position.
    package internal(set) var latencies = Histogram()
    /// The physical memory of the process in bytes, which the caller supplies; nil if unknown.
    package var residentMemory: Int?

    /// Creates statistics of a machine without readings.
    package init() {}

    /// Returns the time from the latest used reading to an instant; nil before any reading.
    package func lag(at now: Instant) -> Duration? { latestReading.map { max(.zero, $0.duration(to: now)) } }

    mutating func addUnknownReceiver(_ name: String) {
        unknownReceiverReadings += 1
        guard unknownReceivers[name] != nil || unknownReceivers.count < Self.nameLimit else { return }
        unknownReceivers[name, default: 0] += 1
    }

    /// Returns the sum of two machines, such as of two partitions.
    package func merged(with other: FleetStatistics) -> FleetStatistics {
        var sum = self
        sum.readings += other.readings
        sum.lateReadings += other.lateReadings
        sum.expiredReadings += other.expiredReadings
        sum.droppedReadings += other.droppedReadings
        sum.invalidReadings += other.invalidReadings
        sum.unknownReceiverReadings += other.unknownReceiverReadings
        for (name, count) in other.unknownReceivers.sorted(by: { $0.key < $1.key })
        where sum.unknownReceivers[name] != nil || sum.unknownReceivers.count < Self.nameLimit {
            sum.unknownReceivers[name, default: 0] += count
        }
        sum.receiverReadings += other.receiverReadings
        sum.positions += other.positions
        sum.skippedPositions += other.skippedPositions
        sum.events += other.events
        sum.presentTags += other.presentTags
        sum.endedSessions += other.endedSessions
        sum.evictedTags += other.evictedTags
        sum.unknownTagBytes += other.unknownTagBytes
        sum.knownTags += other.knownTags
        sum.pendingReadings += other.pendingReadings
        sum.latestReading = [latestReading, other.latestReading].compactMap(\.self).max()
        for index in sum.latencies.counts.indices { sum.latencies.counts[index] += other.latencies.counts[index] }
        sum.latencies.sum += other.latencies.sum
        sum.residentMemory = residentMemory ?? other.residentMemory
        return sum
    }
}

extension FleetStatistics {
    /// Returns the metrics of a fleet. The families are the same for all statistics; an unknown value has no sample.
    ///
    /// No label contains the name of a tag or of a receiver.
    ///
    /// - Parameters:
    ///   - now: the time on the timeline of the readings.
    ///   - maximumTagCount: ``FleetSettings/maximumTagCount``; nil if the process has several machines.
    package func families(at now: Instant, maximumTagCount: Int? = nil) -> [MetricFamily] {
        counters + gauges(at: now, maximumTagCount)
    }

    private var counters: [MetricFamily] {
        func counter(_ name: String, _ count: Int, _ help: String) -> MetricFamily {
            MetricFamily("indoorloc_fleet_" + name, .counter, help: help, samples: [.init(.number(Double(count)))])
        }
        let discarded = [
            ("expired", expiredReadings), ("tag_limit", droppedReadings), ("invalid", invalidReadings),
            ("unknown_receiver", unknownReceiverReadings),
        ]
        return [
            counter("readings", readings, "Readings that the sessions of tags used."),
            counter("readings_late", lateReadings, "Readings that arrived after the reorder window."),
            MetricFamily(
                "indoorloc_fleet_readings_discarded", .counter, help: "Discarded readings by the reason.",
                samples: discarded.map { .init(.number(Double($1)), labels: [.init("reason", $0)]) }),
            counter("receiver_readings", receiverReadings, "Readings of a receiver by another receiver."),
            counter("positions", positions, "Emitted positions of tags."),
            counter("positions_skipped", skippedPositions, "Positions that a long step skipped."),
            counter(
                "tags_evicted", evictedTags, "Unknown tags that were given up because of the limit on their memory."),
            counter("area_events", events, "Entries of tags into rooms and fences, and exits from them."),
        ]
    }

    private func gauges(at now: Instant, _ maximum: Int?) -> [MetricFamily] {
        func gauge(_ name: String, _ unit: MetricFamily.Unit?, _ value: Double?, _ help: String) -> MetricFamily {
            MetricFamily(
                "indoorloc_fleet_" + name, .gauge, unit: unit, help: help,
                samples: value.map { [.init(.number($0))] } ?? [])
        }
        return [
            gauge("tags", nil, Double(presentTags), "Tags that are present."),
            gauge("tags_known", nil, Double(knownTags), "Tags with a state, present or recently away."),
            gauge("tags_limit", nil, maximum.map(Double.init), "The greatest number of tags with a state."),
            gauge(
                "unknown_tags_memory_bytes", .bytes, Double(unknownTagBytes), "Memory of the sessions of unknown tags."),
            gauge("readings_pending", nil, Double(pendingReadings), "Readings that wait for the reorder window."),
            gauge("unknown_receivers", nil, Double(unknownReceivers.count), "Names of unknown receivers, at most 100."),
            gauge("lag_seconds", .seconds, lag(at: now)?.seconds, "Time since the latest used reading."),
            MetricFamily(
                "indoorloc_fleet_latency_seconds", .histogram, unit: .seconds,
                help: "Time from the oldest new reading of a position to the position.",
                samples: [
                    .init(.histogram(bounds: Histogram.bounds, counts: latencies.counts, sum: latencies.sum))
                ]),
            gauge("resident_memory_bytes", .bytes, residentMemory.map(Double.init), "Physical memory of the process."),
        ]
    }
}
