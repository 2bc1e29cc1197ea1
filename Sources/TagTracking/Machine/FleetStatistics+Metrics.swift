import IndoorVocabulary
import SessionMetrics

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
