import IndoorVocabulary
import SessionMetrics

extension OutputPublisher.Counters {
    /// The metrics of the published messages.
    package var families: [MetricFamily] {
        func counter(_ name: String, _ count: Int, _ help: String) -> MetricFamily {
            MetricFamily("indoorloc_output_" + name, .counter, help: help, samples: [.init(.number(Double(count)))])
        }
        return [
            counter("confirmed_messages", confirmed, "Published messages that the broker confirmed."),
            counter("refused_messages", refused, "Published messages that the broker refused, which MQTT 5 reports."),
            counter("lost_events", lostEvents, "Events that were discarded, as too many waited for the broker."),
            counter(
                "replaced_positions", replacedPositions, "Positions that a newer one replaced before they were sent."),
        ]
    }
}
