import IndoorVocabulary
import SessionMetrics

extension ReceiverMonitor {
    /// The metrics of the receivers: their number by health, and the largest learned offset.
    package var families: [MetricFamily] {
        let health = ReceiverEvent.Health.allCases.map { health in
            MetricFamily.Sample(
                .number(Double(states.count { $0.health == health })), labels: [.init("health", health.rawValue)])
        }
        let largest = offsets.map(abs).max() ?? 0
        return [
            MetricFamily("indoorloc_fleet_receivers", .gauge, help: "Receivers by health.", samples: health),
            MetricFamily(
                "indoorloc_fleet_receiver_offset", .gauge,
                help: "The largest learned offset of a receiver's RSSI in dB, without its sign.",
                samples: [.init(.number(largest))]),
        ]
    }
}
