import SessionMetrics

/// The numbers of messages and readings of an intake since its creation.
package struct IntakeStatistics: Hashable, Sendable {
    /// The reasons for which an intake drops a reading.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The RSSI isn't a measurement, see ``Sighting/isMeasurement(rssi:)``.
        case withoutMeasurement
        /// The reading contains no usable name of the receiver or of the tag.
        case unnamed
        /// The tag isn't in the register, and the settings exclude it.
        case unknownTag
        /// The tag isn't in the register, and wasn't heard often enough yet, see `FleetSettings.unknownTagMoments`.
        case stranger
        /// The gateway reported the same advertisement before.
        case duplicate
        /// The reading is older than `GatewayClock.lateLimit`.
        case late
    }

    /// The number of messages, including retained and invalid ones.
    package var messages = 0
    /// The number of readings that the intake returned.
    package var readings = 0
    /// The number of retained messages, which the intake drops.
    package var retained = 0
    /// The number of invalid messages by the name of the format; `unknown` if the decoder detected none.
    package var invalid: [String: Int] = [:]
    /// The number of dropped readings by reason.
    package var dropped: [Reason: Int] = [:]
    /// The number of readings whose time is that of their arrival although the gateway reported a time.
    package var withoutClock = 0

    /// Creates statistics without messages.
    package init() {}

    /// The metrics. The families are the same for all statistics.
    package var families: [MetricFamily] {
        func counter(_ name: String, _ help: String, _ samples: [MetricFamily.Sample]) -> MetricFamily {
            MetricFamily("indoorloc_intake_" + name, .counter, help: help, samples: samples)
        }
        func number(_ count: Int, _ labels: MetricFamily.Label...) -> MetricFamily.Sample {
            MetricFamily.Sample(.number(Double(count)), labels: labels)
        }
        return [
            counter("messages", "Messages of gateways that arrived.", [number(messages)]),
            counter("retained_messages", "Messages that a broker had stored, which are dropped.", [number(retained)]),
            counter(
                "invalid_messages", "Messages that can't be decoded, by format.",
                invalid.sorted { $0.key < $1.key }.map { number($0.value, .init("format", $0.key)) }),
            counter("readings", "Readings of tags that were passed on.", [number(readings)]),
            counter(
                "dropped_readings", "Readings that were dropped, by reason.",
                Reason.allCases.map { number(dropped[$0] ?? 0, .init("reason", $0.rawValue)) }),
            counter(
                "arrival_times", "Readings with the time of their arrival, as the gateway's time is unusable.",
                [number(withoutClock)]),
        ]
    }

    mutating func drop(_ reason: Reason) { dropped[reason, default: 0] += 1 }
}
