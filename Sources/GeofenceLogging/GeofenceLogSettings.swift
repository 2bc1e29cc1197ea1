/// The limits of a geofence log.
public struct GeofenceLogSettings: Hashable, Sendable {
    /// The maximum number of records, at least 1. Each record beyond it replaces the oldest one.
    ///
    /// A record needs about 150 bytes with its indexes: 100,000 records are 15 MB.
    public var recordLimit = 100_000
    /// The maximum age of records; nil for no limit.
    ///
    /// The age is measured from the newest record, or from the device's clock if that is earlier. Setting the clock
    /// forward does not age records, because the log compares it with the time since the machine started. Across a
    /// restart of the machine, records age by the clock, but by at most 31 days.
    public var retention: Duration?
    /// The time limit for waiting for another program that writes to the same log, from 0 s.
    public var busyTimeout = Duration.seconds(5)

    /// Creates settings with the documented defaults.
    public init() {}
}
