import IndoorVocabulary

/// One reading of a tag by a receiver.
public struct TagReading: Hashable, Sendable {
    /// The tag.
    public var tag: TagKey
    /// The receiver's name as its gateway reports it.
    public var receiver: String
    /// The time of the reading, counted from the Unix epoch, 1 January 1970, 0:00 UTC.
    public var instant: Instant
    /// The RSSI in dBm, below 0.
    public var rssi: Double
    /// The time over which the gateway has filtered the RSSI; zero for the RSSI of one advertisement.
    public var window: Duration
    /// The signal strength at 1 m that the tag advertises, in dBm; nil if unknown.
    public var measuredPower: Double?

    /// Creates a reading from its parts without checking them.
    public init(
        tag: TagKey, receiver: String, instant: Instant, rssi: Double, window: Duration = .zero,
        measuredPower: Double? = nil
    ) {
        self.tag = tag
        self.receiver = receiver
        self.instant = instant
        self.rssi = rssi
        self.window = window
        self.measuredPower = measuredPower
    }
}
