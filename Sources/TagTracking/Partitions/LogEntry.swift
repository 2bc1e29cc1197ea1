import IndoorVocabulary

/// A reading in the log of a fleet.
public struct LogEntry: Hashable, Sendable {
    /// The position in the log. Within a partition, the numbers increase, with gaps.
    public var sequence: UInt64
    /// The time at which the log stored the reading, by the log's clock; its zero point is that of Unix.
    public var storedAt: Instant
    /// The reading.
    public var reading: TagReading

    /// Creates an entry.
    public init(sequence: UInt64, storedAt: Instant, reading: TagReading) {
        self.sequence = sequence
        self.storedAt = storedAt
        self.reading = reading
    }
}

extension TagReading {
    /// The version of the bytes.
    private static let version: UInt8 = 1

    /// The reading as bytes for a log: 35 bytes and the names of tag and receiver.
    package var logBytes: [UInt8] {
        var writer = BinaryWriter(reservingCapacity: 96)
        writer.write(Self.version)
        writer.write(tag.description)
        writer.write(receiver)
        writer.write(instant.nanoseconds)
        writer.write(rssi)
        writer.write(window.nanoseconds)
        writer.write(measuredPower ?? .nan)
        return writer.bytes
    }

    /// Reads the bytes of a log.
    package init(logBytes: [UInt8]) throws(BinaryReader.Failure) {
        var reader = BinaryReader(logBytes)
        guard try reader.number(UInt8.self) == Self.version, let tag = TagKey(try reader.text()) else {
            throw BinaryReader.Failure(offset: reader.offset)
        }
        self.init(
            tag: tag, receiver: try reader.text(), instant: Instant(nanoseconds: try reader.number()),
            rssi: try reader.double(), window: .nanoseconds(try reader.number(Int64.self)))
        let power = try reader.double()
        measuredPower = power.isNaN ? nil : power
        guard reader.isAtEnd else { throw BinaryReader.Failure(offset: reader.offset) }
    }

    /// The identifier by which a log detects that a reading was sent again: receiver, tag, instant and RSSI.
    package var logID: String {
        "\(Partitioning.token(receiver)).\(Partitioning.token(tag.description)).\(instant.nanoseconds).\(rssi)"
    }
}
