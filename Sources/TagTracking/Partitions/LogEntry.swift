import IndoorVocabulary

/// A reading in the log of a fleet.
package struct LogEntry: Hashable, Sendable {
    /// The position in the log. Within a partition, the positions increase, but not always by 1.
    package var sequence: UInt64
    /// The time at which the log stored the reading, by the log's clock, counted from the Unix epoch.
    package var storedAt: Instant
    /// The reading.
    package var reading: TagReading

    /// Creates an entry.
    package init(sequence: UInt64, storedAt: Instant, reading: TagReading) {
        self.sequence = sequence
        self.storedAt = storedAt
        self.reading = reading
    }
}

extension TagReading {
    /// The identifier by which a log detects that a reading was sent again: receiver, tag, instant and RSSI.
    package var logID: String {
        "\(Partitioning.token(receiver)).\(Partitioning.token(tag.description)).\(instant.nanoseconds).\(rssi)"
    }
}
